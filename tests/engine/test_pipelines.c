// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The pipelines that the public daemon's history tells of, simulated from their durations and judged by the timeline's
// analysis. Published figures are in the comments; docs/pipelines.md has the table.
#include <math.h>

#include "engine/simulate_log.h"
#include "testing.h"

#define SECONDS(s) ((uint64_t)((s)*1e9 + 0.5))
#define GIB UINT64_C(1073741824)

typedef struct pipeline {
    simulate_result result;
    char *text;
    size_t len, cap;
    timeline_log *log;
    timeline_analysis *a;
} pipeline;

static bool keep(void *ctx, const char *text, size_t len) {
    pipeline *p = ctx;
    if (p->len + len > p->cap) {
        p->cap = 2 * (p->len + len) + 4096;
        p->text = realloc(p->text, p->cap);
        assert_non_null(p->text);
    }
    memcpy(p->text + p->len, text, len);
    p->len += len;
    return true;
}

static void analyse(pipeline *p) {
    cuzk_error err = {0};
    assert_int_equal(timeline_log_create(&p->log, &err), CUZK_OK);
    assert_int_equal(timeline_log_push(p->log, p->text, p->len, &err), CUZK_OK);
    assert_int_equal(timeline_log_finish(p->log, &err), CUZK_OK);
    if (timeline_analyse(&p->a, p->log, &TIMELINE_OPTIONS, &err) != CUZK_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < p->a->n_warnings; i++) fail_msg("the log is odd: %s", p->a->warnings[i]);
}

static void run(pipeline *p, const simulate_config *c) {
    memset(p, 0, sizeof *p);
    cuzk_error err = {0};
    if (simulate_run(&p->result, c, keep, p, &err) != CUZK_OK) fail_msg("%s", err.text);
    assert_int_equal(p->result.done, c->proofs);
    analyse(p);
}

static void release(pipeline *p) {
    timeline_analysis_destroy(&p->a);
    timeline_log_destroy(&p->log);
    free(p->text);
}

static simulate_config config(engine_policy policy, double synth, double gpu, uint32_t proofs) {
    simulate_config c = simulate_defaults();
    c.engine.policy = policy;
    c.proof = (simulate_time){SECONDS(synth), SECONDS(gpu)};
    c.proofs = proofs;
    return c;
}

static void near(double found, double expected, double tolerance, const char *what) {
    if (fabs(found - expected) > tolerance)
        fail_msg("%s: found %.6f, expected %.6f within %.6f", what, found, expected, tolerance);
}

// slot_size = 0: synthesis 38 s, GPU 26 s: the GPU idles 12 s in each cycle.
static void standard_idles_12_of_38_seconds(void **state) {
    (void)state;
    pipeline p;
    simulate_config c = config(ENGINE_STANDARD, 38, 26, 10);
    run(&p, &c);
    const timeline_summary *s = &p.a->steady;
    assert_true(s->present);
    near(s->avg_gap_us / 1e6, 12, 1e-6, "gap");
    near(s->utilization_pct, 100.0 * 26 / 38, 0.01, "utilisation");
    near(s->seconds_per_proof, 38, 1e-6, "s/proof");
    for (size_t i = 1; i < p.a->n_rows; i++) assert_int_equal(p.a->rows[i].gap_us, 12000000);
    release(&p);
}

static void two_syntheses_without_contention_saturate_the_device(void **state) {
    (void)state;
    pipeline p;
    simulate_config c = config(ENGINE_STANDARD, 38, 26, 20);
    c.engine.synthesis_concurrency = 2;
    c.concurrency = 4;
    run(&p, &c);
    assert_true(p.a->steady.utilization_pct > 99); // published: 99.3
    near(p.a->steady.seconds_per_proof, 26, 0.001, "s/proof");
    release(&p);
}

