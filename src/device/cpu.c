// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The CPU as a device. A key is the host's key. The kernel section lasts until the last sum of the last partition;
// putting the proof together from the sums is the tail.
#include <string.h>

#include "base/mem.h"
#include "device/ops.h"

typedef struct cpu_device {
    device head;
    pool *pool;
} cpu_device;

// Passes stages on and watches for the last partition's assembly.
typedef struct watch {
    const device_run *run;
    bool last, told;
} watch;

static void stage_begin(void *ctx, const char *stage) {
    watch *w = ctx;
    if (w->last && !w->told && strcmp(stage, "assemble") == 0) {
        w->told = true;
        if (w->run->kernels_done != NULL) w->run->kernels_done(w->run->ctx);
    }
    observe_begin(w->run->obs, stage);
}
static void stage_end(void *ctx, const char *stage) { observe_end(((watch *)ctx)->run->obs, stage); }
static void progress(void *ctx, const char *stage, uint64_t done, uint64_t total) {
    observe_progress(((watch *)ctx)->run->obs, stage, done, total);
}
static bool cancelled(void *ctx) { return observe_cancelled(((watch *)ctx)->run->obs); }

static cuzk_status prove(device *d, groth16_proof *out, device_fault *fault, const device_run *run, cuzk_error *err) {
    cpu_device *cpu = (cpu_device *)d;
    watch w = {.run = run};
    const observer obs = {stage_begin, stage_end, progress, cancelled, &w};
    for (uint32_t i = 0; i < run->n; i++) {
        if (observe_cancelled(run->obs))
            return device_fail(fault, DEVICE_STOPPED, err, CUZK_ERR_CANCELLED, "stopped before partition %u of %u", i,
                               run->n);
        observe_progress(run->obs, "partition", i, run->n);
        w.last = i + 1 == run->n;
        cuzk_status s =
            groth16_prove(&out[i], run->key->host, run->partitions[i], &run->blinding[i], cpu->pool, &obs, err);
        if (s != CUZK_OK) {
            *fault = device_fault_of(s);
            return cuzk_fail_in(err, s, "partition %u of %u", i, run->n);
        }
    }
    return CUZK_OK;
}

static cuzk_status key_load(device_key **out, uint64_t *bytes, device *d, const groth16_pk *host, cuzk_error *err) {
    (void)d;
    device_key *k = mem_alloc(MEM_KEY, 1, sizeof *k);
    if (k == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a key");
    k->host = host;
    *bytes = 0;
    *out = k;
    return CUZK_OK;
}

static void key_free(device *d, device_key *key) {
    (void)d;
    mem_free(key);
}

static void close_cpu(device *d) {
    cpu_device *cpu = (cpu_device *)d;
    pool_destroy(&cpu->pool);
    mem_free(cpu);
}

static const device_ops CPU_OPS = {"cpu", prove, key_load, key_free, close_cpu};

cuzk_status device_open_cpu(device **out, unsigned threads, cuzk_error *err) {
    *out = NULL;
    cpu_device *cpu = mem_calloc(MEM_MISC, 1, sizeof *cpu);
    if (cpu == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a device");
    cpu->head.ops = &CPU_OPS;
    cuzk_status s = pool_create(&cpu->pool, threads, err);
    if (s != CUZK_OK) {
        mem_free(cpu);
        return s;
    }
    cpu->head.threads = pool_threads(cpu->pool);
    *out = &cpu->head;
    return CUZK_OK;
}
