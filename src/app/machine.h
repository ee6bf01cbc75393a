// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What this machine is, for reports: figures mean little without it.
#ifndef CUZK_APP_MACHINE_H
#define CUZK_APP_MACHINE_H

#include <stdint.h>

typedef struct machine {
    char processor[128]; // "AMD EPYC 9554 64-Core Processor", "?" where the system does not say
    char kernel[128];    // "Linux 6.1.0"
    const char *level;   // of base/cpu.h
    unsigned processors; // that are there
    unsigned usable;     // by this process
    uint64_t memory;     // bytes, 0: unknown
} machine;

machine machine_describe(void);

#endif
