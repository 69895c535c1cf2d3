//===- Interpreter.h - What is called of a Python interpreter ---*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of Python's stable ABI, which is the same for all of its versions,
// so that neither its headers nor one library per version are needed. They are
// weak: the process has them where an interpreter loads this library, and
// nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CAPI_INTERPRETER_H
#define MLA_CAPI_INTERPRETER_H

#include <cstddef>

/// Any object of the interpreter's.
struct PyObject;

/// A function as Python calls it, and METH_FASTCALL: with its arguments in an
/// array.
using PyFastFunction = PyObject *(*)(PyObject * self, PyObject *const *args,
                                     std::ptrdiff_t count);
inline constexpr int pyFastCall = 0x80;

struct PyMethodDef {
  const char *name;
  PyFastFunction function;
  int flags;
  const char *doc;
};

// NOLINTBEGIN(readability-identifier-naming): Python's own names.
#define MLA_PYTHON __attribute__((weak))
extern "C" {
MLA_PYTHON extern PyObject _Py_NoneStruct;

MLA_PYTHON void Py_IncRef(PyObject *object);
MLA_PYTHON void Py_DecRef(PyObject *object);
MLA_PYTHON void PyErr_Clear();
MLA_PYTHON void *PyEval_SaveThread();
MLA_PYTHON void PyEval_RestoreThread(void *thread);

MLA_PYTHON PyObject *PyObject_Type(PyObject *object);
MLA_PYTHON PyObject *PyObject_GetAttr(PyObject *object, PyObject *name);
MLA_PYTHON PyObject *PyObject_CallMethodObjArgs(PyObject *object,
                                                PyObject *name, ...);
MLA_PYTHON int PyObject_IsTrue(PyObject *object);

MLA_PYTHON std::ptrdiff_t PyTuple_Size(PyObject *tuple);
MLA_PYTHON PyObject *PyTuple_GetItem(PyObject *tuple, std::ptrdiff_t index);

MLA_PYTHON long PyLong_AsLong(PyObject *object);
MLA_PYTHON void *PyLong_AsVoidPtr(PyObject *object);
MLA_PYTHON double PyFloat_AsDouble(PyObject *object);
MLA_PYTHON PyObject *PyBytes_FromStringAndSize(const char *data,
                                               std::ptrdiff_t size);
MLA_PYTHON PyObject *PyUnicode_InternFromString(const char *text);
MLA_PYTHON PyObject *PyUnicode_DecodeUTF8(const char *data, std::ptrdiff_t size,
                                          const char *errors);

MLA_PYTHON PyObject *PyCFunction_NewEx(PyMethodDef *method, PyObject *self,
                                       PyObject *module);
MLA_PYTHON PyObject *PyCapsule_New(void *pointer, const char *name,
                                   void (*destructor)(PyObject *capsule));
MLA_PYTHON void *PyCapsule_GetPointer(PyObject *capsule, const char *name);
}
#undef MLA_PYTHON
// NOLINTEND(readability-identifier-naming)

#endif // MLA_CAPI_INTERPRETER_H