// With the recorded contention (39 -> 46 s, 26 -> 28 s) the published direction appears: gap 12 -> 10 s, utilisation
// 70.9 -> 78.1 %, but 46.1 -> 45.4 s a proof. The last is that of a short run with two clients.
static void contention_eats_what_parallel_synthesis_gains(void **state) {
    (void)state;
    pipeline one, two;
    double whole[2] = {0}, steady[2] = {0}, use[2] = {0}, gap[2] = {0};
    for (unsigned n = 0; n < 2; n++) {
        uint32_t proofs = n == 0 ? 3 : 20;
        simulate_config c = config(ENGINE_STANDARD, 39, 26, proofs);
        run(&one, &c);
        c.engine.synthesis_concurrency = 2;
        c.synth_contention = 46.0 / 39;
        c.gpu_contention = 28.0 / 26;
        run(&two, &c);
        if (n == 0) {
            whole[0] = one.a->summary.seconds_per_proof;
            whole[1] = two.a->summary.seconds_per_proof;
        } else {
            steady[0] = one.a->steady.seconds_per_proof, steady[1] = two.a->steady.seconds_per_proof;
            use[0] = one.a->steady.utilization_pct, use[1] = two.a->steady.utilization_pct;
            gap[0] = one.a->steady.avg_gap_us / 1e6, gap[1] = two.a->steady.avg_gap_us / 1e6;
        }
        release(&one);
        release(&two);
    }
    printf(
        "# utilisation %.1f -> %.1f %%, gap %.1f -> %.1f s, steady %.2f -> %.2f s/proof, three proofs %.2f -> %.2f\n",
        use[0], use[1], gap[0], gap[1], steady[0], steady[1], whole[0], whole[1]);
    assert_true(use[1] > use[0] + 5 && use[1] < 90);
    assert_true(gap[1] < gap[0]);
    assert_true(whole[1] < whole[0] && whole[1] > 0.95 * whole[0]); // barely better
    assert_true(steady[1] > 26 * 1.2); // far from the 26 s that two workers give without contention
    near(use[1], 78.1, 1, "utilisation, published 78.1");
}

static void slots_lower_the_memory_and_not_the_time(void **state) {
    (void)state;
    uint64_t peak[11];
    double pace[11];
    for (uint32_t slot = 1; slot <= 10; slot++) {
        pipeline p;
        simulate_config c = config(slot == 10 ? ENGINE_STANDARD : ENGINE_SLOTTED, 38, 26, 10);
        c.engine.slot_size = slot;
        c.partition_bytes = 136 * GIB / 10;
        c.key_bytes = 47 * GIB;
        run(&p, &c);
        peak[slot] = p.result.stats.memory_peak;
        pace[slot] = p.a->steady.seconds_per_proof;
        if (slot > 1) assert_true(peak[slot] >= peak[slot - 1]);
        release(&p);
    }
    printf("# peak memory: slots of 1 %.1f GiB, of 2 %.1f GiB, standard %.1f GiB\n", (double)peak[1] / (double)GIB,
           (double)peak[2] / (double)GIB, (double)peak[10] / (double)GIB);
    assert_true(3 * peak[2] < peak[10]);
    near(pace[2], pace[10], 0.001, "s/proof of slots against standard");
}

// Across sectors the pace is that of the slower side, whichever it is.
static void partitions_approach_the_slower_side(void **state) {
    (void)state;
    const double times[][2] = {{38, 26}, {26, 38}, {30, 30}};
    for (size_t i = 0; i < 3; i++) {
        pipeline p;
        simulate_config c = config(ENGINE_PARTITION, times[i][0], times[i][1], 20);
        c.concurrency = 3;
        run(&p, &c);
        double slower = fmax(times[i][0], times[i][1]), whole = p.a->summary.seconds_per_proof;
        printf("# synthesis %.0f s, GPU %.0f s: %.3f s/proof steady, %.3f over all 20 proofs, %.2f %% above max(...)\n",
               times[i][0], times[i][1], p.a->steady.seconds_per_proof, whole, 100 * (whole / slower - 1));
        near(p.a->steady.seconds_per_proof, slower, 0.02 * slower, "steady s/proof");
        assert_true(whole >= slower && whole < 1.01 * slower);
        release(&p);
    }
}

// The one published waterfall: two clients in a closed loop, two synthesis workers.
static const struct {
    double synth, gpu;
} PUBLISHED[] = {{47.200, 26.733}, {47.474, 33.764}, {47.340, 30}}; // how long P3 ran was not published

static simulate_time published_times[3 * 10];

static simulate_config published(uint32_t proofs, uint32_t in_flight) {
    simulate_config c = config(ENGINE_STANDARD, 1, 1, proofs);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 10; k++)
            published_times[10 * i + k] =
                (simulate_time){SECONDS(PUBLISHED[i].synth) / 10, SECONDS(PUBLISHED[i].gpu) / 10};
    c.times = published_times;
    c.n_times = 3;
    c.concurrency = in_flight;
    c.engine.synthesis_concurrency = 2;
    c.pickup_ns = SECONDS(0.019);
    return c;
}

