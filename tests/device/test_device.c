// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Devices: the CPU proves units and can be stopped; the simulated one does what it is told, no more and no less.
#include <pthread.h>
#include <stdatomic.h>

#include "testing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "circuit/toy/toy.h"
#include "device/sim.h"
#include "groth16/setup.h"
#include "groth16/verify.h"

enum { PARTS = 3 };
static const toy_shape SHAPE = {32, PARTS};
static groth16_pk *PK;

// A unit of the toy circuit, and what was seen while it was proven.
typedef struct unit {
    groth16_assignment *parts[PARTS];
    groth16_blinding blinding[PARTS];
    groth16_proof proofs[PARTS];
    uint64_t seed;
    int kernels_done, assembled, assembled_before; // the last: assemblies begun before kernels_done
    int depth, stages, stop_after;                 // stop_after >= 0: cancelled once so many stages began
    const char *stop_in;                           // cancelled while this stage goes on
    bool in_it;
    atomic_bool stop;
} unit;

static void stage_begin(void *ctx, const char *stage) {
    unit *u = ctx;
    u->depth++;
    u->stages++;
    if (strcmp(stage, "assemble") == 0) u->assembled++;
    u->in_it = u->stop_in != NULL && strcmp(stage, u->stop_in) == 0;
}
static void stage_end(void *ctx, const char *stage) {
    unit *u = ctx;
    (void)stage;
    u->depth--;
    u->in_it = false;
}
static bool cancelled(void *ctx) {
    unit *u = ctx;
    return atomic_load(&u->stop) || u->in_it || (u->stop_after >= 0 && u->stages >= u->stop_after);
}
static void kernels_done(void *ctx) {
    unit *u = ctx;
    u->kernels_done++;
    u->assembled_before = u->assembled;
}

static void unit_make(unit *u, uint64_t seed, const toy_shape *shape) {
    memset(u, 0, sizeof *u);
    u->seed = seed;
    u->stop_after = -1;
    for (uint32_t i = 0; i < PARTS; i++) {
        const toy_circuit t = {.shape = *shape, .seed = seed, .partition = i};
        const circuit c = toy_circuit_bind(&t);
        assert_int_equal(groth16_synthesize(&u->parts[i], &c, NULL, NULL), CUZK_OK);
        groth16_blinding_from_label(&u->blinding[i], "device test", i);
    }
}

static void unit_free(unit *u) {
    for (int i = 0; i < PARTS; i++) groth16_assignment_destroy(&u->parts[i]);
}

static cuzk_status unit_prove(unit *u, device *d, const device_key *key, device_fault *fault, cuzk_error *err) {
    const observer obs = {stage_begin, stage_end, NULL, cancelled, u};
    const device_run run = {key, PARTS, u->parts, u->blinding, &obs, kernels_done, u};
    return device_prove(d, u->proofs, fault, &run, err);
}

static bool good(const unit *u, uint32_t i) {
    fr input;
    toy_public_input(&input, &SHAPE, u->seed, i);
    return groth16_verify(&PK->vk, &u->proofs[i], &input, 1, NULL) == CUZK_OK;
}

