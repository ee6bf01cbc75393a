// SPDX-License-Identifier: MIT OR Apache-2.0
//
// In a container the machine may show 128 processors while the quota pays for two. More threads than the quota pays
// for are throttled all at once, in the middle of a loop, so the quota counts as much as the affinity mask.
#define _GNU_SOURCE // sched_getaffinity, CPU_ALLOC
#include "base/cpu_quota.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CAP = 4096, MAX_CPUS = 1 << 16 };

unsigned cpu_affinity_count(void) {
    // The kernel refuses a mask shorter than its own with EINVAL, and does not say how long it wants it.
    for (int cpus = 1024; cpus <= MAX_CPUS; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (set == NULL) return 0;
        const size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        const int rc = sched_getaffinity(0, size, set), reason = errno;
        const int count = rc == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (rc == 0) return (unsigned)count;
        if (reason != EINVAL) return 0;
    }
    return 0;
}

// One line of a small file; false if absent.
static bool read_line(char *line, size_t cap, const char *dir, const char *name) {
    char path[2 * PATH_CAP];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) return false;
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    const bool ok = fgets(line, (int)cap, f) != NULL;
    fclose(f);
    return ok;
}

// Rounded up: a quota of 1.5 processors keeps two threads busy most of the time.
static unsigned quota_threads(int64_t quota, int64_t period) {
    if (quota <= 0 || period <= 0) return 0;
    const int64_t n = (quota - 1) / period + 1;
    return n > MAX_CPUS ? MAX_CPUS : (unsigned)n;
}

// Version 2: "max 100000" or "150000 100000" (kernel documentation, admin-guide/cgroup-v2, cpu.max).
static unsigned limit_v2(const char *dir) {
    char line[128];
    int64_t quota, period;
    if (!read_line(line, sizeof line, dir, "cpu.max")) return 0;
    if (sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) return 0; // "max"
    return quota_threads(quota, period);
}

// Version 1: two files; a quota of -1 is none (scheduler/sched-bwc).
static unsigned limit_v1(const char *dir) {
    char quota[128], period[128];
    if (!read_line(quota, sizeof quota, dir, "cpu.cfs_quota_us")) return 0;
    if (!read_line(period, sizeof period, dir, "cpu.cfs_period_us")) return 0;
    return quota_threads(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

static unsigned lower(unsigned a, unsigned b) { return a == 0 ? b : b == 0 || a < b ? a : b; }

// The tightest limit from `group` (such as "/a/b") up to the mount point. Inside a container the group's path may be
// that of the host and absent here; then the mount point is the container's own group and still counts.
static unsigned tightest(const char *mount, const char *group, unsigned (*limit)(const char *dir)) {
    char dir[PATH_CAP];
    const size_t base = strlen(mount);
    const int n = snprintf(dir, sizeof dir, "%s%s", mount, group);
    if (n < 0 || n >= (int)sizeof dir) return limit(mount);
    unsigned best = 0;
    for (;;) {
        best = lower(best, limit(dir));
        char *slash = strrchr(dir, '/');
        if (slash == NULL || slash < dir + base) return best;
        *slash = 0;
    }
}

// True if the comma-separated list of controllers holds "cpu".
static bool has_cpu(const char *list, size_t len) {
    for (size_t i = 0; i + 3 <= len; i++) {
        const bool starts = i == 0 || list[i - 1] == ',', ends = i + 3 == len || list[i + 3] == ',';
        if (starts && ends && memcmp(list + i, "cpu", 3) == 0) return true;
    }
    return false;
}

unsigned cpu_cgroup_limit(const char *root) {
    char path[PATH_CAP], line[PATH_CAP];
    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path) return 0;
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    unsigned best = 0;
    while (fgets(line, sizeof line, f) != NULL) { // "hierarchy:controllers:path"
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) continue;
        controllers++;
        *group++ = 0;
        char mount[PATH_CAP];
        const bool v2 = controllers[0] == 0;
        if (!v2 && !has_cpu(controllers, strlen(controllers))) continue;
        if (v2) {
            static const char *const places[] = {"", "/unified"}; // the second in mixed set-ups
            for (size_t i = 0; i < 2; i++) {
                if (snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, places[i]) >= (int)sizeof mount) continue;
                best = lower(best, tightest(mount, group, limit_v2));
            }
        } else {
            const char *const places[] = {"cpu", controllers};
            for (size_t i = 0; i < 2; i++) {
                if (snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, places[i]) >= (int)sizeof mount) {
                    continue;
                }
                best = lower(best, tightest(mount, group, limit_v1));
            }
        }
    }
    fclose(f);
    return best;
}
