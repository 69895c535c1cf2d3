//===- PythonArrays.cpp - Arrays of Python, read without it -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PythonArrays.h"
#include "Interpreter.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace mlir::mla;
using llvm::ArrayRef;

/// More dimensions than any operand has.
static constexpr int32_t maxRank = 8;
/// What the copies of GPU kernels move at once: an address is a multiple of it
/// or not, which decides whether the call is valid.
static constexpr uint64_t copyBytes = 16;

static constexpr const char *readerName = "mla.ArrayReader";

namespace {
/// The arrays of one type. Owned by the capsule that functions have as `self`.
struct Reader {
  PyObject *type;
  const dlpack::Table *table;
  // What has to be false of an array: an attribute and a method.
  PyObject *requiresGrad;
  PyObject *isNeg;

  static Reader *get(PyObject *self) {
    return static_cast<Reader *>(PyCapsule_GetPointer(self, readerName));
  }

  /// Whether that is an array whose elements are in memory as they are. An
  /// exception may be left behind if it is not.
  bool read(PyObject *object, dlpack::Tensor &result) const;
};
} // namespace

static bool isNone(PyObject *object) { return object == &_Py_NoneStruct; }

static PyObject *createNone() {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/// Whether `object`, a new reference or null for an exception, is false.
static bool isFalse(PyObject *object) {
  if (!object)
    return false;
  bool result = PyObject_IsTrue(object) == 0;
  Py_DecRef(object);
  return result;
}

static bool hasFloats(const dlpack::Tensor &tensor) {
  return tensor.code == dlpack::Float || tensor.code == dlpack::BFloat;
}

bool Reader::read(PyObject *object, dlpack::Tensor &result) const {
  PyObject *kind = PyObject_Type(object);
  Py_DecRef(kind); // `object` has a reference of its own
  if (kind != type || table->describe(object, &result) != 0)
    return false;
  if (result.rank < 0 || result.rank > maxRank ||
      (result.rank > 0 && (!result.shape || !result.strides)))
    return false;
  // Asked last and of few, as it takes the longest. Only floats have gradients.
  // A view that negates comes of one half of conjugate complex numbers, which
  // are of no element type but these.
  if (hasFloats(result) && !isFalse(PyObject_GetAttr(object, requiresGrad)))
    return false;
  return result.code != dlpack::Float ||
         isFalse(PyObject_CallMethodObjArgs(object, isNeg, nullptr));
}

static uint64_t getAddress(const dlpack::Tensor &tensor) {
  return reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
}

/// Of different descriptions none is the beginning of another.
static void append(llvm::SmallVectorImpl<uint64_t> &key,
                   const dlpack::Tensor &tensor) {
  // Indices may lie anywhere.
  bool aligned = hasFloats(tensor) && getAddress(tensor) % copyBytes == 0;
  // The first word is not 0, which stands for no array.
  key.push_back(uint64_t(1) << 63 | uint64_t(aligned) << 62 |
                uint64_t(tensor.rank) << 32 | uint64_t(tensor.lanes) << 16 |
                uint64_t(tensor.bits) << 8 | tensor.code);
  key.push_back(uint64_t(uint32_t(tensor.deviceType)) << 32 |
                uint32_t(tensor.deviceId));
  key.append(tensor.shape, tensor.shape + tensor.rank);
  key.append(tensor.strides, tensor.strides + tensor.rank);
}

static PyObject *describe(PyObject *self, PyObject *const *args,
                          std::ptrdiff_t count) {
  assert(count == 1 && PyTuple_Size(args[0]) == MlaArrayOperands);
  const Reader *reader = Reader::get(self);
  llvm::SmallVector<uint64_t, MlaArrayOperands * (2 + 2 * maxRank)> key;
  for (int index = 0; index < MlaArrayOperands; ++index) {
    PyObject *array = PyTuple_GetItem(args[0], index);
    if (isNone(array)) {
      key.push_back(0);
      continue;
    }
    dlpack::Tensor tensor;
    if (!reader->read(array, tensor)) {
      PyErr_Clear();
      return createNone();
    }
    append(key, tensor);
  }
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(key.data()),
                                   key.size_in_bytes());
}

