// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/poseidon_plan.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "r1cs/lc.h"

enum { HALF = POSEIDON_FULL_ROUNDS / 2 };

// The state as linear combinations over S-box outputs (as wire numbers), while rounds are walked through.
typedef struct builder {
    poseidon_plan *plan;
    uint32_t width, n_sboxes, n_terms, terms_cap;
    lc state[POSEIDON_MAX_WIDTH], next[POSEIDON_MAX_WIDTH];
    bool ok;
} builder;

static void emit_row(builder *b, lc *l) {
    const lc_view v = lc_finish(l);
    poseidon_plan *p = b->plan;
    if (!b->ok || v.n > b->terms_cap - b->n_terms || v.n > POSEIDON_PLAN_MAX_TERMS) {
        b->ok = false;
        return;
    }
    for (uint32_t i = 0; i < v.n; i++) p->terms[b->n_terms++] = (poseidon_plan_term){v.terms[i].wire, v.terms[i].coeff};
    p->row_end[p->n_rows++] = b->n_terms;
}

// state[i] becomes the output of a new S-box; unless it is an input of the hash, what goes in is a row.
static void sbox(builder *b, uint32_t i, bool emit) {
    if (emit) emit_row(b, &b->state[i]);
    lc_clear(&b->state[i]);
    b->ok = b->ok && lc_add(&b->state[i], ++b->n_sboxes, &FR_ONE);
}

static void mix(builder *b, const fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH]) {
    for (uint32_t j = 0; j < b->width; j++) {
        lc_clear(&b->next[j]);
        for (uint32_t i = 0; i < b->width; i++) b->ok = b->ok && lc_add_scaled(&b->next[j], &m[i][j], &b->state[i]);
        lc_finish(&b->next[j]);
    }
    for (uint32_t j = 0; j < b->width; j++) {
        const lc swap = b->state[j];
        b->state[j] = b->next[j];
        b->next[j] = swap;
    }
}

static void mix_sparse(builder *b, const poseidon_sparse *sparse) {
    lc *first = &b->next[0];
    lc_clear(first);
    for (uint32_t i = 0; i < b->width; i++) b->ok = b->ok && lc_add_scaled(first, &sparse->column[i], &b->state[i]);
    lc_finish(first);
    for (uint32_t j = 1; j < b->width; j++) {
        b->ok = b->ok && lc_add_scaled(&b->state[j], &sparse->row[j - 1], &b->state[0]);
        lc_finish(&b->state[j]);
    }
    const lc swap = b->state[0];
    b->state[0] = *first;
    *first = swap;
}

static void walk(builder *b, const poseidon_params *p) {
    // The first S-box sees the domain tag alone, so its output is a constant.
    fr *c = &b->plan->first_constant, t;
    fr_add(c, &p->domain_tag, &p->compressed_constants[0]);
    fr_sqr(&t, c);
    fr_sqr(&t, &t);
    fr_mul(c, c, &t);
    fr_add(c, c, &p->compressed_constants[p->width]);
    b->ok = lc_add(&b->state[0], WIRE_ONE, c);
    for (uint32_t i = 1; i < b->width; i++) sbox(b, i, false);
    mix(b, p->mds);
    for (uint32_t r = 1; r < HALF; r++) {
        for (uint32_t i = 0; i < b->width; i++) sbox(b, i, true);
        mix(b, r + 1 < HALF ? p->mds : p->pre_sparse);
    }
    for (uint32_t r = 0; r < p->partial_rounds; r++) {
        sbox(b, 0, true);
        mix_sparse(b, &p->sparse[r]);
    }
    for (uint32_t r = 0; r < HALF; r++) {
        for (uint32_t i = 0; i < b->width; i++) sbox(b, i, true);
        mix(b, p->mds);
    }
    emit_row(b, &b->state[1]);
}

static bool build(poseidon_plan *plan, uint32_t arity) {
    const poseidon_params *p = poseidon_params_for(arity);
    if (p == NULL) return false;
    const uint32_t rows = (POSEIDON_FULL_ROUNDS - 1) * p->width + p->partial_rounds + 1;
    builder b = {.plan = plan, .width = p->width, .terms_cap = rows * POSEIDON_PLAN_MAX_TERMS};
    plan->row_end = mem_alloc(MEM_TABLE, rows, sizeof *plan->row_end);
    plan->terms = mem_alloc(MEM_TABLE, b.terms_cap, sizeof *plan->terms);
    b.ok = plan->row_end != NULL && plan->terms != NULL;
    if (b.ok) walk(&b, p);
    for (uint32_t i = 0; i < POSEIDON_MAX_WIDTH; i++) {
        lc_free(&b.state[i]);
        lc_free(&b.next[i]);
    }
    if (!b.ok || plan->n_rows != rows) {
        mem_free(plan->row_end);
        mem_free(plan->terms);
        return false;
    }
    // Keep what is needed; a refusal leaves the larger table in place.
    poseidon_plan_term *fit = mem_alloc(MEM_TABLE, b.n_terms, sizeof *fit);
    if (fit != NULL) {
        memcpy(fit, plan->terms, b.n_terms * sizeof *fit);
        mem_free(plan->terms);
        plan->terms = fit;
    }
    plan->params = p;
    return true;
}

const poseidon_plan *poseidon_plan_for(uint32_t arity) {
    static const uint32_t arities[4] = {2, 4, 8, 11};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static poseidon_plan plans[4]; // params set: built
    for (int i = 0; i < 4; i++) {
        if (arities[i] != arity) continue;
        pthread_mutex_lock(&lock);
        const bool there = plans[i].params != NULL;
        if (!there) plans[i] = (poseidon_plan){0};
        const bool ok = there || build(&plans[i], arity);
        pthread_mutex_unlock(&lock);
        return ok ? &plans[i] : NULL;
    }
    return NULL;
}
