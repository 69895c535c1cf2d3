//===- FakeCuda.cpp - A CUDA driver of memory alone, for tests --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "Driver.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

using namespace mla::runtime::cuda;

//===----------------------------------------------------------------------===//
// What the handles stand for
//===----------------------------------------------------------------------===//

namespace mla::runtime::cuda {
struct ContextHandle {
  int device;
  unsigned long long id;
};
struct StreamHandle {
  Context context;
  unsigned long long id;
  Graph capturing = nullptr;
};
struct GraphHandle {
  std::vector<UserObject> objects;
};
struct UserObjectHandle {
  void *pointer;
  HostFunction destroy;
};
struct FunctionHandle {
  std::string name;
  std::vector<size_t> parameters;
  int maxDynamicSharedBytes = 48 << 10;
};
struct ModuleHandle {
  Context context;
  std::map<std::string, std::unique_ptr<FunctionHandle>> functions;
};
} // namespace mla::runtime::cuda

namespace {
struct Failure {
  Result result;
  int skip;
  int times;
};

struct State {
  std::mutex mutex;
  unsigned long long nextId = 1;
  int captures = 0;
  int violations = 0;
  size_t allocated = 0;
  ContextHandle *primary[fake_cuda::deviceCount] = {};
  std::map<std::string, Failure> failures;
  std::map<std::string, int> calls;
  std::map<DevicePointer, size_t> memory;
  std::vector<fake_cuda::Launch> launches;
  /// Never destroyed, as tests do not say when they are done with one.
  std::vector<Stream> streams;
};
} // namespace

static State &state() {
  static State &state = *new State;
  return state;
}

static thread_local std::vector<Context> contexts;
static thread_local int captureMode = 0;

constexpr Result invalidValue = 1, notInitialised = 3, invalidContext = 201,
                 invalidPtx = 218, invalidHandle = 400,
                 captureUnsupported = 900;

/// Counts a call; a failure that was ordered, or success.
static Result enter(const char *name) {
  State &s = state();
  ++s.calls[name];
  auto found = s.failures.find(name);
  if (found == s.failures.end())
    return success;
  Failure &failure = found->second;
  if (failure.skip > 0) {
    --failure.skip;
    return success;
  }
  if (failure.times == 0)
    return success;
  --failure.times;
  return failure.result;
}

/// For what a capture forbids to threads that have not said they know better.
static Result enterUnsafe(const char *name) {
  if (Result result = enter(name))
    return result;
  if (state().captures == 0 || captureMode == captureModeRelaxed)
    return success;
  ++state().violations;
  return captureUnsupported;
}

#define FAKE_ENTER_AS(how, name)                                               \
  std::lock_guard<std::mutex> lock(state().mutex);                             \
  if (Result result = how(name))                                               \
  return result
#define FAKE_ENTER(name) FAKE_ENTER_AS(enter, name)
#define FAKE_ENTER_UNSAFE(name) FAKE_ENTER_AS(enterUnsafe, name)

static Context current() {
  return contexts.empty() ? nullptr : contexts.back();
}