static void the_published_waterfall(void **state) {
    (void)state;
    pipeline p;
    simulate_config c = published(3, 2);
    run(&p, &c);
    assert_int_equal(p.a->n_rows, 3);
    const timeline_row *r = p.a->rows;
    near((double)r[1].gap_us / 1000, 19, 1, "gap before P2 in ms");
    near((double)r[2].gap_us / 1000, 13557, 100, "gap before P3 in ms");
    near((double)r[0].synth_us / 1000, 47200, 1, "synthesis of P1");
    near((double)r[1].gpu_us / 1000, 33764, 1, "device run of P2");
    near((double)r[2].gpu_start / 1000, 121270, 100, "start of P3"); // 47.200 + 26.733 + 47.340
    // Synthesis was not the bottleneck: nothing had been submitted.
    bool found = false;
    for (size_t i = 0; i < p.a->n_gaps; i++) {
        const timeline_gap *g = &p.a->gaps[i];
        if (g->to_us != r[2].gpu_start) continue;
        found = true;
        assert_int_equal(g->cause, CAUSE_NO_JOB);
        assert_true(g->share[CAUSE_NO_JOB] > 99 * (g->to_us - g->from_us) / 100);
    }
    assert_true(found);
    release(&p);

    c = published(12, 3);
    run(&p, &c);
    for (size_t i = 1; i < p.a->n_rows; i++)
        near((double)p.a->rows[i].gap_us / 1000, 19, 1, "gap with three in flight");
    assert_true(p.a->steady.utilization_pct > 99);
    release(&p);
}

// A log of one run, simulated again as it was, gives the same run; with two devices it answers "what if".
static void a_recorded_run_can_be_replayed(void **state) {
    (void)state;
    const engine_policy policies[] = {ENGINE_STANDARD, ENGINE_SLOTTED, ENGINE_PARTITION};
    for (size_t i = 0; i < 3; i++) {
        pipeline p, again;
        simulate_config c = published(9, 3);
        c.engine.policy = policies[i];
        c.engine.slot_size = 2;
        c.key_load_ns = SECONDS(5);
        c.pickup_ns = 0;
        run(&p, &c);
        simulate_learned l;
        cuzk_error err = {0};
        if (simulate_learn(&l, p.a, 0, &err) != CUZK_OK) fail_msg("%s", err.text);
        assert_int_equal(l.proofs, 9);
        assert_int_equal(l.partitions, 10);
        assert_int_equal(l.concurrency, 3);
        assert_int_equal(l.synthesis_concurrency, 2);
        assert_int_equal(l.devices, 1);
        assert_int_equal(l.key_load_ns, SECONDS(5));
        assert_int_equal(l.unit, policies[i] == ENGINE_STANDARD ? 10 : policies[i] == ENGINE_SLOTTED ? 2 : 1);
        simulate_config d = c;
        d.times = l.times;
        d.n_times = l.proofs;
        run(&again, &d);
        near((double)again.result.wall_ns / 1e9, (double)p.result.wall_ns / 1e9, 0.01, "wall time of the replay");
        release(&again);
        d.engine.devices = 2;
        d.engine.synthesis_concurrency = 4;
        d.concurrency = 6;
        run(&again, &d);
        assert_true(again.result.wall_ns < p.result.wall_ns * 7 / 10);
        release(&again);
        simulate_learned_release(&l);
        // Another number of partitions: the same time in all.
        assert_int_equal(simulate_learn(&l, p.a, 4, &err), CUZK_OK);
        double sum = 0;
        for (uint32_t k = 0; k < 4; k++) sum += (double)l.times[k].synth_ns / 1e9;
        near(sum, PUBLISHED[0].synth, 0.001, "synthesis of P1 in four parts");
        simulate_learned_release(&l);
        release(&p);
    }
}

