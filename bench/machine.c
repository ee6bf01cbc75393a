// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.h"

#include "base/mem.h"
#include "bench.h"
#include "field/limb.h"

enum { BURSTS = 12, BLOCK = 16, LOOPS = 1 << 20, WORDS = 1 << 24, TASKS = 64, PASSES = 8 };

// The empty asm makes a value opaque: sums are neither folded nor left out.
#define OPAQUE(x) __asm__ __volatile__("" : "+r"(x))

// LOOPS times BLOCK additions, each of which waits for the one before.
static uint64_t add_chain(uint64_t y) {
    uint64_t x = 0;
    for (int i = 0; i < LOOPS; i++)
        for (int k = 0; k < BLOCK; k++) {
            x += y;
            OPAQUE(x);
        }
    return x;
}

// LOOPS times BLOCK multiplications to 128 bits, in eight chains.
static uint64_t mul_loop(uint64_t y) {
    uint64_t x[BLOCK / 2], sum = 0;
    for (int k = 0; k < BLOCK / 2; k++) x[k] = y + (uint64_t)k;
    for (int i = 0; i < LOOPS; i++)
        for (int k = 0; k < BLOCK; k++) {
            x[k % (BLOCK / 2)] = (uint64_t)((u128)x[k % (BLOCK / 2)] * y >> 64);
            OPAQUE(x[k % (BLOCK / 2)]);
        }
    for (int k = 0; k < BLOCK / 2; k++) sum += x[k];
    return sum;
}

#if defined(BENCH_HAVE_VECTORS)
static uint64_t fma_loop(uint64_t y) { return bench_fma_loop(LOOPS + (y & 1)); }
static uint64_t ifma_loop(uint64_t y) { return bench_ifma_loop(LOOPS + (y & 1)); }
#endif

// Operations a nanosecond of the fastest burst: others' use of the machine only takes away.
static double rate(uint64_t (*loop)(uint64_t), double operations) {
    static volatile uint64_t sink;
    double best = 0;
    for (int i = 0; i < BURSTS; i++) {
        const double start = bench_cpu_ns();
        sink = loop(UINT64_C(0xfedcba9876543211) + sink % 2);
        const double ns = bench_cpu_ns() - start;
        if (ns > 0 && operations / ns > best) best = operations / ns;
    }
    return best;
}

const bench_machine *bench_machine_get(void) {
    static bench_machine m;
    if (m.ghz > 0) return &m;
    const double operations = (double)LOOPS * BLOCK;
    m.ghz = rate(add_chain, operations);
    m.mul_per_ns = rate(mul_loop, operations);
#if defined(BENCH_HAVE_VECTORS)
    if (cpu_current() >= CPU_AVX2) m.fma_per_ns = rate(fma_loop, (double)LOOPS * BENCH_VECTOR_BLOCK);
    if (cpu_current() >= CPU_IFMA) m.ifma_per_ns = rate(ifma_loop, (double)LOOPS * BENCH_VECTOR_BLOCK);
#endif
    printf("{\"bench\":\"machine\",\"ghz\":%.3f,\"mul_per_ns\":%.3f,\"fma_per_ns\":%.3f,\"ifma_per_ns\":%.3f}\n", m.ghz,
           m.mul_per_ns, m.fma_per_ns, m.ifma_per_ns);
    return &m;
}

// --- Memory ---

typedef struct arrays {
    uint64_t *a, *b, *c;
} arrays;

static void fill(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    uint64_t *a = ((arrays *)ctx)->a + task * (WORDS / TASKS);
    for (size_t i = 0; i < WORDS / TASKS; i++) a[i] = i;
}
static void copy(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const arrays *x = ctx;
    const size_t at = task * (WORDS / TASKS);
    for (size_t i = at; i < at + WORDS / TASKS; i++) x->a[i] = x->b[i] ^ 1;
}
static void triad(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const arrays *x = ctx;
    const size_t at = task * (WORDS / TASKS);
    for (size_t i = at; i < at + WORDS / TASKS; i++) x->a[i] = x->b[i] + (x->c[i] << 1);
}

static double bandwidth(const char *name, pool *p, double words, void (*fn)(void *, size_t, unsigned), arrays *x) {
    double times[PASSES], cpu[PASSES];
    const bench_row row = {.name = name, .n = WORDS, .threads = pool_threads(p), .bytes = words * 8 * WORDS};
    for (int i = 0; i < PASSES; i++) {
        const uint64_t start = clock_now_ns();
        const double used = bench_cpu_ns();
        pool_run(p, TASKS, fn, x);
        cpu[i] = bench_cpu_ns() - used;
        times[i] = (double)(clock_now_ns() - start);
    }
    bench_report(&row, times, cpu, PASSES);
    return row.bytes * row.threads / cpu[PASSES / 2]; // of the median: a pass of one thread alone is the cheapest
}

bench_bandwidth bench_bandwidth_measure(pool *p) {
    bench_bandwidth out = {0};
    arrays x = {mem_alloc(MEM_MISC, WORDS, 8), mem_alloc(MEM_MISC, WORDS, 8), mem_alloc(MEM_MISC, WORDS, 8)};
    if (x.a != NULL && x.b != NULL && x.c != NULL) {
        for (size_t i = 0; i < WORDS; i++) x.a[i] = x.b[i] = x.c[i] = i;
        out.fill = bandwidth("memory_fill", p, 1, fill, &x);
        out.copy = bandwidth("memory_copy", p, 2, copy, &x);
        out.triad = bandwidth("memory_triad", p, 3, triad, &x);
    }
    mem_free(x.a), mem_free(x.b), mem_free(x.c);
    return out;
}