static bool isDefault(Stream stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

static Context primaryOf(int device) {
  Context &context = state().primary[device];
  if (!context)
    context = new ContextHandle{device, state().nextId++};
  return context;
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
#define FAKE extern "C" FAKE_CUDA_API Result

FAKE cuInit(unsigned) {
  FAKE_ENTER("cuInit");
  if (const char *result = std::getenv("FAKE_CUDA_INIT"))
    return std::atoi(result);
  return success;
}

FAKE cuDriverGetVersion(int *version) {
  FAKE_ENTER("cuDriverGetVersion");
  *version = 12040;
  return success;
}

static const std::map<Result, std::pair<const char *, const char *>> errors = {
    {invalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {errorOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {notInitialised, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {errorNoDevice,
     {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {invalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {invalidPtx, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {errorUnsupportedPtxVersion,
     {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
      "the provided PTX was compiled with an unsupported toolchain."}},
    {invalidHandle, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {errorNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {700,
     {"CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered"}},
    {captureUnsupported,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing"}}};

FAKE cuGetErrorName(Result result, const char **text) {
  auto found = errors.find(result);
  *text = found == errors.end() ? nullptr : found->second.first;
  return *text ? success : invalidValue;
}

FAKE cuGetErrorString(Result result, const char **text) {
  auto found = errors.find(result);
  *text = found == errors.end() ? nullptr : found->second.second;
  return *text ? success : invalidValue;
}

FAKE cuDeviceGetCount(int *count) {
  FAKE_ENTER("cuDeviceGetCount");
  *count = fake_cuda::deviceCount;
  return success;
}

// Handles that are not the ordinals.
FAKE cuDeviceGet(Device *device, int ordinal) {
  FAKE_ENTER("cuDeviceGet");
  *device = ordinal + 100;
  return success;
}

FAKE cuDeviceGetName(char *name, int length, Device device) {
  FAKE_ENTER("cuDeviceGetName");
  std::snprintf(name, length, "Fake %d", device - 100);
  return success;
}

FAKE cuDeviceGetAttribute(int *value, int attribute, Device device) {
  FAKE_ENTER("cuDeviceGetAttribute");
  bool old = device == 102;
  switch (attribute) {
  case device_attribute::capabilityMajor:
    *value = old ? 8 : 9;
    return success;
  case device_attribute::capabilityMinor:
    *value = 0;
    return success;
  case device_attribute::multiprocessors:
    *value = old ? 108 : 132;
    return success;
  case device_attribute::maxSharedBytesOptIn:
    *value = old ? 166912 : 232448;
    return success;
  case device_attribute::l2CacheSize:
    *value = 50 << 20;
    return success;
  case device_attribute::maxGridX:
    *value = 0x7fffffff;
    return success;
  case device_attribute::maxGridY:
  case device_attribute::maxGridZ:
    *value = 65535;
    return success;
  default:
    return invalidValue;
  }
}

FAKE cuDeviceTotalMem_v2(size_t *bytes, Device) {
  FAKE_ENTER("cuDeviceTotalMem_v2");
  *bytes = size_t(80) << 30;
  return success;
}

FAKE cuDevicePrimaryCtxRetain(Context *context, Device device) {
  FAKE_ENTER_UNSAFE("cuDevicePrimaryCtxRetain");
  *context = primaryOf(device - 100);
  return success;
}

FAKE cuCtxGetCurrent(Context *context) {
  FAKE_ENTER("cuCtxGetCurrent");
  *context = current();
  return success;
}

FAKE cuCtxPushCurrent_v2(Context context) {
  FAKE_ENTER("cuCtxPushCurrent_v2");
  contexts.push_back(context);
  return success;
}

FAKE cuCtxPopCurrent_v2(Context *context) {
  FAKE_ENTER("cuCtxPopCurrent_v2");
  if (contexts.empty())
    return invalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return success;
}

FAKE cuCtxGetDevice(Device *device) {
  FAKE_ENTER("cuCtxGetDevice");
  if (!current())
    return invalidContext;
  *device = current()->device + 100;
  return success;
}

FAKE cuCtxGetId(Context context, unsigned long long *id) {
  FAKE_ENTER("cuCtxGetId");
  *id = context->id;
  return success;
}

/// The bytes of a parameter as PTX declares it: an array of bytes, or of a type
/// whose name ends with its bits.
///
///     .param .align 8 .b8 add_param_0[496]
///     .param .u64 add_param_1,
static size_t getParameterSize(const std::string &line) {
  size_t bracket = line.find('[');
  if (bracket != line.npos)
    return std::strtoul(line.c_str() + bracket + 1, nullptr, 10);
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word[0] == '.' && std::isdigit(word.back()))
      return std::strtoul(word.c_str() + word.find_first_of("0123456789"),
                          nullptr, 10) /
             8;
  return 0;
}

/// The entry that `line` begins, if it begins one; `lines` are those after it.
static std::unique_ptr<FunctionHandle> readEntry(const std::string &line,
                                                 std::istream &lines) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> word) || (word == ".visible" && !(words >> word)) ||
      word != ".entry")
    return nullptr;
  auto function = std::make_unique<FunctionHandle>();
  words >> function->name;
  for (size_t size; words >> size;)
    function->parameters.push_back(size);
  size_t bracket = function->name.find('(');
  if (bracket == function->name.npos)
    return function;
  bool isOpen = function->name.find(')') == function->name.npos;
  function->name.resize(bracket);
  for (std::string next; isOpen && std::getline(lines, next);) {
    if (next.find(".param") != next.npos)
      function->parameters.push_back(getParameterSize(next));
    isOpen = next.find(')') == next.npos;
  }
  return function;
}

FAKE cuModuleLoadDataEx(Module *module, const void *image, unsigned count,
                        int *options, void **values) {
  FAKE_ENTER_UNSAFE("cuModuleLoadDataEx");
  if (!current())
    return invalidContext;
  std::string text(static_cast<const char *>(image));
  if (text.find("wrong") != text.npos) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == jit_option::errorLog)
        std::strcpy(static_cast<char *>(values[i]),
                    "ptxas application ptx input, line 7: wrong\n");
    return invalidPtx;
  }
  auto made = std::make_unique<ModuleHandle>();
  made->context = current();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (auto function = readEntry(line, lines)) {
      std::string name = function->name;
      made->functions[name] = std::move(function);
    }
  *module = made.release();
  return success;
}

FAKE cuModuleGetFunction(Function *function, Module module, const char *name) {
  FAKE_ENTER("cuModuleGetFunction");
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return errorNotFound;
  *function = found->second.get();
  return success;
}

FAKE cuFuncGetAttribute(int *value, int attribute, Function) {
  FAKE_ENTER("cuFuncGetAttribute");
  // Threads a block, and bytes of static shared memory.
  *value = attribute == function_attribute::maxThreadsPerBlock ? 1024 : 16;
  return success;
}

FAKE cuFuncSetAttribute(Function function, int attribute, int value) {
  FAKE_ENTER("cuFuncSetAttribute");
  if (attribute != function_attribute::maxDynamicSharedBytes)
    return invalidValue;
  function->maxDynamicSharedBytes = value;
  return success;
}

FAKE cuFuncGetParamInfo(Function function, size_t index, size_t *offset,
                        size_t *size) {
  FAKE_ENTER("cuFuncGetParamInfo");
  if (index >= function->parameters.size())
    return invalidValue;
  *offset = 0;
  *size = function->parameters[index];
  return success;
}

FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function,
                                                 int blockSize, size_t) {
  FAKE_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = 2048 / blockSize;
  return success;
}

FAKE cuLaunchKernelEx(const LaunchConfig *config, Function function,
                      void **parameters, void **) {
  FAKE_ENTER("cuLaunchKernelEx");
  if (!current())
    return invalidContext;
  if (!isDefault(config->stream) && config->stream->context != current())
    return invalidHandle;
  if (config->sharedBytes >
      static_cast<unsigned>(function->maxDynamicSharedBytes))
    return invalidValue;
  fake_cuda::Launch launch = {};
  launch.function = function->name;
  launch.device = current()->device;
  launch.stream = config->stream;
  std::memcpy(launch.grid, config->grid, sizeof(launch.grid));
  std::memcpy(launch.block, config->block, sizeof(launch.block));
  launch.sharedBytes = config->sharedBytes;
  launch.captured = !isDefault(config->stream) && config->stream->capturing;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (config->attributes[i].id ==
        LaunchAttribute::programmaticStreamSerialization)
      launch.programmatic = config->attributes[i].value.number != 0;
  for (size_t i = 0; i < function->parameters.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i],
                std::min<size_t>(function->parameters[i], sizeof(value)));
    launch.arguments.push_back(value);
    auto *bytes = static_cast<const unsigned char *>(parameters[i]);
    launch.bytes.insert(launch.bytes.end(), bytes,
                        bytes + function->parameters[i]);
  }
  state().launches.push_back(launch);
  return success;
}

#ifndef FAKE_CUDA_OLD
FAKE cuTensorMapEncodeTiled(void *map, int dataType, uint32_t rank,
                            void *address, const uint64_t *extents,
                            const uint64_t *strides, const uint32_t *box,
                            const uint32_t *elementStrides, int interleave,
                            int swizzle, int l2Promotion, int fill) {
  FAKE_ENTER("cuTensorMapEncodeTiled");
  if (!current())
    return invalidContext;
  // The arguments themselves, 32 words that tests can read.
  uint32_t words[32] = {
      static_cast<uint32_t>(dataType),    rank,
      static_cast<uint32_t>(interleave),  static_cast<uint32_t>(swizzle),
      static_cast<uint32_t>(l2Promotion), static_cast<uint32_t>(fill)};
  auto low = reinterpret_cast<uintptr_t>(address);
  words[6] = static_cast<uint32_t>(low);
  words[7] = static_cast<uint32_t>(low >> 32);
  for (uint32_t i = 0; i < rank; ++i) {
    words[8 + i] = static_cast<uint32_t>(extents[i]);
    if (i + 1 < rank)
      words[13 + i] = static_cast<uint32_t>(strides[i]);
    words[17 + i] = box[i];
    words[22 + i] = elementStrides[i];
  }
  std::memcpy(map, words, sizeof(words));
  return success;
}
#endif

FAKE cuStreamCreate(Stream *stream, unsigned) {
  FAKE_ENTER("cuStreamCreate");
  *stream = new StreamHandle{current(), state().nextId++};
  return success;
}

FAKE cuStreamSynchronize(Stream stream) {
  FAKE_ENTER_UNSAFE("cuStreamSynchronize");
  if (!isDefault(stream) && stream->capturing) {
    ++state().violations;
    return captureUnsupported;
  }
  return success;
}

FAKE cuStreamGetCtx(Stream stream, Context *context) {
  FAKE_ENTER("cuStreamGetCtx");
  *context = isDefault(stream) ? current() : stream->context;
  return *context ? success : invalidContext;
}

FAKE cuStreamGetId(Stream stream, unsigned long long *id) {
  FAKE_ENTER("cuStreamGetId");
  if (!isDefault(stream)) {
    *id = stream->id;
    return success;
  }
  if (!current())
    return invalidContext;
  *id = (current()->id << 32) + reinterpret_cast<uintptr_t>(stream);
  return success;
}

FAKE cuStreamGetCaptureInfo_v2(Stream stream, int *status, uint64_t *id,
                               Graph *graph, const GraphNode **, size_t *) {
  FAKE_ENTER("cuStreamGetCaptureInfo_v2");
  *graph = isDefault(stream) ? nullptr : stream->capturing;
  *status = *graph ? captureActive : 0;
  *id = 0;
  return success;
}

FAKE cuThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_ENTER("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, captureMode);
  return success;
}

FAKE cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  FAKE_ENTER_UNSAFE("cuMemAlloc_v2");
  if (!current())
    return invalidContext;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory)
    return errorOutOfMemory;
  std::memset(memory, 0xAA, bytes);
  *pointer = reinterpret_cast<uintptr_t>(memory);
  state().memory[*pointer] = bytes;
  state().allocated += bytes;
  return success;
}

FAKE cuMemFree_v2(DevicePointer pointer) {
  FAKE_ENTER_UNSAFE("cuMemFree_v2");
  auto found = state().memory.find(pointer);
  if (found == state().memory.end())
    return invalidValue;
  std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)));
  state().allocated -= found->second;
  state().memory.erase(found);
  return success;
}

