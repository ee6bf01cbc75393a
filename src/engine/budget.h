// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How much memory the engine may plan with when nobody says: what the machine has left, or what a container or a limit
// on the process leaves of it, whichever is least.
#ifndef CUZK_ENGINE_BUDGET_H
#define CUZK_ENGINE_BUDGET_H

#include <stdint.h>

typedef struct memory_budget {
    uint64_t bytes;     // to plan with: an eighth less than `limit`, for what is not counted in units and keys
    uint64_t limit;     // what was found
    const char *source; // "MemAvailable", "cgroup v2", "cgroup v1", "RLIMIT_AS", "RLIMIT_DATA"; "nothing" if none was
} memory_budget;

// `root` is put in front of /proc and /sys: "" in production, a made-up tree in tests. Never zero: where nothing can be
// found out, bytes is UINT64_MAX.
memory_budget memory_budget_find(const char *root);

#endif
