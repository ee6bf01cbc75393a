// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/check.h"

#include <string.h>

#include "base/mem.h"
#include "hash/sha256.h"
#include "r1cs/lc.h"

static bool values_push(check_values *a, uint64_t n, const fr *value) {
    if (n >= a->cap) {
        const uint64_t cap = a->cap < 1024 ? 1024 : a->cap * 2;
        fr *grown = mem_alloc(MEM_WITNESS, cap, sizeof *grown);
        if (grown == NULL) return false;
        if (n > 0) memcpy(grown, a->v, n * sizeof *grown);
        mem_free(a->v);
        a->v = grown;
        a->cap = cap;
    }
    a->v[n] = *value;
    return true;
}

static void on_alloc(cs *head, wire_kind kind, const fr *value) {
    check_sink *s = (check_sink *)head;
    (void)kind;
    fr flipped;
    if (head->n_aux == s->flip_aux) {
        fr_sub(&flipped, &FR_ONE, value);
        value = &flipped;
    }
    if (!values_push(&s->aux, head->n_aux, value)) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint check: no memory for more than %u values", head->n_aux);
    }
}

static void on_alloc_input(cs *head, const fr *value) {
    check_sink *s = (check_sink *)head;
    if (!values_push(&s->inputs, head->n_inputs, value)) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint check: no memory for more than %u inputs", head->n_inputs);
    }
}

static void on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    check_sink *s = (check_sink *)head;
    fr x, y, z;
    lc_evaluate(&x, a, s->inputs.v, s->aux.v);
    lc_evaluate(&y, b, s->inputs.v, s->aux.v);
    lc_evaluate(&z, c, s->inputs.v, s->aux.v);
    if (fr_is_one(&y)) {
        // most B are the constant one
    } else if (fr_is_zero(&x) || fr_is_zero(&y)) {
        x = FR_ZERO;
    } else {
        fr_mul(&x, &x, &y);
    }
    if (!fr_eq(&x, &z)) {
        if (s->unsatisfied == 0) {
            s->first_unsatisfied = head->n_constraints;
            scope_format(s->first_scope, sizeof s->first_scope, &s->scopes);
        }
        s->unsatisfied++;
    }
    if ((head->n_constraints & 0xfffff) == 0xfffff && s->obs != NULL) {
        observe_progress(s->obs, "synthesis", head->n_constraints + 1, 0);
        if (observe_cancelled(s->obs)) cs_fail(head, CUZK_ERR_CANCELLED, "constraint check: cancelled");
    }
}

static void on_enter(cs *head, const char *fmt, int64_t index) {
    scope_enter(&((check_sink *)head)->scopes, fmt, index);
}
static void on_leave(cs *head) { scope_leave(&((check_sink *)head)->scopes); }
static void on_label(cs *head, const char *fmt, int64_t index) {
    scope_label(&((check_sink *)head)->scopes, fmt, index);
}

static const cs_ops ops = {.alloc = on_alloc,
                           .alloc_input = on_alloc_input,
                           .enforce = on_enforce,
                           .enter = on_enter,
                           .leave = on_leave,
                           .label = on_label};

void check_init(check_sink *s, const observer *obs) {
    *s = (check_sink){.flip_aux = UINT64_MAX, .obs = obs};
    cs_init(&s->head, &ops, true);
}

void check_destroy(check_sink *s) {
    mem_free(s->inputs.v);
    mem_free(s->aux.v);
    s->inputs = s->aux = (check_values){0};
}

static void hash_values(uint8_t out[32], uint64_t *zero, uint64_t *one, const fr *v, uint64_t n) {
    enum { RUN = 512 };
    uint8_t buf[RUN * 32];
    sha256 h;
    sha256_init(&h);
    *zero = *one = 0;
    for (uint64_t from = 0; from < n; from += RUN) {
        const uint64_t run = n - from < RUN ? n - from : RUN;
        for (uint64_t i = 0; i < run; i++) {
            const fr *x = &v[from + i];
            uint8_t *p = buf + 32 * i;
            const bool is_zero = fr_is_zero(x), is_one = fr_is_one(x);
            *zero += is_zero, *one += is_one;
            if (is_zero || is_one) {
                memset(p, 0, 32);
                p[0] = is_one;
            } else {
                fr_to_le_bytes(p, x);
            }
        }
        sha256_update(&h, buf, run * 32);
    }
    sha256_final(out, &h);
}

void check_summarise(check_summary *out, const check_sink *s) {
    uint64_t zero, one;
    hash_values(out->inputs_sha256, &zero, &one, s->inputs.v, s->head.n_inputs);
    hash_values(out->aux_sha256, &out->aux_zero, &out->aux_one, s->aux.v, s->head.n_aux);
}