FAKE cuMemsetD8Async(DevicePointer pointer, unsigned char value, size_t bytes,
                     Stream stream) {
  FAKE_ENTER("cuMemsetD8Async");
  // The default stream would wait for streams that capture.
  if (isDefault(stream) && state().captures) {
    ++state().violations;
    return captureUnsupported;
  }
  std::memset(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)), value,
              bytes);
  return success;
}

FAKE cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes, Stream) {
  FAKE_ENTER("cuMemcpyAsync");
  std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(to)),
              reinterpret_cast<void *>(static_cast<uintptr_t>(from)), bytes);
  return success;
}

FAKE cuUserObjectCreate(UserObject *object, void *pointer, HostFunction destroy,
                        unsigned, unsigned) {
  FAKE_ENTER("cuUserObjectCreate");
  *object = new UserObjectHandle{pointer, destroy};
  return success;
}

FAKE cuUserObjectRelease(UserObject object, unsigned) {
  {
    FAKE_ENTER("cuUserObjectRelease");
  }
  object->destroy(object->pointer);
  delete object;
  return success;
}

FAKE cuGraphRetainUserObject(Graph graph, UserObject object, unsigned,
                             unsigned flags) {
  FAKE_ENTER("cuGraphRetainUserObject");
  if (flags != graphUserObjectMove)
    return invalidValue;
  graph->objects.push_back(object);
  return success;
}
// NOLINTEND(readability-identifier-naming)

