//===- TensorMap.cpp - Descriptors for the tensor copy engine ---*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"

#include "Options.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

//===----------------------------------------------------------------------===//
// From a specification to a key
//===----------------------------------------------------------------------===//

namespace {
struct ElementType {
  int dataType;
  int bytes;
};

/// What is done to one specification.
class KeyBuilder {
public:
  KeyBuilder(const MlaRuntimeTensorMapSpec &spec, TensorMapKey &key)
      : spec(spec), key(key) {}
  Status build();

private:
  Status setElementType();
  Status setModes();
  Status setExtents();
  Status setStrides();
  Status setBox();
  Status setAddress();
  __attribute__((format(printf, 2, 3))) Status fail(const char *format, ...);

  const MlaRuntimeTensorMapSpec &spec;
  TensorMapKey &key;
  int elementBytes = 0;
  bool empty = false;
};
} // namespace

/// What base, strides and the box's rows have to be multiples of, in bytes.
static constexpr int granularity = 16;

static ElementType getElementType(int32_t dtype) {
  switch (dtype) {
  case MLA_RUNTIME_DTYPE_BF16:
    return {tensor_map::BF16, 2};
  case MLA_RUNTIME_DTYPE_F16:
    return {tensor_map::F16, 2};
  case MLA_RUNTIME_DTYPE_F32:
    return {tensor_map::F32, 4};
  case MLA_RUNTIME_DTYPE_F64:
    return {tensor_map::F64, 8};
  case MLA_RUNTIME_DTYPE_I32:
    return {tensor_map::I32, 4};
  case MLA_RUNTIME_DTYPE_U32:
    return {tensor_map::U32, 4};
  case MLA_RUNTIME_DTYPE_I64:
    return {tensor_map::I64, 8};
  case MLA_RUNTIME_DTYPE_U64:
    return {tensor_map::U64, 8};
  case MLA_RUNTIME_DTYPE_F8E4M3FN:
    return {tensor_map::U8, 1};
  default:
    return {0, 0};
  }
}

Status KeyBuilder::fail(const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return spec.name ? Status::error("'%s': expected %s", spec.name, text)
                   : Status::error("tensor map: expected %s", text);
}

Status KeyBuilder::setElementType() {
  ElementType type = getElementType(spec.dtype);
  if (type.bytes == 0)
    return fail("an element type of MlaRuntimeDType, got %d", spec.dtype);
  key.dataType = type.dataType;
  elementBytes = type.bytes;
  return Status();
}

/// The position of `value` among `values`, which is CUDA's number for it; -1.
static int indexOf(int value, std::initializer_list<int> values) {
  int index = 0;
  for (int candidate : values) {
    if (candidate == value)
      return index;
    ++index;
  }
  return -1;
}

Status KeyBuilder::setModes() {
  key.swizzle = indexOf(spec.swizzle, {0, 32, 64, 128});
  if (key.swizzle < 0)
    return fail("swizzle 0, 32, 64 or 128, got %d", spec.swizzle);
  key.l2Promotion = indexOf(spec.l2Promotion, {0, 64, 128, 256});
  if (key.l2Promotion < 0)
    return fail("l2Promotion 0, 64, 128 or 256, got %d", spec.l2Promotion);
  return Status();
}

Status KeyBuilder::setExtents() {
  if (spec.rank < 1 || spec.rank > TensorMapKey::maxRank)
    return fail("rank 1 to %d, got %d", TensorMapKey::maxRank, spec.rank);
  key.rank = static_cast<uint32_t>(spec.rank);
  if (!spec.shape || !spec.box)
    return fail("shape and box, got null");
  constexpr int64_t maxExtent = int64_t(1) << 32;
  for (int i = 0; i < spec.rank; ++i) {
    int64_t extent = spec.shape[i];
    if (extent < 0 || extent > maxExtent)
      return fail("extent %d from 0 to 2^32, got %lld", i,
                  static_cast<long long>(extent));
    empty |= extent == 0;
    // There is no descriptor of an empty tensor. A kernel may be given one,
    // and loads no box through it.
    key.extents[spec.rank - 1 - i] = extent ? extent : 1;
  }
  return Status();
}

