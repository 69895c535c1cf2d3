//===- PythonArraysTest.cpp - Arrays of an interpreter made here -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PythonArrays.h"
#include "Interpreter.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <array>
#include <cstdarg>
#include <cstring>
#include <string>
#include <vector>

using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// An interpreter
//===----------------------------------------------------------------------===//

/// An object that counts its references; of its fields each kind has some.
struct PyObject {
  PyObject() = default;
  explicit PyObject(PyObject *type) : type(type) {}

  int64_t references = 1;
  PyObject *type = nullptr;
  std::vector<PyObject *> items;            // a tuple's
  std::string text;                         // of bytes and strings
  int64_t integer = 0;                      // also an address
  double real = 0;                          //
  PyMethodDef *method = nullptr;            // a function's, with its `self`
  PyObject *self = nullptr;                 //
  void (*destructor)(PyObject *) = nullptr; // a capsule's

  // An array's.
  dlpack::Tensor tensor = {};
  bool requiresGrad = false;
  bool isNeg = false;
  bool isRefused = false; // by its framework
};

PyObject _Py_NoneStruct;

namespace {
PyObject pyTrue, pyFalse;
/// Whether there is an exception.
bool hasError = false;
/// Objects that functions made and that still have a reference.
int64_t alive = 0;
/// How often the methods of arrays were called.
int asked = 0;
/// What happened to the interpreter's lock.
std::string lock;

PyObject *create() {
  ++alive;
  return new PyObject;
}

PyObject *createInteger(int64_t value) {
  PyObject *result = create();
  result->integer = value;
  return result;
}
} // namespace

void Py_IncRef(PyObject *object) { ++object->references; }
void Py_DecRef(PyObject *object) {
  if (--object->references > 0)
    return;
  if (object->destructor)
    object->destructor(object);
  if (object->self)
    Py_DecRef(object->self);
  --alive;
  delete object;
}
void PyErr_Clear() { hasError = false; }
void *PyEval_SaveThread() {
  lock += "released ";
  return &lock;
}
void PyEval_RestoreThread(void *thread) {
  EXPECT_EQ(thread, &lock);
  lock += "taken";
}
PyObject *PyObject_Type(PyObject *object) {
  Py_IncRef(object->type);
  return object->type;
}
PyObject *PyObject_GetAttr(PyObject *object, PyObject *name) {
  ++asked;
  EXPECT_EQ(name->text, "requires_grad");
  PyObject *result = object->requiresGrad ? &pyTrue : &pyFalse;
  Py_IncRef(result);
  return result;
}
PyObject *PyObject_CallMethodObjArgs(PyObject *object, PyObject *name, ...) {
  ++asked;
  va_list arguments;
  va_start(arguments, name);
  EXPECT_EQ(va_arg(arguments, PyObject *), nullptr);
  va_end(arguments);
  EXPECT_EQ(name->text, "is_neg");
  PyObject *result = object->isNeg ? &pyTrue : &pyFalse;
  Py_IncRef(result);
  return result;
}
int PyObject_IsTrue(PyObject *object) { return object == &pyTrue; }
std::ptrdiff_t PyTuple_Size(PyObject *tuple) {
  return static_cast<std::ptrdiff_t>(tuple->items.size());
}
PyObject *PyTuple_GetItem(PyObject *tuple, std::ptrdiff_t index) {
  return tuple->items[index];
}
long PyLong_AsLong(PyObject *object) { return object->integer; }
void *PyLong_AsVoidPtr(PyObject *object) {
  return reinterpret_cast<void *>(object->integer);
}
double PyFloat_AsDouble(PyObject *object) { return object->real; }
PyObject *PyBytes_FromStringAndSize(const char *data, std::ptrdiff_t size) {
  PyObject *result = create();
  result->text.assign(data, size);
  return result;
}
PyObject *PyUnicode_InternFromString(const char *text) {
  PyObject *result = create();
  result->text = text;
  return result;
}
PyObject *PyUnicode_DecodeUTF8(const char *data, std::ptrdiff_t size,
                               const char *) {
  return PyBytes_FromStringAndSize(data, size);
}
PyObject *PyCFunction_NewEx(PyMethodDef *method, PyObject *self, PyObject *) {
  EXPECT_EQ(method->flags, 0x80);
  PyObject *result = create();
  result->method = method;
  result->self = self;
  Py_IncRef(self);
  return result;
}
PyObject *PyCapsule_New(void *pointer, const char *name,
                        void (*destructor)(PyObject *)) {
  PyObject *result = createInteger(reinterpret_cast<int64_t>(pointer));
  result->text = name;
  result->destructor = destructor;
  return result;
}
void *PyCapsule_GetPointer(PyObject *capsule, const char *name) {
  EXPECT_EQ(capsule->text, name);
  return PyLong_AsVoidPtr(capsule);
}

