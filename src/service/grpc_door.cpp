// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/grpc_door.h"

#include <grpc/grpc.h>

// As C core declares it in src/core/lib/iomgr/tcp_server.h, which is not installed. libgrpc++, another library, calls
// it through the same table, so that it is part of what the two agree on; it has been the same since 1.22. Nothing of
// it is defined here.
namespace grpc_core {
class TcpServerFdHandler {
  public:
    virtual ~TcpServerFdHandler() = default;
    virtual void Handle(int listener_fd, int fd, grpc_byte_buffer *already_read) = 0;
};
} // namespace grpc_core

void rpc_door_hand_over(void *door, int fd) {
    static_cast<grpc_core::TcpServerFdHandler *>(door)->Handle(-1, fd, nullptr);
}