Status KeyBuilder::setStrides() {
  constexpr int64_t endOfStrides = int64_t(1) << 40;
  // Row-major, where the specification has no strides.
  int64_t implied = 1;
  for (int i = spec.rank - 1; i >= 0; --i) {
    int64_t stride = spec.strides ? spec.strides[i] : implied;
    bool ignored = spec.shape[i] <= 1 || empty;
    // A stride of an ignored dimension is any that the driver accepts.
    int64_t bytes = granularity;
    if (i == spec.rank - 1) {
      if (!ignored && stride != 1)
        return fail("stride 1 in the last dimension, got %lld",
                    static_cast<long long>(stride));
    } else {
      if (!ignored &&
          (stride < 0 ||
           __builtin_mul_overflow(stride, int64_t(elementBytes), &bytes) ||
           bytes % granularity != 0 || bytes >= endOfStrides))
        return fail("a stride of dimension %d that is a multiple of %d bytes "
                    "from 0 to below 2^40, got %lld elements of %d bytes",
                    i, granularity, static_cast<long long>(stride),
                    elementBytes);
      key.strides[spec.rank - 2 - i] = static_cast<uint64_t>(bytes);
    }
    if (__builtin_mul_overflow(implied, std::max<int64_t>(spec.shape[i], 1),
                               &implied))
      return fail("fewer than 2^63 elements");
  }
  return Status();
}

Status KeyBuilder::setBox() {
  constexpr int maxBox = 256;
  for (int i = 0; i < spec.rank; ++i) {
    if (spec.box[i] < 1 || spec.box[i] > maxBox)
      return fail("box extent %d from 1 to %d, got %d", i, maxBox, spec.box[i]);
    key.box[spec.rank - 1 - i] = static_cast<uint32_t>(spec.box[i]);
  }
  int rowBytes = spec.box[spec.rank - 1] * elementBytes;
  if (rowBytes % granularity != 0)
    return fail("a last box extent that is a multiple of %d bytes, got %d",
                granularity, rowBytes);
  if (spec.swizzle != 0 && rowBytes > spec.swizzle)
    return fail("a last box extent of at most %d bytes, as swizzle says, got "
                "%d",
                spec.swizzle, rowBytes);
  return Status();
}

Status KeyBuilder::setAddress() {
  if (empty)
    return Status();
  auto address = reinterpret_cast<uintptr_t>(spec.data);
  if (!spec.data || address % granularity != 0)
    return fail("data at a multiple of %d bytes, got address %#llx",
                granularity, static_cast<unsigned long long>(address));
  key.address = address;
  return Status();
}

Status KeyBuilder::build() {
  using Step = Status (KeyBuilder::*)();
  for (Step step : {&KeyBuilder::setElementType, &KeyBuilder::setModes,
                    &KeyBuilder::setExtents, &KeyBuilder::setStrides,
                    &KeyBuilder::setBox, &KeyBuilder::setAddress})
    if (Status status = (this->*step)(); status.failed())
      return status;
  return Status();
}

Status TensorMapKey::create(const MlaRuntimeTensorMapSpec &spec,
                            TensorMapKey &key) {
  key = TensorMapKey();
  return KeyBuilder(spec, key).build();
}

bool TensorMapKey::operator==(const TensorMapKey &other) const {
  return std::memcmp(this, &other, sizeof(*this)) == 0;
}

