// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The proving sink: values of wires are kept, constraints are evaluated as they come and forgotten. No matrix is ever
// held; what remains is three numbers a row, one a wire, and the densities.
#include <string.h>

#include "base/mem.h"
#include "groth16/assignment.h"
#include "groth16/internal.h"
#include "r1cs/scope.h"

// Rows between two looks at the observer.
enum { REPORT_EVERY = 1 << 16, FIRST_CAPACITY = 1 << 10 };

typedef struct proving_sink {
    cs head;
    groth16_assignment *out;
    scope_stack scopes;
    const observer *o;
} proving_sink;

void fr_vec_wipe(fr_vec *v, pool *p) {
    // Only what was written: touching the rest of a doubled array would make its pages real.
    pool_zero(p, v->at, v->n * sizeof *v->at);
    mem_free(v->at);
    *v = (fr_vec){0};
}

static bool fr_vec_grow(fr_vec *v, mem_tag tag) {
    fr_vec bigger = {.n = v->n, .cap = v->cap == 0 ? FIRST_CAPACITY : 2 * v->cap};
    bigger.at = mem_alloc(tag, bigger.cap, sizeof *bigger.at);
    if (bigger.at == 0) return false;
    if (v->n != 0) memcpy(bigger.at, v->at, v->n * sizeof *v->at);
    fr_vec_wipe(v, 0);
    *v = bigger;
    return true;
}

static inline bool fr_vec_push(fr_vec *v, mem_tag tag, const fr *value) {
    if (v->n == v->cap && !fr_vec_grow(v, tag)) return false;
    v->at[v->n++] = *value;
    return true;
}

static void no_memory(proving_sink *s) {
    cs_fail(&s->head, CUZK_ERR_MEMORY, "no memory for a witness of %u wires and %llu constraints",
            s->head.n_inputs + s->head.n_aux, (unsigned long long)s->head.n_constraints);
}

static void sink_alloc(cs *head, wire_kind kind, const fr *value) {
    proving_sink *s = (proving_sink *)head;
    groth16_assignment *w = s->out;
    (void)kind;
    if (!fr_vec_push(&w->aux, MEM_WITNESS, value)) no_memory(s);
}

static void sink_alloc_input(cs *head, const fr *value) {
    proving_sink *s = (proving_sink *)head;
    groth16_assignment *w = s->out;
    if (!fr_vec_push(&w->inputs, MEM_WITNESS, value)) no_memory(s);
}

// <lc, w>. Most wires of our circuits are bits and most coefficients one, so the cases without a multiplication come
// first. `inputs` and `aux` receive the densities; NULL where nobody asks.
static inline void evaluate(fr *out, const groth16_assignment *w, lc_view lc, bitmap *inputs, bitmap *aux) {
    fr sum = FR_ZERO, product;
    for (uint32_t i = 0; i < lc.n; i++) {
        const term *t = &lc.terms[i];
        uint32_t k = wire_index(t->wire);
        const fr *value;
        if (wire_is_aux(t->wire)) {
            value = &w->aux.at[k];
            if (aux != 0) bitmap_set(aux, k);
        } else {
            value = &w->inputs.at[k];
            if (inputs != 0) bitmap_set(inputs, k);
        }
        if (fr_is_zero(value)) continue;
        if (fr_is_one(&t->coeff)) {
            fr_add(&sum, &sum, value);
        } else if (fr_is_one(value)) {
            fr_add(&sum, &sum, &t->coeff);
        } else {
            fr_mul(&product, &t->coeff, value);
            fr_add(&sum, &sum, &product);
        }
    }
    *out = sum;
}

static void name_failure(proving_sink *s) {
    char where[SCOPE_TEXT_MAX];
    scope_format(where, sizeof where, &s->scopes);
    // The path may be cut, so what matters comes first.
    cs_fail(&s->head, CUZK_ERR_INPUT, "constraint %llu is not satisfied: %s", (unsigned long long)s->head.n_constraints,
            where);
}

// Room for a bit a wire; nearly always there already.
static inline bool reserve_densities(groth16_assignment *w, const cs *head) {
    if (head->n_aux <= 64 * w->b_aux.n_words && head->n_inputs <= 64 * w->b_inputs.n_words) return true;
    return bitmap_reserve(&w->a_aux, head->n_aux) && bitmap_reserve(&w->b_aux, head->n_aux) &&
           bitmap_reserve(&w->b_inputs, head->n_inputs);
}

