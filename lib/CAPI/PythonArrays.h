//===- PythonArrays.h - Arrays of Python, read without it -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the Python package calls at every `mla.prefill` whose arrays' type has a
// DLPack exchange table (`__dlpack_c_exchange_api__`): to read the arrays by
// their attributes takes the interpreter ten times as long as the launch.
// Between the library and the package that comes with it, no interface for
// others.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CAPI_PYTHONARRAYS_H
#define MLA_CAPI_PYTHONARRAYS_H

#include "mla-c/Compiler.h"

struct PyObject;

//===----------------------------------------------------------------------===//
// DLPack's exchange table, of major version 1
// https://dmlc.github.io/dlpack/latest/c_api.html
//===----------------------------------------------------------------------===//

namespace mlir::mla::dlpack {

/// Who describes itself so: the version and, for those who know no newer one,
/// the table of an older version.
struct TableHeader {
  uint32_t major;
  uint32_t minor;
  const TableHeader *previous;
};

enum DeviceType : int32_t { CUDA = 2 };
enum TypeCode : uint8_t { Float = 2, BFloat = 4 };

/// A view of memory that its maker owns, as are shape and strides.
struct Tensor {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  uint8_t code; // TypeCode
  uint8_t bits;
  uint16_t lanes;
  const int64_t *shape;
  const int64_t *strides; // in elements; null: dense, before DLPack 1.2
  uint64_t byteOffset;
};

/// Functions return 0, or -1 with an exception of Python's. The first three
/// copy, or take references; they are not called.
struct Table {
  TableHeader header;
  void *allocate;
  void *exportManaged;
  void *importManaged;
  /// Describes an object of the table's type, which nobody else has to wait
  /// for; null where the framework cannot.
  int (*describe)(PyObject *object, Tensor *result);
  /// The stream that the framework's own work on a device goes to.
  int (*getCurrentStream)(int32_t deviceType, int32_t deviceId, void **result);
};

} // namespace mlir::mla::dlpack

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The length of the tuples that both functions below take: an array for each
/// operand, in an order of the caller's, None for one that is absent.
enum { MlaArrayOperands = 10 };
/// The number of addresses that a call may have besides those of the arrays.
enum { MlaHeldOperands = 3 };

/// Where an argument of the kernel comes from: an array (0 is the first), a
/// held address (MLA_PLACE_HELD is the first), or one of the scalars.
enum MlaPlace {
  MLA_PLACE_HELD = MlaArrayOperands,
  MLA_PLACE_WINDOW = MLA_PLACE_HELD + MlaHeldOperands,
  MLA_PLACE_LAYER,
  MLA_PLACE_SCALE
};

/// All of a call that is the same for arrays of the same layouts. Nothing is
/// written to it: threads may share one.
struct MlaPreparedCall {
  MlaKernel *kernel;
  /// Of each argument everything but its address.
  const MlaTensor *arguments;
  const int32_t *places; // MlaPlace, by argument
  size_t count;
  int32_t device; // as in MlaRunOptions
};

extern "C" {
/// 1 if `table` is, or knows, one that the functions below can use, and if an
/// interpreter loaded this library; else 0.
MLA_C_API int32_t mlaPythonKnowsTable(const void *table);

/// These make Python functions for arrays of exactly the type `type`, which
/// must live as long as they do, by a table that mlaPythonKnowsTable. To be
/// called with the interpreter's lock. Return a new reference, or null and an
/// exception.
///
/// `describe(arrays) -> bytes | None`: equal for arrays that are absent alike
/// and whose devices, element types, shapes and strides are equal, and of which
/// those of floats start alike at multiples of 16 bytes or not. None unless all
/// are of the type, have at most 8 dimensions, and nothing else is to be known
/// of them: the framework describes them, they require no gradient and negate
/// nothing.
MLA_C_API PyObject *mlaPythonDescribe(PyObject *type, const void *table);

/// `run(arrays, call, held, stream, threads, window, layer, scale) -> str |
/// None`: runs the MlaPreparedCall at the address `call` on arrays that are
/// described as those it was prepared for, and on the addresses in the array at
/// the address `held` (0: none). `stream` is a CUDA stream's handle, or None
/// for the current one of the first array's framework. The interpreter's lock
/// is released meanwhile. Returns None, or what went wrong.
MLA_C_API PyObject *mlaPythonRun(PyObject *type, const void *table);
}

#endif // MLA_CAPI_PYTHONARRAYS_H
