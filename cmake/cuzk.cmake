# SPDX-License-Identifier: MIT OR Apache-2.0

# cuzk_layer(NAME SOURCES a.c b.c DEPS base field): static library cuzk_NAME with the layer's sources.
# Public includes are written from src/ ("field/fr.h"), so that the layer is visible in every include.
function(cuzk_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(cuzk_${name} STATIC ${ARG_SOURCES})
  target_include_directories(cuzk_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPS PREPEND cuzk_)
  target_link_libraries(cuzk_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} Threads::Threads)
endfunction()

# cuzk_test(NAME SOURCES test_x.c DEPS field LIBS gmp [LABEL long] [TIMEOUT 60] [THREADS]): a cmocka program, run by ctest
# as NAME. LABEL long keeps it out of `make check` (it runs in `make check-long`). THREADS: it is about threads, so
# `make check-tsan` builds and runs it under ThreadSanitizer.
# Tests run in the source tree's tests/ folder, so they open "vectors/...".
function(cuzk_test name)
  cmake_parse_arguments(ARG "THREADS" "LABEL;TIMEOUT" "SOURCES;DEPS;LIBS;ARGS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(SAN OR CMAKE_CROSSCOMPILING) # sanitizers or an emulator: some ten times slower
    math(EXPR ARG_TIMEOUT "10 * ${ARG_TIMEOUT}")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  list(TRANSFORM ARG_DEPS PREPEND cuzk_)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${ARG_LIBS} cmocka)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_THREADS)
    if(NOT TARGET threads)
      add_custom_target(threads)
    endif()
    add_dependencies(threads ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
  endif()
endfunction()