//===----------------------------------------------------------------------===//
// The tests' side
//===----------------------------------------------------------------------===//

void fake_cuda::reset() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures.clear();
  state().calls.clear();
  state().launches.clear();
  state().violations = 0;
}

void fake_cuda::fail(const std::string &function, int result, int skip,
                     int times) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures[function] = {result, skip, times};
}

int fake_cuda::count(const std::string &function) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().calls[function];
}

std::vector<fake_cuda::Launch> fake_cuda::launches() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().launches;
}

int fake_cuda::violations() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().violations;
}

size_t fake_cuda::allocated() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().allocated;
}

void fake_cuda::setCurrent(int device) {
  std::lock_guard<std::mutex> lock(state().mutex);
  contexts.clear();
  if (device >= 0)
    contexts.push_back(primaryOf(device));
}

void *fake_cuda::getCurrent() { return current(); }

void *fake_cuda::createContext(int device) {
  std::lock_guard<std::mutex> lock(state().mutex);
  contexts.push_back(new ContextHandle{device, state().nextId++});
  return contexts.back();
}

void *fake_cuda::createStream(int device) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto *stream = new StreamHandle{primaryOf(device), state().nextId++};
  state().streams.push_back(stream);
  return stream;
}

void fake_cuda::reuseStream(void *stream) {
  std::lock_guard<std::mutex> lock(state().mutex);
  static_cast<Stream>(stream)->id = state().nextId++;
}

void fake_cuda::beginCapture(void *stream) {
  std::lock_guard<std::mutex> lock(state().mutex);
  static_cast<Stream>(stream)->capturing = new GraphHandle;
  ++state().captures;
}

void *fake_cuda::endCapture(void *stream) {
  std::lock_guard<std::mutex> lock(state().mutex);
  Graph graph = static_cast<Stream>(stream)->capturing;
  static_cast<Stream>(stream)->capturing = nullptr;
  --state().captures;
  return graph;
}

void fake_cuda::destroyGraph(void *pointer) {
  auto *graph = static_cast<Graph>(pointer);
  for (UserObject object : graph->objects) {
    object->destroy(object->pointer);
    delete object;
  }
  delete graph;
}