//===----------------------------------------------------------------------===//
// A framework
//===----------------------------------------------------------------------===//

namespace {
void *const currentStream = reinterpret_cast<void *>(0x5000);

int describeArray(PyObject *object, dlpack::Tensor *result) {
  if (object->isRefused) {
    hasError = true;
    return -1;
  }
  *result = object->tensor;
  return 0;
}

int getCurrentStream(int32_t deviceType, int32_t, void **result) {
  EXPECT_EQ(deviceType, dlpack::CUDA);
  *result = currentStream;
  return 0;
}

constexpr dlpack::Table makeTable(uint32_t major) {
  return {{major, 0, nullptr}, nullptr,         nullptr, nullptr,
          describeArray,       getCurrentStream};
}

class PythonArraysTest : public testing::Test {
protected:
  PythonArraysTest() : table(makeTable(1)) {
    for (PyObject &array : arrays) {
      array.type = &type;
      array.tensor.data = reinterpret_cast<void *>(0x1000);
      array.tensor.deviceType = dlpack::CUDA;
      array.tensor.rank = 2;
      array.tensor.code = dlpack::Float;
      array.tensor.bits = 16;
      array.tensor.lanes = 1;
      array.tensor.shape = shape.data();
      array.tensor.strides = strides.data();
      tuple.items.push_back(&array);
    }
    function = mlaPythonDescribe(&type, &table);
    hasError = false;
    asked = 0;
    lock.clear();
  }
  ~PythonArraysTest() override {
    Py_DecRef(function);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(type.references, 1);
    for (const PyObject &array : arrays)
      EXPECT_EQ(array.references, 1);
    EXPECT_FALSE(hasError);
  }

  /// The key, or nothing for None.
  std::string describe() {
    PyObject *argument = &tuple;
    PyObject *result = function->method->function(function->self, &argument, 1);
    std::string text = result == &_Py_NoneStruct ? "" : result->text;
    Py_DecRef(result);
    return text;
  }

  std::array<int64_t, 16> shape = {3, 8, 1, 1, 1, 1, 1, 1, 1};
  std::array<int64_t, 16> strides = {8, 1, 1, 1, 1, 1, 1, 1, 1};
  PyObject type, tuple;
  std::array<PyObject, MlaArrayOperands> arrays;
  dlpack::Table table;
  PyObject *function;
};
} // namespace

TEST_F(PythonArraysTest, EqualLayouts) {
  std::string key = describe();
  EXPECT_FALSE(key.empty());
  EXPECT_EQ(key, describe());
  // Other memory, shapes and strides elsewhere.
  auto otherShape = shape, otherStrides = strides;
  for (PyObject &array : arrays) {
    array.tensor.data = reinterpret_cast<void *>(0x7fff0000);
    array.tensor.byteOffset = 32;
    array.tensor.shape = otherShape.data();
    array.tensor.strides = otherStrides.data();
  }
  EXPECT_EQ(key, describe());
}

TEST_F(PythonArraysTest, WhateverDiffers) {
  std::vector<std::string> keys = {describe()};
  auto expectNew = [&] {
    std::string key = describe();
    EXPECT_FALSE(key.empty());
    EXPECT_EQ(llvm::count(keys, key), 0);
    keys.push_back(key);
  };
  auto otherShape = shape, otherStrides = strides;
  otherShape[0] = 4;
  otherStrides[0] = 16;
  for (size_t index : {size_t(0), arrays.size() - 1}) {
    dlpack::Tensor &tensor = arrays[index].tensor;
    dlpack::Tensor before = tensor;
    auto with = [&](auto change) {
      change();
      expectNew();
      tensor = before;
    };
    with([&] { tensor.deviceType = 1; });
    with([&] { tensor.deviceId = 1; });
    with([&] { tensor.code = dlpack::BFloat; });
    with([&] { tensor.bits = 32; });
    with([&] { tensor.lanes = 2; });
    with([&] { tensor.rank = 1; });
    with([&] { tensor.rank = 3; });
    with([&] { tensor.rank = 0; });
    with([&] { tensor.shape = otherShape.data(); });
    with([&] { tensor.strides = otherStrides.data(); });
    with([&] { tensor.byteOffset = 8; });
    tuple.items[index] = &_Py_NoneStruct;
    expectNew();
    tuple.items[index] = &arrays[index];
  }
}

