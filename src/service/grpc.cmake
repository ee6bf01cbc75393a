# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The gRPC wire: messages made from proto/ by protoc-c, the server, and a client that needs nothing of the service.
find_path(GRPC_INCLUDE grpc/grpc.h REQUIRED)
find_library(GRPC_LIBRARY grpc REQUIRED)
find_library(GPR_LIBRARY gpr REQUIRED)
find_path(PROTOBUF_C_INCLUDE protobuf-c/protobuf-c.h REQUIRED)
find_library(PROTOBUF_C_LIBRARY protobuf-c REQUIRED)
find_program(PROTOC_C protoc-c REQUIRED)

set(wire ${CMAKE_CURRENT_BINARY_DIR}/wire)
set(proto ${CMAKE_SOURCE_DIR}/proto)
set(wire_messages cuzk/v1/proving grpc/health/v1/health grpc/reflection/v1/reflection)
# v1alpha has the same messages on the wire, so that it is described, but no code is made of it.
set(wire_described ${wire_messages} grpc/reflection/v1alpha/reflection)
set(wire_sources "")
set(wire_headers "")
set(wire_protos "")
set(wire_includes "")
foreach(name IN LISTS wire_messages)
  list(APPEND wire_sources ${wire}/${name}.pb-c.c)
  list(APPEND wire_headers ${wire}/${name}.pb-c.h)
  list(APPEND wire_protos ${proto}/${name}.proto)
  get_filename_component(folder ${wire}/${name} DIRECTORY)
  list(APPEND wire_includes ${folder})
endforeach()
list(TRANSFORM wire_described PREPEND ${proto}/ OUTPUT_VARIABLE wire_described_protos)
list(TRANSFORM wire_described_protos APPEND .proto)
file(MAKE_DIRECTORY ${wire})

add_custom_command(
  OUTPUT ${wire_sources} ${wire_headers}
  COMMAND ${PROTOC_C} -I ${proto} --c_out=${wire} ${wire_protos}
  DEPENDS ${wire_protos} VERBATIM)
# For reflection: every file's description, embedded as bytes.
add_custom_command(
  OUTPUT ${wire}/descriptors.c
  COMMAND ${PROTOC_C} -I ${proto} --include_imports --descriptor_set_out=${wire}/descriptors.pb ${wire_described_protos}
  COMMAND ${CMAKE_COMMAND} -DFROM=${wire}/descriptors.pb -DTO=${wire}/descriptors.c -DNAME=wire_descriptors
          -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${wire_described_protos} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)

# Made code is not ours to mend: no warnings of it.
add_library(cuzk_wire STATIC ${wire_sources} ${wire}/descriptors.c)
target_compile_options(cuzk_wire PRIVATE -w)
target_include_directories(cuzk_wire SYSTEM PUBLIC ${wire} ${wire_includes} ${PROTOBUF_C_INCLUDE} ${GRPC_INCLUDE})
target_link_libraries(cuzk_wire PUBLIC ${PROTOBUF_C_LIBRARY})

add_library(cuzk_client STATIC client.c client_calls.c client_stream.c grpc_common.c)
target_include_directories(cuzk_client PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(cuzk_client PUBLIC cuzk_base PRIVATE cuzk_wire ${GRPC_LIBRARY} ${GPR_LIBRARY})

# Needs service.h alone; what stands behind it is linked by the program or by the test.
add_library(cuzk_grpc STATIC
  grpc_server.c grpc_call.c grpc_codec.c grpc_door.cpp grpc_gate.c grpc_lanes.c grpc_listen.c listen.c grpc_methods.c grpc_timeline.c grpc_health.c
  grpc_reflection.c grpc_common.c wire_text.c)
target_include_directories(cuzk_grpc PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(cuzk_grpc PUBLIC cuzk_base PRIVATE cuzk_wire ${GRPC_LIBRARY} ${GPR_LIBRARY} Threads::Threads)
