// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/pool.h"

// The first line of /proc/cpuinfo that names a model, as far as it goes.
static void find_processor(char out[128]) {
    snprintf(out, 128, "?");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) return;
    char line[256];
    while (fgets(line, sizeof line, f) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, "model name", 10) != 0) continue;
        colon += 1 + (colon[1] == ' ');
        snprintf(out, 128, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    fclose(f);
}

machine machine_describe(void) {
    machine m = {.level = cpu_level_name(cpu_current()), .usable = pool_available_threads()};
    struct utsname u;
    find_processor(m.processor);
    if (uname(&u) == 0) snprintf(m.kernel, sizeof m.kernel, "%.60s %.60s", u.sysname, u.release);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    m.processors = n > 0 ? (unsigned)n : 0;
    FILE *f = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    if (f != NULL && fscanf(f, "MemTotal: %llu kB", &kib) == 1) m.memory = (uint64_t)kib * 1024;
    if (f != NULL) fclose(f);
    return m;
}
