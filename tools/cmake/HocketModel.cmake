# hocket_model(NAME SOURCES gpt.cpp… [PLAN plan] [ARGS argument…] [FLAGS flag…])
#
# Builds the program NAME-model from SOURCES, which writes a model (hocket::main), runs it with ARGS to make NAME.mlir, and
# compiles that under PLAN to the executable NAME, which hocket-run starts. FLAGS go to `hocket compile` (--mesh dp=2 makes
# a plan instead of PLAN; --march, --memory, …). With neither PLAN nor FLAGS it ends with NAME.mlir. All lie in
# CMAKE_RUNTIME_OUTPUT_DIRECTORY or in the build folder of the project. What is wrong with model or plan fails the build,
# at the line of the source that says it.
function(hocket_model name)
  cmake_parse_arguments(A "" "PLAN" "SOURCES;ARGS;FLAGS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hocket_model(${name}): unknown words: ${A_UNPARSED_ARGUMENTS} (known: SOURCES, PLAN, ARGS, FLAGS)")
  endif()
  if(NOT A_SOURCES)
    message(FATAL_ERROR "hocket_model(${name}) needs SOURCES")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR})
  if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(folder ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  endif()
  set(made ${folder}/${name}.mlir)

  add_executable(${name}-model ${A_SOURCES})
  target_link_libraries(${name}-model PRIVATE hocket::hocket)
  add_custom_command(OUTPUT ${made} COMMAND ${name}-model -o ${made} ${A_ARGS} DEPENDS ${name}-model
                     COMMENT "Writing the model ${name}.mlir" VERBATIM)
  if(A_PLAN OR A_FLAGS)
    set(plan)
    if(A_PLAN)
      set(plan --plan ${A_PLAN})
    endif()
    add_custom_command(OUTPUT ${folder}/${name}
      COMMAND ${hocket_COMPILER} compile ${made} ${plan} ${A_FLAGS} -o ${folder}/${name}
      DEPENDS ${made} ${hocket_COMPILER} COMMENT "Compiling ${name}" VERBATIM)
    set(made ${folder}/${name})
  endif()
  add_custom_target(${name}-made ALL DEPENDS ${made}) # NAME itself is a file of the build folder
endfunction()