TEST_F(PythonArraysTest, IndicesMayStartAnywhere) {
  arrays[1].tensor.code = 0;
  arrays[1].tensor.bits = 32;
  std::string key = describe();
  arrays[1].tensor.byteOffset = 4;
  EXPECT_EQ(key, describe());
}

TEST_F(PythonArraysTest, OnlyFloatsAreAsked) {
  for (PyObject &array : arrays)
    array.tensor.code = 0;
  arrays[2].isNeg = arrays[2].requiresGrad = true;
  EXPECT_FALSE(describe().empty());
  EXPECT_EQ(asked, 0);
  arrays[3].tensor.code = dlpack::BFloat; // not for what no complex number has
  EXPECT_FALSE(describe().empty());
  EXPECT_EQ(asked, 1);
  arrays[3].tensor.code = dlpack::Float;
  EXPECT_FALSE(describe().empty());
  EXPECT_EQ(asked, 3);
}

TEST_F(PythonArraysTest, WhatTheKeyDoesNotTell) {
  PyObject &array = arrays[4];
  PyObject otherType;
  auto refuses = [&](auto change, auto back) {
    EXPECT_FALSE(describe().empty());
    change();
    EXPECT_EQ(describe(), "");
    EXPECT_FALSE(hasError);
    back();
  };
  refuses([&] { array.type = &otherType; }, [&] { array.type = &type; });
  refuses([&] { array.isRefused = true; }, [&] { array.isRefused = false; });
  refuses([&] { array.requiresGrad = true; },
          [&] { array.requiresGrad = false; });
  refuses([&] { array.isNeg = true; }, [&] { array.isNeg = false; });
  refuses([&] { array.tensor.rank = 9; }, [&] { array.tensor.rank = 8; });
  refuses([&] { array.tensor.strides = nullptr; },
          [&] { array.tensor.strides = strides.data(); });
  EXPECT_EQ(otherType.references, 1);
}

TEST_F(PythonArraysTest, Tables) {
  EXPECT_TRUE(mlaPythonKnowsTable(&table));
  EXPECT_FALSE(mlaPythonKnowsTable(nullptr));
  dlpack::Table newer = makeTable(2), older = makeTable(0);
  EXPECT_FALSE(mlaPythonKnowsTable(&newer));
  EXPECT_FALSE(mlaPythonKnowsTable(&older));
  newer.header.previous = &table.header;
  EXPECT_TRUE(mlaPythonKnowsTable(&newer));
  newer.header.previous = &older.header;
  EXPECT_FALSE(mlaPythonKnowsTable(&newer));
  table.describe = nullptr;
  EXPECT_FALSE(mlaPythonKnowsTable(&table));
}

/// What the kernel is given is told by its check of the arguments.
TEST_F(PythonArraysTest, Run) {
  const char *text = "func.func @f(%a: memref<?xf32>) { return }";
  char *message = nullptr;
  MlaKernel *kernel = mlaCompile(text, std::strlen(text), nullptr, &message);
  ASSERT_TRUE(kernel) << message;
  MlaTensor argument = {nullptr, MLA_DTYPE_F32, 2, shape.data(),
                        strides.data()};
  int32_t place = 0;
  MlaPreparedCall call = {kernel, &argument, &place, 1, -1};
  PyObject *run = mlaPythonRun(&type, &table);
  PyObject address, held, threads, window, layer, scale;
  address.integer = reinterpret_cast<int64_t>(&call);
  std::array<PyObject *, 8> arguments = {&tuple,          &address, &held,
                                         &_Py_NoneStruct, &threads, &window,
                                         &layer,          &scale};
  auto callRun = [&] {
    return run->method->function(run->self, arguments.data(), arguments.size());
  };
  PyObject *error = callRun();
  EXPECT_EQ(error->text, "argument 0 ('a'): expected f32 tensor of shape [?], "
                         "got f32 tensor of shape [3, 8]");
  EXPECT_EQ(lock, "released taken");
  Py_DecRef(error);

  argument.rank = 1;
  argument.strides = nullptr;
  PyObject *none = callRun();
  EXPECT_EQ(none, &_Py_NoneStruct);
  Py_DecRef(none);
  // The address of the array is passed on: a missing one is refused.
  arrays[0].tensor.data = nullptr;
  error = callRun();
  EXPECT_EQ(error->text, "argument 0 ('a'): expected data, got a null pointer");
  Py_DecRef(error);

  arrays[3].isRefused = true;
  EXPECT_EQ(callRun(), nullptr);
  EXPECT_TRUE(hasError);
  hasError = false;
  Py_DecRef(run);
  mlaKernelDestroy(kernel);
}