static void cpu_proves_and_stops(void **state) {
    (void)state;
    device *d = NULL;
    device_key *key = NULL;
    uint64_t bytes = 1;
    unit u;
    device_fault fault;
    cuzk_error err = {0};
    assert_int_equal(device_open_cpu(&d, 2, &err), CUZK_OK);
    assert_string_equal(device_name(d), "cpu");
    assert_int_equal(device_threads(d), 2);
    assert_int_equal(device_key_load(&key, &bytes, d, PK, &err), CUZK_OK);
    assert_int_equal(bytes, 0);
    unit_make(&u, 1, &SHAPE);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_OK);
    for (uint32_t i = 0; i < PARTS; i++) assert_true(good(&u, i));
    assert_int_equal(u.kernels_done, 1);
    assert_int_equal(u.assembled, PARTS);
    assert_int_equal(u.assembled_before, PARTS - 1); // before the last one was put together
    assert_int_equal(u.depth, 0);
    const int stages = u.stages;
    unit_free(&u);
    // At any stage: stopped soon, nothing left open, nothing leaked.
    for (int at = 0; at < stages; at += 4) {
        unit_make(&u, 2, &SHAPE);
        u.stop_after = at;
        cuzk_status s = unit_prove(&u, d, key, &fault, &err);
        if (s != CUZK_OK) { // after its last look it may well finish
            assert_int_equal(s, CUZK_ERR_CANCELLED);
            assert_int_equal(fault, DEVICE_STOPPED);
            assert_true(u.stages <= at + 2);
        } else
            assert_true(at > stages - 4);
        assert_int_equal(u.depth, 0);
        unit_free(&u);
    }
    // Within the long stages.
    const char *const sums[] = {"msm_h", "msm_l", "msm_a", "msm_b_g1", "msm_b_g2"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        unit_make(&u, 2, &SHAPE);
        u.stop_in = sums[i];
        assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_CANCELLED);
        assert_int_equal(fault, DEVICE_STOPPED);
        assert_int_equal(u.depth, 0);
        assert_int_equal(u.assembled, 0);
        unit_free(&u);
    }
    unit_make(&u, 2, &SHAPE); // nothing of it stays
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_OK);
    assert_true(good(&u, 0));
    unit_free(&u);
    const toy_shape other = {64, PARTS};
    unit_make(&u, 3, &other);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_MISMATCH);
    assert_int_equal(fault, DEVICE_MISMATCH);
    assert_non_null(strstr(err.text, "partition 0 of 3"));
    unit_free(&u);
    device_key_free(d, &key);
    assert_null(key);
    device_close(&d);
    device_close(&d);
}

typedef struct script {
    sim_fault faults[8];
    int n;
} script;
static sim_fault from_script(void *ctx, uint64_t run, uint32_t partitions) {
    const script *s = ctx;
    (void)partitions;
    return run < (uint64_t)s->n ? s->faults[run] : (sim_fault){SIM_GOOD, 0, 0};
}

static void *stop_soon(void *arg) {
    unit *u = arg;
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    atomic_store(&u->stop, true);
    return NULL;
}

static void sim_does_as_told(void **state) {
    (void)state;
    script s = {{{SIM_WRONG, 0, 4},
                 {SIM_OUT_OF_MEMORY, 0, 0},
                 {SIM_ABORT, 0, 0},
                 {SIM_HANG, 0, 0},
                 {SIM_DELAY, 30 * 1000 * 1000, 0},
                 {SIM_STUCK, 0, 0}},
                6};
    sim_options o = {.kernel_ns = 1000, .fault = from_script, .ctx = &s};
    device *d = NULL;
    device_key *key = NULL;
    uint64_t bytes;
    device_fault fault;
    cuzk_error err = {0};
    unit u;
    assert_int_equal(device_open_cpu(&o.inner, 1, &err), CUZK_OK);
    assert_int_equal(device_open_sim(&d, &o, &err), CUZK_OK);
    assert_int_equal(device_key_load(&key, &bytes, d, PK, &err), CUZK_OK);
    assert_int_equal(sim_stats_of(d).keys, 1);

    unit_make(&u, 1, &SHAPE);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_OK);
    assert_true(good(&u, 0));
    assert_false(good(&u, 1)); // 4 mod 3
    assert_true(good(&u, 2));
    assert_int_equal(u.kernels_done, 1);
    unit_free(&u);

    unit_make(&u, 2, &SHAPE);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_MEMORY);
    assert_int_equal(fault, DEVICE_OUT_OF_MEMORY);
    assert_int_equal(u.kernels_done, 0);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_INTERNAL);
    assert_int_equal(fault, DEVICE_BROKEN);

    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, stop_soon, &u), 0);
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_CANCELLED);
    assert_int_equal(fault, DEVICE_STOPPED);
    assert_int_equal(pthread_join(t, NULL), 0);
    atomic_store(&u.stop, false);

    const uint64_t begin = clock_now_ns();
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_OK); // the failures above used nothing up
    assert_true(clock_now_ns() - begin >= 30 * 1000 * 1000);
    for (uint32_t i = 0; i < PARTS; i++) assert_true(good(&u, i));
    sim_release(d); // else it would never come back
    assert_int_equal(unit_prove(&u, d, key, &fault, &err), CUZK_ERR_CANCELLED);
    unit_free(&u);

    const sim_stats st = sim_stats_of(d);
    assert_int_equal(st.runs, 6);
    assert_int_equal(st.partitions, 6 * PARTS);
    for (int f = SIM_DELAY; f < SIM_FAULTS; f++) assert_int_equal(st.faults[f], 1);
    assert_int_equal(st.overlaps, 0);
    device_key_free(d, &key);
    assert_int_equal(sim_stats_of(d).keys, 0);
    device_close(&d);
}

