// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does looking on disturb? toy10 jobs (ten real proofs each) through the runtime on the CPU device, with and without a
// timeline being written, in turn so that a drifting machine hurts both alike: "runtime_bench [JOBS [PAIRS]]" (2 4).
// Rows: "runtime_toy10" and "runtime_toy10_timeline", n jobs a run, nanoseconds a run.
#include "base/bytes.h"
#include "bench.h"
#include "circuit/toy/toy.h"
#include "api/provider_toy.h"
#include "engine/runtime.h"

enum { MOST_JOBS = 64 };

static bool run(double *ns, unsigned n, const provider *toys, device *cpu, recorder *rec) {
    runtime_options o = {.engine = runtime_default_config(),
                         .devices = &cpu,
                         .n_devices = 1,
                         .providers = &toys,
                         .n_providers = 1,
                         .rec = rec};
    runtime *rt = NULL;
    runtime_job jobs[MOST_JOBS];
    bool good = runtime_create(&rt, &o, NULL) == CUZK_OK;
    uint64_t start = clock_now_ns();
    for (uint64_t i = 0; i < n && good; i++) {
        uint8_t seed[TOY_INPUT_BYTES];
        engine_reason reason;
        store_le64(seed, i);
        const runtime_request r = {.kind = "toy10", .input = seed, .input_len = sizeof seed, .priority = ENGINE_NORMAL};
        good = runtime_submit(rt, &jobs[i], NULL, &reason, &r, NULL) == CUZK_OK;
    }
    for (uint64_t i = 0; i < n && good; i++) {
        runtime_result *r = NULL;
        good = runtime_await(rt, &r, jobs[i], UINT64_MAX, NULL) == CUZK_OK && r->state == ENGINE_DONE;
        runtime_result_free(&r);
    }
    *ns = (double)(clock_now_ns() - start);
    runtime_destroy(&rt);
    return good;
}

int main(int argc, char **argv) {
    const unsigned jobs = argc > 1 ? (unsigned)atoi(argv[1]) : 2, pairs = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
    if (jobs < 1 || jobs > MOST_JOBS || pairs < 1 || pairs > BENCH_MAX_RUNS) return 2;
    pce_cache *programs = NULL;
    provider *toys = NULL;
    device *cpu = NULL;
    recorder *rec = NULL;
    recorder_options ro = RECORDER_OPTIONS;
    ro.path = "/dev/null";
    double plain[BENCH_MAX_RUNS], recorded[BENCH_MAX_RUNS], warm;
    bool good = pce_cache_create(&programs, NULL, NULL) == CUZK_OK &&
                provider_toy_create(&toys, "toy10", &TOY10, "cuzk test", programs, NULL) == CUZK_OK &&
                device_open_cpu(&cpu, 1, NULL) == CUZK_OK && recorder_create(&rec, &ro, NULL) == CUZK_OK &&
                run(&warm, jobs, toys, cpu, NULL);
    for (unsigned i = 0; i < pairs && good; i++)
        good = run(&plain[i], jobs, toys, cpu, NULL) && run(&recorded[i], jobs, toys, cpu, rec);
    if (good) {
        bench_report(&(bench_row){.name = "runtime_toy10", .n = jobs, .threads = 1}, plain, NULL, pairs);
        bench_report(&(bench_row){.name = "runtime_toy10_timeline", .n = jobs, .threads = 1}, recorded, NULL, pairs);
    } else {
        fprintf(stderr, "runtime_bench: the runtime did not do its work\n");
    }
    (void)recorder_close(&rec, NULL);
    device_close(&cpu);
    provider_toy_destroy(&toys);
    pce_cache_destroy(&programs);
    return good ? 0 : 1;
}
