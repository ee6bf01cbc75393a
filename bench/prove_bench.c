// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The whole proof and its stages, on a real sector: prove_bench [THREADS [RUNS [C1 [PARAMS_DIR]]]]. Defaults: all
// threads, 3 runs, the bundled 2 KiB sector, $CUZK_PARAMS_DIR. Without parameters there is nothing to time: it says how
// to make them on standard error and leaves with 0, so that `make bench` goes on.
//
// Rows: "prove" is everything from the C1 file's name to verified bytes, key included; "prove_warm" the same without
// loading the key; "stage_NAME" one stage.
#include <string.h>

#include "api/porep.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench.h"

enum { MAX_STAGES = 32 };

typedef struct stages {
    const char *name[MAX_STAGES];
    double ns[MAX_STAGES][BENCH_MAX_RUNS];
    unsigned n, run;
    uint64_t start;
} stages;

// Stages of one name add up within a run; none of those timed here has another inside it.
static void begin(void *ctx, const char *stage) {
    (void)stage;
    ((stages *)ctx)->start = clock_now_ns();
}
static void end(void *ctx, const char *stage) {
    stages *s = ctx;
    double ns = (double)(clock_now_ns() - s->start);
    unsigned i = 0;
    while (i < s->n && strcmp(s->name[i], stage) != 0) i++;
    if (i == MAX_STAGES) return;
    if (i == s->n) s->name[s->n++] = stage;
    s->ns[i][s->run] += ns;
}

static double stage_ns(const stages *s, const char *name, unsigned run) {
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->name[i], name) == 0) return s->ns[i][run];
    return 0;
}

static cuzk_status prove_once(const char *c1_path, const char *params, pool *p, const observer *o, cuzk_error *err) {
    c1_file *c1 = NULL;
    uint8_t *proof = NULL;
    size_t len;
    porep_prove_report report;
    porep_prove_options options = {.params_dir = params, .check = KEY_CHECK_FULL};
    cuzk_status s = porep_read_c1(&c1, c1_path, o, err);
    if (s == CUZK_OK) s = porep_prove(&proof, &len, &report, c1, &options, p, o, err);
    mem_free(proof);
    c1_destroy(&c1);
    return s;
}

int main(int argc, char **argv) {
    const char *dir = getenv("CUZK_PARAMS_DIR");
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    const char *c1 = argc > 3 ? argv[3] : "tests/vectors/cases/porep-2k-a/c1.json";
    const char *params = argc > 4 ? argv[4] : dir != NULL ? dir : ".cache/params";
    if (runs < 1 || runs > BENCH_MAX_RUNS) runs = 3;

    static stages st;
    observer o = {.stage_begin = begin, .stage_end = end, .ctx = &st};
    pool *p = NULL;
    cuzk_error err;
    if (pool_create(&p, threads, &err) != CUZK_OK) {
        fprintf(stderr, "prove_bench: %s\n", err.text);
        return 1;
    }
    double whole[BENCH_MAX_RUNS], warm[BENCH_MAX_RUNS];
    for (st.run = 0; st.run < runs; st.run++) {
        uint64_t start = clock_now_ns();
        cuzk_status s = prove_once(c1, params, p, &o, &err);
        if (s != CUZK_OK) {
            fprintf(stderr, "prove_bench: %s%s\n", err.text,
                    s == CUZK_ERR_IO ? " (`make demo` makes the parameters)" : "");
            pool_destroy(&p);
            return s == CUZK_ERR_IO ? 0 : 1;
        }
        whole[st.run] = (double)(clock_now_ns() - start);
        warm[st.run] = whole[st.run] - stage_ns(&st, "key_load", st.run);
    }
    unsigned used = pool_threads(p);
    pool_destroy(&p);
    bench_report("prove", 1, used, whole, runs);
    bench_report("prove_warm", 1, used, warm, runs);
    for (unsigned i = 0; i < st.n; i++) {
        char name[64];
        snprintf(name, sizeof name, "stage_%s", st.name[i]);
        bench_report(name, 1, used, st.ns[i], runs);
    }
    return 0;
}