static void the_public_daemons_log_is_understood(void **state) {
    (void)state;
    static const char LOG[] = "TIMELINE,0,SYNTH_START,a-1,worker=0\n"
                              "2025-01-01 INFO something else\n"
                              "TIMELINE,38000,SYNTH_END,a-1,synth_ms=38000\n"
                              "TIMELINE,38000,GPU_QUEUE,a-1,x\n"
                              "TIMELINE,38001,GPU_PICKUP,a-1,worker=0,gpu=0\n"
                              "TIMELINE,38001,GPU_START,a-1,worker=0,gpu=0\n"
                              "TIMELINE,64001,GPU_END,a-1,gpu_ms=26000\n";
    pipeline p = {0};
    keep(&p, LOG, sizeof LOG - 1);
    cuzk_error err = {0};
    assert_int_equal(timeline_log_create(&p.log, &err), CUZK_OK);
    assert_int_equal(timeline_log_push(p.log, p.text, p.len, &err), CUZK_OK);
    assert_int_equal(timeline_log_finish(p.log, &err), CUZK_OK);
    assert_int_equal(timeline_analyse(&p.a, p.log, &TIMELINE_OPTIONS, &err), CUZK_OK);
    simulate_learned l;
    assert_int_equal(simulate_learn(&l, p.a, 10, &err), CUZK_OK);
    assert_int_equal(l.partitions, 10);
    near((double)l.times[3].synth_ns / 1e9, 3.8, 1e-6, "a tenth of the synthesis");
    near((double)l.times[9].gpu_ns / 1e9, 2.6, 1e-6, "a tenth of the device run");
    simulate_learned_release(&l);
    release(&p);
}

static void a_budget_throttles(void **state) {
    (void)state;
    pipeline p;
    simulate_config c = config(ENGINE_PARTITION, 38, 26, 6);
    c.engine.synthesis_concurrency = 8;
    c.engine.lookahead = 8;
    c.concurrency = 4;
    c.partition_bytes = 136 * GIB / 10;
    c.key_bytes = 47 * GIB;
    c.key_load_ns = SECONDS(60);
    c.engine.memory_budget = 80 * GIB; // the key and two partitions
    run(&p, &c);
    assert_true(p.result.stats.memory_peak <= 80 * GIB);
    bool memory = false;
    for (size_t i = 0; i < p.a->n_gaps; i++) memory |= p.a->gaps[i].share[CAUSE_MEMORY] > 0;
    assert_true(memory);
    release(&p);
    c.engine.memory_budget = 50 * GIB; // less than one job can do with
    simulate_result r;
    cuzk_error err = {0};
    assert_int_equal(simulate_run(&r, &c, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(r.done, 0);
    assert_int_equal(r.refused, 6);
    assert_int_equal(r.reason, ENGINE_TOO_BIG);
}

static void open_loop_and_batches(void **state) {
    (void)state;
    pipeline p;
    simulate_config c = config(ENGINE_PARTITION, 38, 26, 10);
    c.arrival_ns = SECONDS(100);
    run(&p, &c);
    for (size_t i = 0; i < p.a->n_proofs; i++)
        near((double)p.a->proofs[i].submit / 1e6, 100.0 * (double)i, 1e-3, "arrival");
    release(&p);
    c = config(ENGINE_BATCH, 38, 26, 8);
    c.engine.batch_size = 2;
    c.engine.batch_wait_ns = SECONDS(1000);
    c.concurrency = 4;
    run(&p, &c);
    // Two proofs at a time: the first answer comes only after two syntheses and two device runs.
    near((double)p.a->rows[0].gpu_start / 1e6, 76, 1e-3, "first device run");
    near((double)p.a->rows[0].gpu_us / 1e6, 52, 1e-3, "device run of a batch");
    near(p.a->summary.seconds_per_proof, (4 * 76 + 52) / 8.0, 0.01, "s/proof of batches");
    release(&p);
}

static void senseless_loads_are_refused(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        simulate_config c = config(ENGINE_STANDARD, 1, 1, 1);
        if (i == 0) c.proofs = 0;
        if (i == 1) c.partitions = 0;
        if (i == 2) c.concurrency = 0;
        if (i == 3) c.synth_contention = 0.5;
        if (i == 4) c.gpu_contention = NAN;
        simulate_result r;
        cuzk_error err = {0};
        assert_int_equal(simulate_run(&r, &c, NULL, NULL, &err), CUZK_ERR_USAGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_idles_12_of_38_seconds),
        cmocka_unit_test(two_syntheses_without_contention_saturate_the_device),
        cmocka_unit_test(contention_eats_what_parallel_synthesis_gains),
        cmocka_unit_test(slots_lower_the_memory_and_not_the_time),
        cmocka_unit_test(partitions_approach_the_slower_side),
        cmocka_unit_test(the_published_waterfall),
        cmocka_unit_test(a_recorded_run_can_be_replayed),
        cmocka_unit_test(the_public_daemons_log_is_understood),
        cmocka_unit_test(a_budget_throttles),
        cmocka_unit_test(open_loop_and_batches),
        cmocka_unit_test(senseless_loads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
