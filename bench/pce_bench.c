// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs of circuits: building one, packing a witness with it, evaluating it; and the reference beside them.
// "pce_bench C1-FILE [THREADS]"; without a file only the building of all sizes.
#include <stdlib.h>

#include "api/pce.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"
#include "r1cs/evaluate.h"
#include "vanilla/c1.h"

enum { RUNS = 7 };

static void must(cuzk_status s, const cuzk_error *err) {
    if (s == CUZK_OK) return;
    fprintf(stderr, "pce_bench: %s\n", err->text);
    exit(1);
}

static void build_all(void) {
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++) {
        pce_circuit which;
        cuzk_error err;
        double times[3];
        program_counts n;
        must(pce_by_name(&which, "porep", porep_size_name(*size), &err), &err);
        for (int i = 0; i < 3; i++) {
            program *p = NULL;
            const uint64_t start = clock_now_ns();
            must(pce_build(&p, &which, NULL, &err), &err);
            times[i] = (double)(clock_now_ns() - start);
            program_count(&n, p);
            program_destroy(&p);
        }
        char name[64];
        snprintf(name, sizeof name, "pce_build_%s", porep_size_name(*size));
        bench_report(&(bench_row){.name = name, .n = n.rows, .threads = 1}, times, NULL, 3);
        fprintf(stderr, "%s: %llu rows, %u templates, %u instances, %.1f MiB\n", name, (unsigned long long)n.rows,
                n.templates, n.instances, (double)n.bytes / (1 << 20));
    }
}

static void witness(const char *path, unsigned threads) {
    uint8_t *json;
    size_t len;
    cuzk_error err;
    c1_file *c1 = NULL;
    pool *pl = NULL;
    program *p = NULL;
    must(file_read_all(&json, &len, path, C1_MAX_BYTES, &err), &err);
    must(c1_parse(&c1, json, len, &err), &err);
    mem_free(json);
    must(pool_create(&pl, threads, &err), &err);
    const porep_circuit pc = {.shape = c1_input(c1)->shape, .input = c1_input(c1)};
    const circuit c = porep_circuit_bind(&pc);
    pce_circuit which;
    pce_of_porep(&which, &pc.shape);
    must(pce_build(&p, &which, NULL, &err), &err);
    program_counts n;
    program_count(&n, p);
    double pack[RUNS], evaluate[RUNS], again[RUNS], slow[RUNS];
    fr *abc = mem_alloc(MEM_EVALUATION, 3 * n.rows, sizeof(fr));
    if (abc == NULL) exit(1);
    for (int i = 0; i < RUNS; i++) {
        packed_witness *w = NULL;
        uint64_t failed, t0 = clock_now_ns();
        must(circuit_pack(&w, &c, &n, NULL, &err), &err);
        uint64_t t1 = clock_now_ns();
        pack[i] = (double)(t1 - t0);
        must(program_evaluate(abc, abc + n.rows, abc + 2 * n.rows, &failed, p, w, pl, &err), &err);
        evaluate[i] = (double)(clock_now_ns() - t1);
        t1 = clock_now_ns();
        must(program_evaluate(abc, abc + n.rows, abc + 2 * n.rows, &failed, p, w, pl, &err), &err);
        again[i] = (double)(clock_now_ns() - t1);
        if (failed != UINT64_MAX) fprintf(stderr, "constraint %llu does not hold\n", (unsigned long long)failed);
        packed_destroy(&w);
        circuit_witness_report r;
        t0 = clock_now_ns();
        if (i < 3) must(circuit_witness(&r, NULL, 0, &c, NULL, &err), &err);
        slow[i] = (double)(clock_now_ns() - t0);
    }
    bench_report(&(bench_row){.name = "pack", .n = n.aux, .threads = 1}, pack, NULL, RUNS);
    bench_report(&(bench_row){.name = "evaluate", .n = n.rows, .threads = pool_threads(pl)}, evaluate, NULL, RUNS);
    bench_report(&(bench_row){.name = "evaluate_warm", .n = n.rows, .threads = pool_threads(pl)}, again, NULL, RUNS);
    bench_report(&(bench_row){.name = "reference_witness_and_check", .n = n.rows, .threads = 1}, slow, NULL, 3);
    mem_free(abc);
    program_destroy(&p);
    pool_destroy(&pl);
    c1_destroy(&c1);
}

int main(int argc, char **argv) {
    if (argc > 1)
        witness(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    else
        build_all();
    return 0;
}
