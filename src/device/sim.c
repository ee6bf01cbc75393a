// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device/sim.h"

#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "curve/g1.h"
#include "device/ops.h"

// A sleeper looks this often whether it is to stop.
enum { SLICE_NS = 500 * 1000 };

typedef struct sim_device {
    device head;
    sim_options options;
    atomic_bool in_kernels, released;
    atomic_uint_fast64_t runs, partitions, overlaps, keys;
    atomic_uint_fast64_t faults[SIM_FAULTS];
} sim_device;

typedef struct sim_key {
    device_key head;
    device_key *inner;
} sim_key;

static void sleep_ns(uint64_t ns) {
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&t, NULL); // woken early by a signal: the caller looks at the clock
}

// False when stopped.
static bool pass_time(const sim_device *d, uint64_t ns, const observer *obs) {
    for (uint64_t left = ns; left > 0;) {
        if (observe_cancelled(obs)) return false;
        uint64_t work = left < SLICE_NS ? left : SLICE_NS, factor = 100;
        if (d->options.machine != NULL) {
            unsigned busy = atomic_load_explicit(&d->options.machine->busy, memory_order_relaxed);
            if (busy > 1) factor += (uint64_t)(busy - 1) * d->options.machine->slowdown_percent;
        }
        const uint64_t begin = clock_now_ns();
        sleep_ns(work * factor / 100);
        // What the system slept longer is not slept again.
        const uint64_t slept = (clock_now_ns() - begin) * 100 / factor;
        left -= slept < left ? slept : left;
    }
    return !observe_cancelled(obs);
}

static cuzk_status stopped(device_fault *fault, cuzk_error *err) {
    return device_fail(fault, DEVICE_STOPPED, err, CUZK_ERR_CANCELLED, "stopped");
}

// The inner run's kernels end with the whole kernel section, not when the inner device says so.
static cuzk_status make_proofs(const sim_device *d, groth16_proof *out, device_fault *fault, const device_run *run,
                               cuzk_error *err) {
    if (d->options.inner == NULL) {
        for (uint32_t i = 0; i < run->n; i++) out[i] = d->options.canned;
        return CUZK_OK;
    }
    device_run inner = *run;
    inner.key = ((const sim_key *)run->key)->inner;
    inner.kernels_done = NULL;
    return device_prove(d->options.inner, out, fault, &inner, err);
}

static cuzk_status kernels(const sim_device *d, groth16_proof *out, device_fault *fault, const device_run *run,
                           const sim_fault *f, cuzk_error *err) {
    uint64_t ns = d->options.kernel_ns * run->n + (f->kind == SIM_DELAY ? f->delay_ns : 0);
    switch (f->kind) {
    case SIM_HANG:
        while (!observe_cancelled(run->obs)) sleep_ns(SLICE_NS);
        return stopped(fault, err);
    case SIM_STUCK:
        while (!atomic_load(&d->released)) sleep_ns(SLICE_NS);
        return stopped(fault, err);
    case SIM_OUT_OF_MEMORY:
        if (!pass_time(d, ns / 2, run->obs)) return stopped(fault, err);
        return device_fail(fault, DEVICE_OUT_OF_MEMORY, err, CUZK_ERR_MEMORY, "out of device memory (simulated)");
    case SIM_ABORT:
        if (!pass_time(d, ns / 2, run->obs)) return stopped(fault, err);
        return device_fail(fault, DEVICE_BROKEN, err, CUZK_ERR_INTERNAL, "the driver failed (simulated)");
    default: break;
    }
    observe_begin(run->obs, "sim");
    bool passed = pass_time(d, ns, run->obs);
    observe_end(run->obs, "sim");
    if (!passed) return stopped(fault, err);
    cuzk_status s = make_proofs(d, out, fault, run, err);
    if (s == CUZK_OK && f->kind == SIM_WRONG) {
        // The sign of C: one bit of the encoding.
        groth16_proof *p = &out[f->partition % run->n];
        g1_affine_neg(&p->c, &p->c);
    }
    return s;
}

static cuzk_status prove(device *dev, groth16_proof *out, device_fault *fault, const device_run *run, cuzk_error *err) {
    sim_device *d = (sim_device *)dev;
    sim_machine *m = d->options.machine;
    const uint64_t number = atomic_fetch_add(&d->runs, 1);
    atomic_fetch_add(&d->partitions, run->n);
    sim_fault f = {0};
    if (d->options.fault != NULL) f = d->options.fault(d->options.ctx, number, run->n);
    if ((unsigned)f.kind >= SIM_FAULTS) f.kind = SIM_GOOD;
    atomic_fetch_add(&d->faults[f.kind], 1);
    if (atomic_exchange(&d->in_kernels, true)) atomic_fetch_add(&d->overlaps, 1);
    if (m != NULL) atomic_fetch_add(&m->busy, 1);
    cuzk_status s = kernels(d, out, fault, run, &f, err);
    if (m != NULL) atomic_fetch_sub(&m->busy, 1);
    atomic_store(&d->in_kernels, false);
    if (s != CUZK_OK) return s;
    if (run->kernels_done != NULL) run->kernels_done(run->ctx);
    return pass_time(d, d->options.tail_ns, run->obs) ? CUZK_OK : stopped(fault, err);
}

static void key_free(device *dev, device_key *key) {
    sim_device *d = (sim_device *)dev;
    sim_key *k = (sim_key *)key;
    if (d->options.inner != NULL) device_key_free(d->options.inner, &k->inner);
    mem_free(k);
    atomic_fetch_sub(&d->keys, 1);
}

static cuzk_status key_load(device_key **out, uint64_t *bytes, device *dev, const groth16_pk *host, cuzk_error *err) {
    sim_device *d = (sim_device *)dev;
    sim_key *k = mem_calloc(MEM_KEY, 1, sizeof *k);
    if (k == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a key");
    k->head.host = host;
    if (d->options.inner != NULL) {
        cuzk_status s = device_key_load(&k->inner, bytes, d->options.inner, host, err);
        if (s != CUZK_OK) {
            mem_free(k);
            return s;
        }
    }
    atomic_fetch_add(&d->keys, 1);
    *out = &k->head;
    return CUZK_OK;
}

static void close_sim(device *dev) {
    sim_device *d = (sim_device *)dev;
    device_close(&d->options.inner);
    mem_free(d);
}

static const device_ops SIM_OPS = {"sim", prove, key_load, key_free, close_sim};

cuzk_status device_open_sim(device **out, const sim_options *options, cuzk_error *err) {
    *out = NULL;
    sim_device *d = mem_calloc(MEM_MISC, 1, sizeof *d);
    if (d == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a device");
    d->head.ops = &SIM_OPS;
    d->head.threads = options->inner != NULL ? device_threads(options->inner) : 1;
    d->options = *options;
    *out = &d->head;
    return CUZK_OK;
}

void sim_release(device *sim) { atomic_store(&((sim_device *)sim)->released, true); }

sim_stats sim_stats_of(const device *sim) {
    const sim_device *d = (const sim_device *)sim;
    sim_stats s = {.runs = atomic_load(&d->runs),
                   .partitions = atomic_load(&d->partitions),
                   .overlaps = atomic_load(&d->overlaps),
                   .keys = atomic_load(&d->keys)};
    for (int i = 0; i < SIM_FAULTS; i++) s.faults[i] = atomic_load(&d->faults[i]);
    return s;
}