// Runs canned units on a device from a thread of its own.
typedef struct lane {
    device *d;
    pthread_t thread;
    uint64_t took;
} lane;
static void *run_lane(void *arg) {
    lane *l = arg;
    groth16_proof out[2];
    device_fault fault;
    const uint64_t begin = clock_now_ns();
    const device_run run = {.n = 2};
    for (int i = 0; i < 5; i++)
        if (device_prove(l->d, out, &fault, &run, NULL) != CUZK_OK) return l;
    l->took = clock_now_ns() - begin;
    return NULL;
}

// Stays in the kernel section of a device until told to leave.
typedef struct occupant {
    device *d;
    pthread_t thread;
    atomic_bool hang, leave;
} occupant;
static sim_fault hang_once(void *ctx, uint64_t run, uint32_t partitions) {
    occupant *o = ctx;
    (void)run;
    (void)partitions;
    return (sim_fault){atomic_exchange(&o->hang, false) ? SIM_HANG : SIM_GOOD, 0, 0};
}
static bool told_to_leave(void *ctx) { return atomic_load(&((occupant *)ctx)->leave); }
static void *occupy(void *arg) {
    occupant *o = arg;
    groth16_proof out;
    device_fault fault;
    const observer obs = {.cancelled = told_to_leave, .ctx = o};
    const device_run run = {.n = 1, .obs = &obs};
    return device_prove(o->d, &out, &fault, &run, NULL) == CUZK_ERR_CANCELLED ? NULL : o;
}

static void several_devices(void **state) {
    (void)state;
    enum { MS = 1000 * 1000 };
    sim_machine m = {.slowdown_percent = 100};
    occupant first = {0};
    sim_options o = {
        .kernel_ns = 2 * MS, .machine = &m, .canned = {.a = G1_GENERATOR}, .fault = hang_once, .ctx = &first};
    lane lanes[3] = {0};
    device *two = NULL, *one = NULL;
    assert_int_equal(device_open_sim(&two, &o, NULL), CUZK_OK);
    assert_int_equal(device_open_sim(&one, &o, NULL), CUZK_OK);
    // Two devices at once: they slow each other down, and do not overlap with themselves.
    lanes[0].d = one, lanes[1].d = two;
    void *bad = NULL;
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(lanes[i].thread, &bad), 0);
        assert_null(bad);
        assert_true(lanes[i].took >= 5 * 2 * 2 * MS);
    }
    assert_int_equal(sim_stats_of(one).overlaps + sim_stats_of(two).overlaps, 0);
    // Two callers who do not keep order on one device are noticed.
    groth16_proof out;
    device_fault fault;
    first.d = one;
    atomic_store(&first.hang, true);
    assert_int_equal(pthread_create(&first.thread, NULL, occupy, &first), 0);
    while (atomic_load(&m.busy) == 0) nanosleep(&(struct timespec){0, MS}, NULL);
    assert_int_equal(device_prove(one, &out, &fault, &(device_run){.n = 1}, NULL), CUZK_OK);
    atomic_store(&first.leave, true);
    assert_int_equal(pthread_join(first.thread, &bad), 0);
    assert_null(bad);
    assert_int_equal(sim_stats_of(one).overlaps, 1);
    assert_int_equal(atomic_load(&m.busy), 0);
    device_close(&one);
    device_close(&two);
}

static int setup(void **state) {
    (void)state;
    groth16_secrets secrets;
    const toy_circuit t = {.shape = SHAPE};
    const circuit c = toy_circuit_bind(&t);
    groth16_secrets_from_label(&secrets, "device test");
    return groth16_setup(&PK, &c, &secrets, NULL, NULL, NULL) == CUZK_OK ? 0 : -1;
}
static int teardown(void **state) {
    (void)state;
    groth16_pk_destroy(&PK);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_proves_and_stops),
        cmocka_unit_test(sim_does_as_told),
        cmocka_unit_test(several_devices),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