size_t TensorMapKey::Hash::operator()(const TensorMapKey &key) const {
  static_assert(sizeof(TensorMapKey) % sizeof(uint64_t) == 0);
  uint64_t words[sizeof(TensorMapKey) / sizeof(uint64_t)];
  std::memcpy(words, &key, sizeof(key));
  uint64_t hash = 0;
  for (uint64_t word : words) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

TensorMapCache &TensorMapCache::get() {
  // Never destroyed: threads may still be here while the process exits.
  static TensorMapCache &cache = *new TensorMapCache;
  return cache;
}

static Status encodeNew(const Driver &driver, const TensorMapKey &key,
                        MlaRuntimeTensorMap &map) {
  const uint32_t elementStrides[TensorMapKey::maxRank] = {1, 1, 1, 1, 1};
  // No interleaving; outside the tensor zeros.
  MLA_CUDA_TRY(driver, tensorMapEncodeTiled, &map, key.dataType, key.rank,
               reinterpret_cast<void *>(static_cast<uintptr_t>(key.address)),
               key.extents, key.strides, key.box, elementStrides, 0,
               key.swizzle, key.l2Promotion, 0);
  return Status();
}

bool TensorMapCache::find(const TensorMapKey &key, MlaRuntimeTensorMap &map) {
  auto found = index.find(key);
  if (found == index.end())
    return false;
  entries.splice(entries.begin(), entries, found->second);
  map = found->second->map;
  return true;
}

Status TensorMapCache::findOrMake(const Driver &driver, const TensorMapKey &key,
                                  MlaRuntimeTensorMap &map) {
  std::lock_guard<std::mutex> lock(mutex);
  if (find(key, map))
    return Status();
  Entry entry;
  entry.key = key;
  if (Status status = encodeNew(driver, key, entry.map); status.failed())
    return status;
  if (entries.size() == capacity) {
    index.erase(entries.back().key);
    entries.pop_back();
  }
  entries.push_front(entry);
  index.emplace(key, entries.begin());
  map = entry.map;
  return Status();
}

/// The first architecture with a tensor copy engine.
static constexpr int minArch = 90;

/// The architecture of all devices that have a copy engine; 0 if there are
/// several or none.
static int findOnlyArch() {
  const Driver *driver = nullptr;
  int count = 0, arch = 0;
  if (Driver::get(driver).failed() || driver->deviceGetCount(&count) != success)
    return 0;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceRecord *device = nullptr;
    if (getDevice(*driver, ordinal, device).failed())
      return 0;
    if (device->arch < minArch || device->arch == arch)
      continue;
    if (arch != 0)
      return 0;
    arch = device->arch;
  }
  return arch;
}

Status TensorMapCache::encode(const MlaRuntimeStream *stream, TensorMapKey key,
                              MlaRuntimeTensorMap &map) {
  // Where devices are alike, which one it is need not be known, and asking the
  // driver takes longer than everything else here.
  static const int onlyArch = findOnlyArch();
  key.deviceArch = onlyArch;
  if (onlyArch != 0) {
    std::lock_guard<std::mutex> lock(mutex);
    if (find(key, map))
      return Status();
  }
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return status;
  const DeviceRecord &device = *scope.getContext().device;
  if (device.arch < minArch)
    return Status::error("device %d (%s) is sm_%d, which has no tensor copy "
                         "engine",
                         device.ordinal, device.name, device.arch);
  key.deviceArch = device.arch;
  return findOrMake(scope.getDriver(), key, map);
}

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

static Status encode(const MlaRuntimeTensorMapSpec *given,
                     MlaRuntimeTensorMap *map) {
  if (!given || !map || reinterpret_cast<uintptr_t>(map) % 64 != 0)
    return Status::error("tensor map: expected a specification and a map at a "
                         "multiple of 64 bytes, got %p and %p",
                         static_cast<const void *>(given),
                         static_cast<void *>(map));
  MlaRuntimeTensorMapSpec spec;
  if (Status status = readOptions("spec", given, spec); status.failed())
    return status;
  TensorMapKey key;
  if (Status status = TensorMapKey::create(spec, key); status.failed())
    return status;
  Status status = TensorMapCache::get().encode(spec.stream, key, *map);
  if (!status.failed() || !spec.name)
    return status;
  return Status::error("'%s': %s", spec.name, status.message().c_str());
}

int mlaRuntimeEncodeTensorMap(const MlaRuntimeTensorMapSpec *spec,
                              MlaRuntimeTensorMap *map, char **error) {
  return encode(spec, map).publish(error);
}
