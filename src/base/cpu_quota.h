// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to base: how many threads the operating system lets us use.
#ifndef CUZK_BASE_CPU_QUOTA_H
#define CUZK_BASE_CPU_QUOTA_H

// Processors in the affinity mask of the calling thread; 0 if it cannot be told.
unsigned cpu_affinity_count(void);

// Processors that the control group of this process may use, rounded up; 0 if unlimited or unknown. `root` is put in
// front of "/proc/self/cgroup" and "/sys/fs/cgroup/...": "" in production, a made-up tree in tests.
unsigned cpu_cgroup_limit(const char *root);

#endif
