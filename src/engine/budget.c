// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/budget.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_CAP = 4096 };

static void consider(memory_budget *b, uint64_t limit, const char *source) {
    if (limit == 0 || limit >= b->limit) return;
    b->limit = limit;
    b->source = source;
}

// MemAvailable: what can be had without swapping (proc(5)); kernels before 3.14 do not say, MemFree is the safe answer.
static void look_at_machine(memory_budget *b, const char *root) {
    char path[PATH_CAP], line[256];
    uint64_t kib, free_kib = 0;
    if (snprintf(path, sizeof path, "%s/proc/meminfo", root) >= (int)sizeof path) return;
    FILE *f = fopen(path, "re");
    if (f == NULL) return;
    bool found = false;
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) {
            consider(b, kib * 1024, "MemAvailable");
            found = true;
        } else if (sscanf(line, "MemFree: %" SCNu64, &kib) == 1) {
            free_kib = kib;
        }
    }
    fclose(f);
    if (!found) consider(b, free_kib * 1024, "MemAvailable");
}

// A number of bytes in a file of one line; 0 if there is none ("max"), or no file.
static uint64_t read_bytes(const char *dir, const char *name) {
    char path[PATH_CAP + 64], line[64];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) return 0;
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    uint64_t bytes = 0;
    if (fgets(line, sizeof line, f) == NULL || sscanf(line, "%" SCNu64, &bytes) != 1) bytes = 0;
    fclose(f);
    return bytes;
}

// From the process's group up to the mount point; inside a container the group's path may be the host's, and absent.
static void look_up_groups(memory_budget *b, const char *mount, const char *group, const char *file,
                           const char *source) {
    char dir[PATH_CAP];
    const size_t base = strlen(mount);
    if (snprintf(dir, sizeof dir, "%s%s", mount, group) >= (int)sizeof dir) snprintf(dir, sizeof dir, "%s", mount);
    for (;;) {
        consider(b, read_bytes(dir, file), source);
        char *slash = strrchr(dir, '/');
        if (slash == NULL || slash < dir + base) return;
        *slash = 0;
    }
}

static bool names_memory(const char *controllers) {
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        const size_t n = strcspn(at, ",");
        if (n == 6 && memcmp(at, "memory", 6) == 0) return true;
    }
    return false;
}

// Lines of /proc/self/cgroup are "hierarchy:controllers:path"; version 2 names no controllers (cgroups(7)).
static void look_at_groups(memory_budget *b, const char *root) {
    char path[PATH_CAP], line[PATH_CAP], mount[PATH_CAP];
    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path) return;
    FILE *f = fopen(path, "re");
    if (f == NULL) return;
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) continue;
        controllers++;
        *group++ = 0;
        const bool v2 = controllers[0] == 0;
        if (!v2 && !names_memory(controllers)) continue;
        if (snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, v2 ? "" : "/memory") >= (int)sizeof mount)
            continue;
        if (v2) look_up_groups(b, mount, group, "memory.max", "cgroup v2");
        if (!v2) look_up_groups(b, mount, group, "memory.limit_in_bytes", "cgroup v1");
    }
    fclose(f);
}

static void look_at_limits(memory_budget *b) {
    struct rlimit r;
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY) consider(b, r.rlim_cur, "RLIMIT_AS");
    if (getrlimit(RLIMIT_DATA, &r) == 0 && r.rlim_cur != RLIM_INFINITY) consider(b, r.rlim_cur, "RLIMIT_DATA");
}

memory_budget memory_budget_find(const char *root) {
    memory_budget b = {.limit = UINT64_MAX, .source = "nothing"};
    look_at_machine(&b, root);
    look_at_groups(&b, root);
    look_at_limits(&b);
    b.bytes = b.limit == UINT64_MAX ? UINT64_MAX : b.limit - b.limit / 8;
    return b;
}
