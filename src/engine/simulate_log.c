// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/simulate_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PROOFS_MAX = 1 << 20, CELLS_MAX = 1 << 24 };

static int64_t between(int64_t from, int64_t to) {
    return from == TIMELINE_NONE || to == TIMELINE_NONE || to < from ? -1 : to - from;
}

// First partition and number of partitions of a unit; a unit that names none is the whole proof.
static void range_of(const timeline_unit *u, uint32_t partitions, uint32_t *from, uint32_t *count) {
    if (u->partition < 0) {
        *from = 0;
        *count = partitions;
        return;
    }
    *from = (uint32_t)u->partition;
    *count = u->count > 0 ? (uint32_t)u->count : 1;
}

// In microseconds, -1: not seen.
typedef struct cell {
    double synth, gpu;
} cell;

typedef struct learner {
    const timeline_analysis *a;
    uint32_t *index;   // by job name: which proof, UINT32_MAX: none
    uint32_t recorded; // partitions as recorded
    cell *cells;
} learner;

static void measure(learner *l, simulate_learned *out) {
    const timeline_spans *s = &l->a->spans;
    out->unit = 1;
    for (size_t i = 0; i < s->n_units; i++) {
        const timeline_unit *u = &s->units[i];
        uint32_t from, count, proof = l->index[u->job];
        range_of(u, l->recorded, &from, &count);
        if (proof == UINT32_MAX || count == 0 || (uint64_t)from + count > l->recorded) continue;
        if (u->synth_worker >= 0 && (uint32_t)u->synth_worker + 1 > out->synthesis_concurrency)
            out->synthesis_concurrency = (uint32_t)u->synth_worker + 1;
        if (u->flags & UNIT_AGAIN) continue; // a retry says nothing about the work
        if (count > out->unit) out->unit = count;
        int64_t synth = between(u->synth_start, u->synth_end), gpu = between(u->gpu_start, u->gpu_end);
        for (uint32_t p = from; p < from + count; p++) {
            cell *c = &l->cells[(size_t)proof * l->recorded + p];
            if (synth >= 0) c->synth = (double)synth / count;
            if (gpu >= 0) c->gpu = (double)gpu / count;
        }
    }
}

// Puts means where nothing was seen. False if nothing was seen at all.
static bool fill(learner *l, uint32_t proofs) {
    double synth = 0, gpu = 0;
    size_t n_synth = 0, n_gpu = 0, n = (size_t)proofs * l->recorded;
    for (size_t i = 0; i < n; i++) {
        if (l->cells[i].synth >= 0) synth += l->cells[i].synth, n_synth++;
        if (l->cells[i].gpu >= 0) gpu += l->cells[i].gpu, n_gpu++;
    }
    if (n_synth == 0 || n_gpu == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (l->cells[i].synth < 0) l->cells[i].synth = synth / (double)n_synth;
        if (l->cells[i].gpu < 0) l->cells[i].gpu = gpu / (double)n_gpu;
    }
    return true;
}

static int by_time(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]); // an end before a start at the same time
}

