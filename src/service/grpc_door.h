// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A door of C core's: an address without a socket, behind which it serves connections that were accepted elsewhere,
// with or without TLS. It is what C core's C++ layer calls an external connection acceptor; the C headers know no name
// of it, and their own way in (grpc_server_add_channel_from_fd) takes no TLS.
#ifndef CUZK_SERVICE_GRPC_DOOR_H
#define CUZK_SERVICE_GRPC_DOOR_H

#ifdef __cplusplus
extern "C" {
#endif

// An address that begins so is a door. Its handle appears where the server's argument of that very name points to, once
// grpc_server_add_http2_port was called for it, and is C core's; it is good from grpc_server_start until the server is
// shut down.
#define RPC_DOOR_PREFIX "external:"

// Hands a connected, non-blocking socket over, to be served and closed.
void rpc_door_hand_over(void *door, int fd);

#ifdef __cplusplus
}
#endif

#endif
