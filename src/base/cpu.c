// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

enum { XCR0_AVX = 0x06, XCR0_AVX512 = 0xe6 };

// Which register states the operating system saves; the processor may have AVX-512 and the system not (Intel SDM
// volume 1, 13.3 and 15.2). Only after CPUID has shown OSXSAVE.
static uint32_t xcr0(void) {
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

static void detect(cpu_level *level, bool *sha) {
    *level = CPU_PORTABLE;
    *sha = false;
    uint32_t a, b, c, d, b7, c7, d7;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return;
    const uint32_t sse = bit_SSSE3 | bit_SSE4_1; // the byte shuffles and blends around SHA instructions
    *sha = (c & sse) == sse && (b7 & bit_SHA) != 0;
    if ((c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return;
    const uint32_t saved = xcr0();
    const uint32_t avx2 = bit_AVX2 | bit_BMI2 | bit_ADX;
    if ((saved & XCR0_AVX) != XCR0_AVX || (b7 & avx2) != avx2 || (c & bit_FMA) == 0) return;
    *level = CPU_AVX2;
    const uint32_t ifma = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL | bit_AVX512IFMA;
    if ((saved & XCR0_AVX512) != XCR0_AVX512 || (b7 & ifma) != ifma) return;
    *level = CPU_IFMA;
}
#else
static void detect(cpu_level *level, bool *sha) {
    *level = CPU_PORTABLE;
    *sha = false;
}
#endif

// 0 is "not looked yet"; otherwise KNOWN | level, with SHA. Two threads that look at the same time find the same.
enum { KNOWN = 0x100, SHA = 0x200, LEVEL = 0xff };
static _Atomic unsigned found;
static _Atomic unsigned mask = CPU_IFMA;

static cpu_level level_from_environment(void) {
    const char *text = getenv("CUZK_CPU");
    if (text != NULL) {
        for (int level = CPU_PORTABLE; level <= CPU_IFMA; level++) {
            if (strcmp(text, cpu_level_name((cpu_level)level)) == 0) return (cpu_level)level;
        }
    }
    return CPU_IFMA; // unset, or a word we do not know: no limit
}

static unsigned look(void) {
    unsigned value = atomic_load_explicit(&found, memory_order_relaxed);
    if (value != 0) return value;
    cpu_level level, limit = level_from_environment();
    bool sha;
    detect(&level, &sha);
    if (level > limit) level = limit;
    value = KNOWN | (unsigned)level | (sha && limit != CPU_PORTABLE ? SHA : 0u);
    atomic_store_explicit(&found, value, memory_order_relaxed);
    return value;
}

cpu_level cpu_current(void) {
    unsigned level = look() & LEVEL, limit = atomic_load_explicit(&mask, memory_order_relaxed);
    return (cpu_level)(level < limit ? level : limit);
}

void cpu_set_mask(cpu_level highest) {
    unsigned now = atomic_load(&mask);
    while ((unsigned)highest < now && !atomic_compare_exchange_weak(&mask, &now, (unsigned)highest)) {
    }
}

bool cpu_has_sha(void) {
    return (look() & SHA) != 0 && atomic_load_explicit(&mask, memory_order_relaxed) != CPU_PORTABLE;
}

const char *cpu_level_name(cpu_level level) {
    switch (level) {
    case CPU_PORTABLE: return "portable";
    case CPU_AVX2: return "avx2";
    case CPU_IFMA: return "ifma";
    }
    return "unknown";
}

bool cpu_kernels_work(cpu_verdict *verdict, cpu_level level, bool (*test)(cpu_level level)) {
    enum { UNTESTED, PASSED, FAILED };
    int known = atomic_load_explicit(verdict, memory_order_relaxed);
    if (known == UNTESTED) {
        known = test(level) ? PASSED : FAILED;
        atomic_store_explicit(verdict, known, memory_order_relaxed);
    }
    return known == PASSED;
}
