// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Preloaded into a program (LD_PRELOAD), gives it a wall clock that can be stepped while it runs: the offset, signed
// nanoseconds in the byte order of the machine, stands in the file that CUZK_TEST_CLOCK names. Monotonic clocks are
// left alone. A wait until a moment of the wall clock is not translated: whoever computes one is off by the offset, as
// he would be if the clock were stepped while he waits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *offset;
static int (*real_gettime)(clockid_t, struct timespec *);

// Before main; a file that cannot be read ends the program, so that no test passes without its clock.
__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CUZK_TEST_CLOCK");
    const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd == -1 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) _exit(70);
    close(fd);
    offset = at;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    enum { SECOND = 1000000000 };
    if (real_gettime == NULL) *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    const int got = real_gettime(clock, t);
    if (got != 0 || offset == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE && clock != CLOCK_TAI))
        return got;
    const int64_t by = atomic_load_explicit(offset, memory_order_relaxed), ns = t->tv_nsec + by % SECOND;
    t->tv_sec += (time_t)(by / SECOND) + (ns >= SECOND) - (ns < 0);
    t->tv_nsec = (long)(ns >= SECOND ? ns - SECOND : ns < 0 ? ns + SECOND : ns);
    return 0;
}

int gettimeofday(struct timeval *restrict v, void *restrict zone) {
    (void)zone;
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0) return -1;
    *v = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

int timespec_get(struct timespec *t, int base) { return clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0; }

time_t time(time_t *out) {
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_REALTIME, &t);
    if (out != NULL) *out = t.tv_sec;
    return t.tv_sec;
}
