// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *assignments) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof a.sun_path) return;
    memcpy(a.sun_path, path, strlen(path));
    if (path[0] == '@') a.sun_path[0] = 0; // the abstract namespace (unix(7))
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0) return;
    (void)sendto(fd, assignments, strlen(assignments), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&a,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(fd);
}

uint64_t notify_watchdog_ms(void) {
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (usec == NULL || (pid != NULL && strtoll(pid, NULL, 10) != (long long)getpid())) return 0;
    uint64_t ms = strtoull(usec, NULL, 10) / 1000;
    return ms / 2 > 0 ? ms / 2 : ms; // twice as often as it must be
}
