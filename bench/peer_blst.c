// SPDX-License-Identifier: MIT OR Apache-2.0
//
// blst's Pippenger on the same sizes as msm_bench, one thread, the same rows. Built by peer_blst.sh; never part of the
// build or the tests. Arguments: smallest and largest log2 of the number of terms (12 18).
#define _POSIX_C_SOURCE 200809L
#include <blst.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seed = 1;
static uint64_t next(void) { // splitmix64
    uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, size_t n, double *times, double *cpu, unsigned runs) {
    qsort(cpu, runs, sizeof *cpu, compare);
    qsort(times, runs, sizeof *times, compare);
    printf("{\"bench\":\"%s\",\"n\":%zu,\"ns\":%.2f,\"min_ns\":%.2f,\"max_ns\":%.2f,\"cpu_ns\":%.2f,\"threads\":1,"
           "\"runs\":%u,"
           "\"peer\":\"blst\"}\n",
           name, n, times[runs / 2], times[0], times[runs - 1], cpu[runs / 2], runs);
    fflush(stdout);
}

enum { MAX_RUNS = 5 };

int main(int argc, char **argv) {
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 18;
    const size_t most = (size_t)1 << to;
    byte *scalars = malloc(most * 32);
    blst_p1 *j1 = malloc(most * sizeof *j1);
    blst_p2 *j2 = malloc(most * sizeof *j2);
    blst_p1_affine *p1 = malloc(most * sizeof *p1);
    blst_p2_affine *p2 = malloc(most * sizeof *p2);
    if (scalars == 0 || j1 == 0 || j2 == 0 || p1 == 0 || p2 == 0) return 1;
    // Distinct points by repeated addition, distinct scalars below 2^254.
    j1[0] = *blst_p1_generator(), j2[0] = *blst_p2_generator();
    blst_p1_double(&j1[0], &j1[0]), blst_p2_double(&j2[0], &j2[0]);
    for (size_t i = 1; i < most; i++) {
        blst_p1_add_or_double(&j1[i], &j1[i - 1], blst_p1_generator());
        blst_p2_add_or_double(&j2[i], &j2[i - 1], blst_p2_generator());
    }
    const blst_p1 *js1[] = {j1, 0};
    const blst_p2 *js2[] = {j2, 0};
    blst_p1s_to_affine(p1, js1, most);
    blst_p2s_to_affine(p2, js2, most);
    for (size_t i = 0; i < most * 32; i += 8) {
        const uint64_t v = i % 32 == 24 ? next() >> 2 : next();
        memcpy(scalars + i, &v, 8);
    }
    const blst_p1_affine *points1[] = {p1, 0};
    const blst_p2_affine *points2[] = {p2, 0};
    const byte *ks[] = {scalars, 0};
    for (unsigned log2 = from; log2 <= to; log2 += 2) {
        const size_t n = (size_t)1 << log2;
        const unsigned runs = log2 >= 18 ? 1 : MAX_RUNS;
        double times[MAX_RUNS], cpu[MAX_RUNS];
        limb_t *scratch = malloc(blst_p1s_mult_pippenger_scratch_sizeof(n));
        if (scratch == 0) return 1;
        for (unsigned i = 0; i < runs; i++) {
            blst_p1 out;
            const uint64_t start = now_ns();
            const double used = cpu_ns();
            blst_p1s_mult_pippenger(&out, points1, n, ks, 255, scratch);
            times[i] = (double)(now_ns() - start);
            cpu[i] = cpu_ns() - used;
        }
        report("msm_g1", n, times, cpu, runs);
        free(scratch);
        scratch = malloc(blst_p2s_mult_pippenger_scratch_sizeof(n));
        if (scratch == 0) return 1;
        for (unsigned i = 0; i < runs; i++) {
            blst_p2 out;
            const uint64_t start = now_ns();
            const double used = cpu_ns();
            blst_p2s_mult_pippenger(&out, points2, n, ks, 255, scratch);
            times[i] = (double)(now_ns() - start);
            cpu[i] = cpu_ns() - used;
        }
        report("msm_g2", n, times, cpu, runs);
        free(scratch);
    }
    free(scalars), free(j1), free(j2), free(p1), free(p2);
    return 0;
}