static cuzk_status most_in_flight(uint32_t *out, const timeline_analysis *a, cuzk_error *err) {
    int64_t(*e)[2] = mem_alloc(MEM_MISC, 2 * a->n_proofs, sizeof *e);
    if (e == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu proofs", a->n_proofs);
    size_t n = 0;
    for (size_t i = 0; i < a->n_proofs; i++) {
        const timeline_row *r = &a->proofs[i];
        int64_t from = r->submit != TIMELINE_NONE ? r->submit : r->synth_start;
        if (from == TIMELINE_NONE || r->gpu_end == TIMELINE_NONE || r->gpu_end <= from) continue;
        e[n][0] = from, e[n++][1] = 1;
        e[n][0] = r->gpu_end, e[n++][1] = -1;
    }
    if (n > 0) qsort(e, n, sizeof *e, by_time);
    int64_t now = 0, most = 1;
    for (size_t i = 0; i < n; i++) {
        now += e[i][1];
        if (now > most) most = now;
    }
    *out = (uint32_t)most;
    mem_free(e);
    return CUZK_OK;
}

static cuzk_status share_out(simulate_learned *out, const learner *l, cuzk_error *err) {
    out->times = mem_alloc(MEM_MISC, (size_t)out->proofs * out->partitions, sizeof *out->times);
    if (out->times == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the times of %u proofs", out->proofs);
    for (uint32_t i = 0; i < out->proofs; i++) {
        const cell *c = &l->cells[(size_t)i * l->recorded];
        cell sum = {0, 0};
        for (uint32_t p = 0; p < l->recorded; p++) sum.synth += c[p].synth, sum.gpu += c[p].gpu;
        for (uint32_t p = 0; p < out->partitions; p++) {
            cell x =
                out->partitions == l->recorded ? c[p] : (cell){sum.synth / out->partitions, sum.gpu / out->partitions};
            out->times[(size_t)i * out->partitions + p] =
                (simulate_time){(uint64_t)(x.synth * 1000), (uint64_t)(x.gpu * 1000)};
        }
    }
    return CUZK_OK;
}

static cuzk_status learn(simulate_learned *out, learner *l, uint32_t partitions, cuzk_error *err) {
    const timeline_analysis *a = l->a;
    size_t names = a->log->names.n;
    l->index = mem_alloc(MEM_MISC, names, sizeof *l->index);
    if (l->index == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu names", names);
    for (size_t i = 0; i < names; i++) l->index[i] = UINT32_MAX;
    for (size_t i = 0; i < a->n_proofs; i++) {
        const timeline_row *r = &a->proofs[i];
        if (r->gpu_start == TIMELINE_NONE || r->synth_start == TIMELINE_NONE || out->proofs == PROOFS_MAX) continue;
        l->index[r->job] = out->proofs++;
    }
    l->recorded = 1;
    for (size_t i = 0; i < a->spans.n_jobs; i++)
        if (a->spans.jobs[i].partitions > (int64_t)l->recorded) l->recorded = (uint32_t)a->spans.jobs[i].partitions;
    for (size_t i = 0; i < a->spans.n_units; i++) {
        uint32_t from, count;
        range_of(&a->spans.units[i], 1, &from, &count);
        if (from + count > l->recorded) l->recorded = from + count;
    }
    out->partitions = partitions != 0 ? partitions : l->recorded;
    size_t n = (size_t)out->proofs * l->recorded;
    if (out->proofs == 0) return cuzk_fail(err, CUZK_ERR_INPUT, "no proof with a synthesis and a device run in it");
    if (n > CELLS_MAX || (size_t)out->proofs * out->partitions > CELLS_MAX)
        return cuzk_fail(err, CUZK_ERR_INPUT, "%u proofs of %u partitions are more than can be simulated", out->proofs,
                         l->recorded);
    l->cells = mem_alloc(MEM_MISC, n, sizeof *l->cells);
    if (l->cells == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu durations", n);
    for (size_t i = 0; i < n; i++) l->cells[i] = (cell){-1, -1};
    measure(l, out);
    if (!fill(l, out->proofs)) return cuzk_fail(err, CUZK_ERR_INPUT, "no complete synthesis or no complete device run");
    for (size_t i = 0; i < a->spans.n_spans && out->key_load_ns == 0; i++)
        if (a->spans.spans[i].kind == SPAN_SRS_LOAD)
            out->key_load_ns = (uint64_t)(a->spans.spans[i].end_us - a->spans.spans[i].start_us) * 1000;
    out->devices = a->spans.n_devices > 0 ? (uint32_t)a->spans.n_devices : 1;
    if (out->synthesis_concurrency == 0) out->synthesis_concurrency = 1;
    if (out->unit >= l->recorded) out->unit = out->partitions;
    cuzk_status s = most_in_flight(&out->concurrency, a, err);
    return s == CUZK_OK ? share_out(out, l, err) : s;
}

cuzk_status simulate_learn(simulate_learned *out, const timeline_analysis *a, uint32_t partitions, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    learner l = {.a = a};
    cuzk_status s = learn(out, &l, partitions, err);
    mem_free(l.index);
    mem_free(l.cells);
    if (s != CUZK_OK) simulate_learned_release(out);
    return s;
}

void simulate_learned_release(simulate_learned *l) {
    mem_free(l->times);
    l->times = NULL;
}