static PyObject *run(PyObject *self, PyObject *const *args,
                     std::ptrdiff_t count) {
  assert(count == 8 && PyTuple_Size(args[0]) == MlaArrayOperands);
  const Reader *reader = Reader::get(self);
  const auto *call = static_cast<MlaPreparedCall *>(PyLong_AsVoidPtr(args[1]));
  const auto *held = static_cast<void *const *>(PyLong_AsVoidPtr(args[2]));
  PyObject *stream = args[3];
  MlaRunOptions options = {sizeof(MlaRunOptions),
                           static_cast<int32_t>(PyLong_AsLong(args[4])),
                           call->device, nullptr};
  auto window = static_cast<int32_t>(PyLong_AsLong(args[5]));
  auto layer = static_cast<int32_t>(PyLong_AsLong(args[6]));
  auto scale = static_cast<float>(PyFloat_AsDouble(args[7]));

  void *data[MLA_PLACE_SCALE + 1] = {};
  if (held)
    std::copy_n(held, MlaHeldOperands, data + MLA_PLACE_HELD);
  data[MLA_PLACE_WINDOW] = &window;
  data[MLA_PLACE_LAYER] = &layer;
  data[MLA_PLACE_SCALE] = &scale;
  dlpack::Tensor first = {};
  for (int index = 0; index < MlaArrayOperands; ++index) {
    PyObject *array = PyTuple_GetItem(args[0], index);
    if (isNone(array))
      continue;
    dlpack::Tensor tensor;
    if (reader->table->describe(array, &tensor) != 0)
      return nullptr;
    data[index] = reinterpret_cast<void *>(getAddress(tensor));
    if (index == 0)
      first = tensor;
  }
  if (!isNone(stream))
    options.stream = PyLong_AsVoidPtr(stream);
  else if (first.deviceType == dlpack::CUDA &&
           reader->table->getCurrentStream(first.deviceType, first.deviceId,
                                           &options.stream) != 0)
    return nullptr;
  llvm::SmallVector<MlaTensor, MLA_PLACE_SCALE + 1> arguments(
      ArrayRef(call->arguments, call->count));
  for (auto [argument, place] :
       llvm::zip_equal(arguments, ArrayRef(call->places, call->count)))
    argument.data = data[place];

  char *message = nullptr;
  void *thread = PyEval_SaveThread();
  int failed = mlaKernelRun(call->kernel, arguments.data(), arguments.size(),
                            &options, &message);
  PyEval_RestoreThread(thread);
  if (!failed)
    return createNone();
  const char *text = message ? message : "failed without a message";
  PyObject *result = PyUnicode_DecodeUTF8(text, std::strlen(text), "replace");
  mlaFreeString(message);
  return result;
}

/// The newest table that we know, or null.
static const dlpack::Table *findTable(const void *table) {
  const auto *header = static_cast<const dlpack::TableHeader *>(table);
  while (header && header->major > 1)
    header = header->previous;
  if (!header || header->major != 1)
    return nullptr;
  const auto *result = reinterpret_cast<const dlpack::Table *>(header);
  return result->describe && result->getCurrentStream ? result : nullptr;
}

static void destroyReader(PyObject *capsule) {
  Reader *reader = Reader::get(capsule);
  Py_DecRef(reader->requiresGrad);
  Py_DecRef(reader->isNeg);
  delete reader;
}

static PyObject *createFunction(PyMethodDef *method, PyObject *type,
                                const void *table) {
  auto *reader = new Reader{type, findTable(table),
                            PyUnicode_InternFromString("requires_grad"),
                            PyUnicode_InternFromString("is_neg")};
  PyObject *self = PyCapsule_New(reader, readerName, destroyReader);
  PyObject *function = PyCFunction_NewEx(method, self, nullptr);
  Py_DecRef(self);
  return function;
}

int32_t mlaPythonKnowsTable(const void *table) {
  // Without an interpreter its functions are null.
  return findTable(table) && PyCFunction_NewEx;
}

PyObject *mlaPythonDescribe(PyObject *type, const void *table) {
  static PyMethodDef method = {"describe", describe, pyFastCall, nullptr};
  return createFunction(&method, type, table);
}

PyObject *mlaPythonRun(PyObject *type, const void *table) {
  static PyMethodDef method = {"run", run, pyFastCall, nullptr};
  return createFunction(&method, type, table);
}
