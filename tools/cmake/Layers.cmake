# A layer is a top-level folder. Sources include headers by their path from the root ("dialect/NN/NN.h"), and a target
# sees a layer's headers only through build/layers/LAYER, which holds one link to that folder. So the arrows of the
# architecture (passes -> dialect; StepToProgram -> runtime/Program; tools -> all) are held by include paths.
foreach(layer dialect passes runtime tools)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/layers/${layer})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${layer} ${CMAKE_BINARY_DIR}/layers/${layer}/${layer} SYMBOLIC)
endforeach()
# runtime/Program alone, for StepToProgram
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/layers/program/runtime)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime/Program ${CMAKE_BINARY_DIR}/layers/program/runtime/Program SYMBOLIC)

function(hocket_see target)
  foreach(layer ${ARGN})
    target_include_directories(${target} PUBLIC ${CMAKE_BINARY_DIR}/layers/${layer})
  endforeach()
  target_include_directories(${target} PUBLIC ${CMAKE_BINARY_DIR}/generated)
endfunction()

if(HOCKET_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")
  add_library(HocketPch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
  target_include_directories(HocketPch SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_precompile_headers(HocketPch PRIVATE
    <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h>
    <mlir/IR/OpImplementation.h> <mlir/IR/DialectImplementation.h> <mlir/IR/SymbolTable.h> <mlir/IR/PatternMatch.h>
    <mlir/IR/IRMapping.h> <mlir/Pass/Pass.h> <mlir/Interfaces/InferTypeOpInterface.h>
    <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Interfaces/FunctionInterfaces.h>
    <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/CallInterfaces.h>
    <mlir/Bytecode/BytecodeOpInterface.h> <llvm/ADT/TypeSwitch.h> <llvm/ADT/StringSet.h> <llvm/ADT/MapVector.h>)
endif()

# hocket_library(NAME LAYERS l… SOURCES s… LINK t… [MLIR])
# MLIR: the target uses MLIR and LLVM (the two shared libraries) and the precompiled headers.
function(hocket_library name)
  cmake_parse_arguments(A "MLIR" "" "LAYERS;SOURCES;LINK" ${ARGN})
  add_library(${name} ${A_SOURCES})
  hocket_see(${name} ${A_LAYERS})
  target_link_libraries(${name} PUBLIC ${A_LINK})
  if(A_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    if(HOCKET_PCH)
      target_precompile_headers(${name} REUSE_FROM HocketPch)
    endif()
    foreach(dialect HocketNN HocketDist HocketStep)
      if(TARGET ${dialect}IncGen)
        add_dependencies(${name} ${dialect}IncGen)
      endif()
    endforeach()
  endif()
endfunction()

# Runs mlir-tblgen: ${prefix}.td (ops, attributes), ${prefix}Enums.td and ${prefix}Interfaces.td of a dialect folder.
# Generated files lie in build/generated/dialect/FOLDER, included as "dialect/FOLDER/FILE.inc".
function(hocket_tablegen td)
  set(args ${ARGN})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(dir ${CMAKE_BINARY_DIR}/generated/${folder})
  file(MAKE_DIRECTORY ${dir})
  file(GLOB tds ${CMAKE_SOURCE_DIR}/dialect/*/*.td ${CMAKE_CURRENT_SOURCE_DIR}/*.td)
  set(outputs)
  while(args)
    list(POP_FRONT args out options)
    string(REPLACE " " ";" options "${options}")
    add_custom_command(OUTPUT ${dir}/${out}
      COMMAND ${MLIR_TABLEGEN_PROGRAM} ${options} ${CMAKE_CURRENT_SOURCE_DIR}/${td} -I ${CMAKE_SOURCE_DIR}
              -I ${MLIR_INCLUDE_DIR} --write-if-changed -o ${dir}/${out}
      DEPENDS ${tds} VERBATIM)
    list(APPEND outputs ${dir}/${out})
  endwhile()
  set_property(DIRECTORY APPEND PROPERTY HOCKET_GENERATED ${outputs})
endfunction()
find_program(MLIR_TABLEGEN_PROGRAM NAMES mlir-tblgen mlir-tblgen-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
list(GET MLIR_INCLUDE_DIRS 0 MLIR_INCLUDE_DIR)

function(hocket_generated_target name)
  get_property(outputs DIRECTORY PROPERTY HOCKET_GENERATED)
  add_custom_target(${name} DEPENDS ${outputs})
endfunction()

# hocket_dialect(LIB dialect Prefix SOURCES … LINK …)
function(hocket_dialect lib dialect prefix)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  hocket_tablegen(${prefix}.td
    ${prefix}Dialect.h.inc "-gen-dialect-decls -dialect=${dialect}"
    ${prefix}Dialect.cpp.inc "-gen-dialect-defs -dialect=${dialect}"
    ${prefix}Ops.h.inc "-gen-op-decls -dialect=${dialect}"
    ${prefix}Ops.cpp.inc "-gen-op-defs -dialect=${dialect}"
    ${prefix}Attrs.h.inc "-gen-attrdef-decls --attrdefs-dialect=${dialect}"
    ${prefix}Attrs.cpp.inc "-gen-attrdef-defs --attrdefs-dialect=${dialect}")
  hocket_tablegen(${prefix}Enums.td ${prefix}Enums.h.inc -gen-enum-decls ${prefix}Enums.cpp.inc -gen-enum-defs)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${prefix}Interfaces.td)
    hocket_tablegen(${prefix}Interfaces.td
      ${prefix}OpInterfaces.h.inc -gen-op-interface-decls ${prefix}OpInterfaces.cpp.inc -gen-op-interface-defs
      ${prefix}AttrInterfaces.h.inc -gen-attr-interface-decls ${prefix}AttrInterfaces.cpp.inc -gen-attr-interface-defs)
  endif()
  hocket_generated_target(${lib}IncGen)
  hocket_library(${lib} LAYERS dialect SOURCES ${A_SOURCES} LINK ${A_LINK} MLIR)
  add_dependencies(${lib} ${lib}IncGen)
endfunction()

# hocket_gtest(NAME SOURCES … LINK …): a GoogleTest program, built into build/bin/test and run by check-hocket.
function(hocket_gtest name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/test)
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gmock GTest::gtest_main Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY HOCKET_GTESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