static void sink_enforce(cs *head, lc_view la, lc_view lb, lc_view lc) {
    proving_sink *s = (proving_sink *)head;
    groth16_assignment *w = s->out;
    if (!reserve_densities(w, head)) {
        no_memory(s);
        return;
    }
    fr a, b, c, ab;
    evaluate(&a, w, la, 0, &w->a_aux);
    evaluate(&b, w, lb, &w->b_inputs, &w->b_aux);
    evaluate(&c, w, lc, 0, 0);
    fr_mul(&ab, &a, &b);
    if (!fr_eq(&ab, &c)) {
        name_failure(s);
        return;
    }
    if (!fr_vec_push(&w->a, MEM_EVALUATION, &a) || !fr_vec_push(&w->b, MEM_EVALUATION, &b) ||
        !fr_vec_push(&w->c, MEM_EVALUATION, &c)) {
        no_memory(s);
        return;
    }
    s->scopes.label = (scope_name){"", -1};
    if (head->n_constraints % REPORT_EVERY == 0) {
        observe_progress(s->o, "synthesis", head->n_constraints, 0);
        if (observe_cancelled(s->o)) cs_fail(head, CUZK_ERR_CANCELLED, "synthesis was cancelled");
    }
}

static void sink_enter(cs *head, const char *fmt, int64_t index) {
    scope_enter(&((proving_sink *)head)->scopes, fmt, index);
}
static void sink_leave(cs *head) { scope_leave(&((proving_sink *)head)->scopes); }
static void sink_label(cs *head, const char *fmt, int64_t index) {
    scope_label(&((proving_sink *)head)->scopes, fmt, index);
}

static const cs_ops PROVING_OPS = {.alloc = sink_alloc,
                                   .alloc_input = sink_alloc_input,
                                   .enforce = sink_enforce,
                                   .enter = sink_enter,
                                   .leave = sink_leave,
                                   .label = sink_label};

// The rows that make every input dense in A, as setup has them: A is the input alone, B and C are empty.
static bool add_input_rows(groth16_assignment *w) {
    for (uint64_t i = 0; i < w->inputs.n; i++)
        if (!fr_vec_push(&w->a, MEM_EVALUATION, &w->inputs.at[i]) || !fr_vec_push(&w->b, MEM_EVALUATION, &FR_ZERO) ||
            !fr_vec_push(&w->c, MEM_EVALUATION, &FR_ZERO))
            return false;
    w->rows = w->a.n;
    return true;
}

cuzk_status groth16_synthesize(groth16_assignment **out, const circuit *c, const observer *o, cuzk_error *err) {
    *out = 0;
    groth16_assignment *w = mem_calloc(MEM_WITNESS, 1, sizeof *w);
    if (w == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a witness");
    proving_sink s = {.out = w, .o = o};
    s.scopes.label = (scope_name){"", -1};
    observe_begin(o, "synthesis");
    cs_init(&s.head, &PROVING_OPS, true);
    if (s.head.status == CUZK_OK) c->synthesize(c->self, &s.head);
    // Wires that came after the last constraint have no bit yet.
    if (s.head.status == CUZK_OK && (!reserve_densities(w, &s.head) || !add_input_rows(w))) no_memory(&s);
    observe_end(o, "synthesis");
    if (s.head.status != CUZK_OK) {
        cuzk_status status = cuzk_fail(err, s.head.status, "%s", s.head.error.text);
        groth16_assignment_destroy(&w);
        return status;
    }
    *out = w;
    return CUZK_OK;
}

void groth16_assignment_destroy(groth16_assignment **a) {
    if (a == 0 || *a == 0) return;
    groth16_assignment *w = *a;
    packed_destroy(&w->packed);
    fr_vec_wipe(&w->inputs, 0);
    fr_vec_wipe(&w->aux, 0);
    fr_vec_wipe(&w->a, 0);
    fr_vec_wipe(&w->b, 0);
    fr_vec_wipe(&w->c, 0);
    bitmap_free(&w->a_aux);
    bitmap_free(&w->b_inputs);
    bitmap_free(&w->b_aux);
    mem_free(w);
    *a = 0;
}

const fr *groth16_assignment_inputs(const groth16_assignment *a, uint32_t *n) {
    if (a->packed != NULL) {
        *n = a->packed->n_inputs;
        return a->packed->inputs;
    }
    *n = (uint32_t)a->inputs.n;
    return a->inputs.at;
}
