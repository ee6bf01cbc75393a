// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does looking on disturb? toy10 jobs (ten real proofs each) through the runtime on the CPU device, with and without a
// timeline being written, in turn so that a drifting machine hurts both alike. Rows: "runtime_toy10" and
// "runtime_toy10_timeline", n jobs a run, nanoseconds a run.
#include "base/bytes.h"
#include "bench.h"
#include "circuit/toy/toy.h"
#include "engine/provider_toy.h"
#include "engine/runtime.h"

enum { JOBS = 8, PAIRS = 9 };

static bool run(double *ns, const provider *toys, device *cpu, recorder *rec) {
    runtime_options o = {.engine = runtime_default_config(),
                         .devices = &cpu,
                         .n_devices = 1,
                         .providers = &toys,
                         .n_providers = 1,
                         .rec = rec};
    runtime *rt = NULL;
    runtime_job jobs[JOBS];
    bool good = runtime_create(&rt, &o, NULL) == CUZK_OK;
    uint64_t start = clock_now_ns();
    for (uint64_t i = 0; i < JOBS && good; i++) {
        uint8_t seed[TOY_INPUT_BYTES];
        engine_reason reason;
        store_le64(seed, i);
        const runtime_request r = {.kind = "toy10", .input = seed, .input_len = sizeof seed, .priority = ENGINE_NORMAL};
        good = runtime_submit(rt, &jobs[i], NULL, &reason, &r, NULL) == CUZK_OK;
    }
    for (uint64_t i = 0; i < JOBS && good; i++) {
        runtime_result *r = NULL;
        good = runtime_await(rt, &r, jobs[i], UINT64_MAX, NULL) == CUZK_OK && r->state == ENGINE_DONE;
        runtime_result_free(&r);
    }
    *ns = (double)(clock_now_ns() - start);
    runtime_destroy(&rt);
    return good;
}

int main(void) {
    provider *toys = NULL;
    device *cpu = NULL;
    recorder *rec = NULL;
    recorder_options ro = RECORDER_OPTIONS;
    ro.path = "/dev/null";
    double plain[PAIRS], recorded[PAIRS], warm;
    bool good = provider_toy_create(&toys, "toy10", &TOY10, "cuzk test", NULL) == CUZK_OK &&
                device_open_cpu(&cpu, 1, NULL) == CUZK_OK && recorder_create(&rec, &ro, NULL) == CUZK_OK &&
                run(&warm, toys, cpu, NULL);
    for (int i = 0; i < PAIRS && good; i++) good = run(&plain[i], toys, cpu, NULL) && run(&recorded[i], toys, cpu, rec);
    if (good) {
        bench_report("runtime_toy10", JOBS, 1, plain, PAIRS);
        bench_report("runtime_toy10_timeline", JOBS, 1, recorded, PAIRS);
    } else {
        fprintf(stderr, "runtime_bench: the runtime did not do its work\n");
    }
    (void)recorder_close(&rec, NULL);
    device_close(&cpu);
    provider_toy_destroy(&toys);
    return good ? 0 : 1;
}
