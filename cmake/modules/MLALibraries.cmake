# Finds LLVM and MLIR and says what to link. The only file that names their
# libraries.
#
# Default: the two dylibs, `MLIR LLVM`. Never name a component archive (MLIRIR,
# LLVMSupport, ...) next to them: that links MLIR twice into one process.
# MLA_STATIC: archives only, by file, since the exported MLIR targets of a dylib
# build carry the LLVM dylib in their link interface.

set(MLA_LLVM_MAJOR 22)

find_package(MLIR QUIET CONFIG
  HINTS /usr/lib/llvm-${MLA_LLVM_MAJOR}/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR
    "MLIR ${MLA_LLVM_MAJOR} was not found. On Debian install llvm-${MLA_LLVM_MAJOR}-dev "
    "libmlir-${MLA_LLVM_MAJOR}-dev mlir-${MLA_LLVM_MAJOR}-tools, or run scripts/setup.sh; "
    "elsewhere pass -DMLIR_DIR=<prefix>/lib/cmake/mlir.")
endif()
# MLIR's config file accepts only an exact version, so the major is ours to check.
if(NOT LLVM_VERSION_MAJOR EQUAL MLA_LLVM_MAJOR)
  message(FATAL_ERROR
    "MLA needs LLVM and MLIR ${MLA_LLVM_MAJOR}, but ${MLIR_DIR} is "
    "${LLVM_PACKAGE_VERSION}. Install llvm-${MLA_LLVM_MAJOR}-dev libmlir-${MLA_LLVM_MAJOR}-dev "
    "mlir-${MLA_LLVM_MAJOR}-tools, or pass -DMLIR_DIR=<prefix>/lib/cmake/mlir.")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION}: ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
separate_arguments(MLA_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# As LLVM was built: RTTI as its own, no exceptions.
set(MLA_LLVM_COMPILE_OPTIONS -fno-exceptions)
if(NOT LLVM_ENABLE_RTTI)
  list(APPEND MLA_LLVM_COMPILE_OPTIONS -fno-rtti)
endif()

if(MLA_STATIC)
  file(GLOB MLA_MLIR_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a)
  list(FILTER MLA_MLIR_ARCHIVES EXCLUDE REGEX "libMLIR(CAPI|Test|.*Test|.*TestPasses)")
  # AMDGPU and SPIRV because MLIR's registration of all dialects refers to them.
  llvm_map_components_to_libnames(MLA_LLVM_ARCHIVES
    AMDGPU asmparser bitwriter frontendopenacc frontendopenmp ipo linker native
    NVPTX orcjit passes perfjitevents SPIRV)
  # Compression from archives too, and no Z3 (only Clang's analyzer calls it): the
  # library then needs nothing but the C and C++ run-time libraries.
  find_library(MLA_ZLIB_ARCHIVE libz.a)
  find_library(MLA_ZSTD_ARCHIVE libzstd.a)
  get_target_property(dependencies LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(FILTER dependencies EXCLUDE REGEX "z3")
  if(MLA_ZLIB_ARCHIVE AND MLA_ZSTD_ARCHIVE)
    list(TRANSFORM dependencies REPLACE "^ZLIB::ZLIB$" ${MLA_ZLIB_ARCHIVE})
    list(TRANSFORM dependencies REPLACE "^zstd::.*$" ${MLA_ZSTD_ARCHIVE})
  endif()
  set_target_properties(LLVMSupport PROPERTIES
    INTERFACE_LINK_LIBRARIES "${dependencies}")

  set(MLA_LLVM_LIBRARIES
    -Wl,--start-group ${MLA_MLIR_ARCHIVES} -Wl,--end-group
    ${MLA_LLVM_ARCHIVES})
else()
  set(MLA_LLVM_LIBRARIES MLIR LLVM)
  # For unit tests of plain C++, which need no MLIR.
  set(MLA_LLVM_SUPPORT_LIBRARY LLVM)
endif()
