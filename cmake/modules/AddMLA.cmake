# Helpers for the directories under include/mla, lib and tools.

# mla_add_compiler_part(<name> [EXCLUDE <regex>])
# Compiles the *.cpp files of the current directory into libMLACompiler.
function(mla_add_compiler_part name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${ARG_EXCLUDE})
  endif()
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${name} PRIVATE ${MLA_LLVM_COMPILE_OPTIONS})
  add_dependencies(${name} mla-headers)
  set_property(GLOBAL APPEND PROPERTY MLA_COMPILER_PARTS ${name})
endfunction()

# mla_add_tool(<name>)
# A program from the *.cpp files of the current directory. It links
# libMLACompiler alone, which brings the process's one copy of MLIR.
function(mla_add_tool name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_compile_options(${name} PRIVATE ${MLA_LLVM_COMPILE_OPTIONS})
  target_link_libraries(${name} PRIVATE MLACompiler MLARuntime)
  add_dependencies(${name} mla-headers)
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH_USE_ORIGIN ON
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
    INSTALL_RPATH_USE_LINK_PATH ON)
  set_property(GLOBAL APPEND PROPERTY MLA_TOOLS ${name})
endfunction()

# mla_add_tablegen_target(<target>)
# Closes a group of mlir_tablegen calls; every C++ target waits for them.
macro(mla_add_tablegen_target target)
  add_public_tablegen_target(${target})
  add_dependencies(mla-headers ${target})
endmacro()
