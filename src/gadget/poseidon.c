// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/poseidon.h"

#include "gadget/constants.h"
#include "gadget/poseidon_plan.h"
#include "gadget/ports.h"
#include "r1cs/lc.h"

enum {
    HALF = POSEIDON_FULL_ROUNDS / 2,
    MAX_SBOXES = POSEIDON_FULL_ROUNDS * POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL_ROUNDS,
};

typedef struct hash {
    cs *s;
    const poseidon_plan *plan;
    uint32_t row; // next row of the plan
    uint32_t n_sboxes;
    const fr *key;                // next round constant
    wire outputs[MAX_SBOXES + 1]; // by S-box, [0] is the constant one
    fr state[POSEIDON_MAX_WIDTH]; // values, in a system with values
} hash;

// A wire for the next row of the plan; its value is that of state[i].
static num row_wire(hash *h, uint32_t i) {
    const poseidon_plan *p = h->plan;
    const uint32_t from = h->row == 0 ? 0 : p->row_end[h->row - 1], n = p->row_end[h->row] - from;
    h->row++;
    const num v = num_alloc(h->s, &h->state[i]);
    if (!cs_wants_rows(h->s)) return v;
    term t[POSEIDON_PLAN_MAX_TERMS];
    for (uint32_t k = 0; k < n; k++) {
        t[k].wire = h->outputs[p->terms[from + k].sbox];
        t[k].coeff = p->terms[from + k].coeff;
    }
    const term tv = {v.wire, FR_ONE};
    cs_label(h->s, "enforce num allocation preserves lc", -1);
    cs_enforce(h->s, (lc_view){t, n}, (lc_view){&GADGET_ONE, 1}, (lc_view){&tv, 1});
    return v;
}

static uint32_t with_constant(term t[2], wire w, const fr *constant) {
    if (fr_is_zero(constant)) {
        t[0] = (term){w, FR_ONE};
        return 1;
    }
    t[0] = (term){WIRE_ONE, *constant};
    t[1] = (term){w, FR_ONE};
    return 2;
}

// The wires of power_5 alone.
static void power_5_native(hash *h, uint32_t i, const num *l, const fr *pre, const fr *post) {
    fr sum = l->value, v2, v4, v5;
    if (pre != NULL) fr_add(&sum, &sum, pre);
    fr_sqr(&v2, &sum);
    fr_sqr(&v4, &v2);
    fr_mul(&v5, &v4, &sum);
    if (post != NULL) fr_add(&v5, &v5, post);
    (void)num_alloc(h->s, &v2);
    (void)num_alloc(h->s, &v4);
    h->outputs[++h->n_sboxes] = num_alloc(h->s, &v5).wire;
    h->state[i] = v5;
}

// state[i] := (l + pre)^5 + post for the wire l; pre and post may be NULL.
static void power_5(hash *h, uint32_t i, const num *l, const fr *pre, const fr *post) {
    cs *s = h->s;
    if (!cs_wants_rows(s)) {
        power_5_native(h, i, l, pre, post);
        return;
    }
    num l2, l5;
    fr sum = l->value, value = FR_ZERO, constant;
    if (pre != NULL) {
        fr_add(&sum, &sum, pre);
        if (s->has_values) fr_sqr(&value, &sum);
        cs_enter(s, "(l+rk)^2", -1);
        l2 = num_alloc(s, &value);
        term t[2];
        const uint32_t n = with_constant(t, l->wire, pre);
        const term t2 = {l2.wire, FR_ONE};
        cs_label(s, "squared sum constraint", -1);
        cs_enforce(s, (lc_view){t, n}, (lc_view){t, n}, (lc_view){&t2, 1});
    } else {
        cs_enter(s, "l^2", -1);
        l2 = num_square(s, l);
    }
    cs_leave(s);
    cs_enter(s, "l^4", -1);
    const num l4 = num_square(s, &l2);
    cs_leave(s);

    if (s->has_values) fr_mul(&value, &l4.value, &sum);
    if (post != NULL) fr_add(&value, &value, post);
    cs_enter(s, pre != NULL ? "l4 * (l + rk)" : "(l4 * l) + rk)", -1);
    l5 = num_alloc(s, &value);
    term ta[2] = {{l->wire, FR_ONE}}, tc[2] = {{l5.wire, FR_ONE}};
    const term tb = {l4.wire, FR_ONE};
    uint32_t na = 1, nc = 1;
    if (pre != NULL) na = with_constant(ta, l->wire, pre);
    if (post != NULL) {
        fr_neg(&constant, post);
        nc = with_constant(tc, l5.wire, &constant);
    }
    cs_label(s,
             pre != NULL    ? "mul sum constraint pre-post-add"
             : post != NULL ? "mul sum constraint post-add"
                            : "mul sum constraint",
             -1);
    cs_enforce(s, (lc_view){ta, na}, (lc_view){&tb, 1}, (lc_view){tc, nc});
    cs_leave(s);
    h->outputs[++h->n_sboxes] = l5.wire;
    h->state[i] = l5.value;
}

static void sbox(hash *h, uint32_t i, bool last) {
    cs_enter(h->s, "S-box input", -1);
    const num l = row_wire(h, i);
    cs_leave(h->s);
    power_5(h, i, &l, NULL, last ? NULL : h->key++);
}

static void mix(hash *h, const fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH], uint32_t width) {
    if (!h->s->has_values) return;
    fr out[POSEIDON_MAX_WIDTH], t;
    for (uint32_t j = 0; j < width; j++) {
        out[j] = FR_ZERO;
        for (uint32_t i = 0; i < width; i++) {
            fr_mul(&t, &h->state[i], &m[i][j]);
            fr_add(&out[j], &out[j], &t);
        }
    }
    for (uint32_t j = 0; j < width; j++) h->state[j] = out[j];
}

static void mix_sparse(hash *h, const poseidon_sparse *sparse, uint32_t width) {
    if (!h->s->has_values) return;
    fr first = FR_ZERO, t;
    for (uint32_t i = 0; i < width; i++) {
        fr_mul(&t, &h->state[i], &sparse->column[i]);
        fr_add(&first, &first, &t);
    }
    for (uint32_t j = 1; j < width; j++) {
        fr_mul(&t, &h->state[0], &sparse->row[j - 1]);
        fr_add(&h->state[j], &h->state[j], &t);
    }
    h->state[0] = first;
}

static void full_round(hash *h, const char *scope, int64_t index, bool last, uint32_t width) {
    cs_enter(h->s, scope, index);
    for (uint32_t i = 0; i < width; i++) {
        cs_enter(h->s, "quintic s-box %u", i);
        sbox(h, i, last);
        cs_leave(h->s);
    }
    cs_leave(h->s);
}

// Round constants come before and after the S-boxes: the first `width` of them are added to the input, the next to the
// output of the first round.
static void first_round(hash *h, const num *in, const poseidon_params *p) {
    h->state[0] = h->plan->first_constant;
    cs_enter(h->s, "first round", -1);
    for (uint32_t i = 1; i < p->width; i++) {
        cs_enter(h->s, "quintic s-box %u", i);
        power_5(h, i, &in[i - 1], &p->compressed_constants[i], &p->compressed_constants[p->width + i]);
        cs_leave(h->s);
    }
    cs_leave(h->s);
    h->key = p->compressed_constants + (size_t)2 * p->width;
    mix(h, p->mds, p->width);
}

static num hash_gadget(cs *s, const num *in, uint32_t arity) {
    hash h = {.s = s, .plan = poseidon_plan_for(arity)};
    if (h.plan == NULL) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: no Poseidon of arity %u (2, 4, 8, 11), or no memory for it", arity);
        return (num){WIRE_ONE, FR_ZERO};
    }
    const poseidon_params *p = h.plan->params;
    h.outputs[0] = WIRE_ONE;
    first_round(&h, in, p);
    for (uint32_t r = 1; r < HALF; r++) {
        full_round(&h, "initial full round %u", r, false, p->width);
        mix(&h, r + 1 < HALF ? p->mds : p->pre_sparse, p->width);
    }
    for (uint32_t r = 0; r < p->partial_rounds; r++) {
        cs_enter(s, "partial round %u", r);
        cs_enter(s, "solitary quintic s-box", -1);
        sbox(&h, 0, false);
        cs_leave(s);
        cs_leave(s);
        mix_sparse(&h, &p->sparse[r], p->width);
    }
    for (uint32_t r = 0; r < HALF; r++) {
        const bool last = r + 1 == HALF;
        full_round(&h, last ? "terminal full round" : "final full round %u", last ? -1 : (int64_t)r, last, p->width);
        mix(&h, p->mds, p->width);
    }
    cs_enter(s, "hash result", -1);
    const num out = row_wire(&h, 1);
    cs_leave(s);
    return out;
}

num poseidon_gadget(cs *s, const num *in, uint32_t arity) {
    if (!cs_has_templates(s) || arity >= POSEIDON_MAX_WIDTH) return hash_gadget(s, in, arity);
    port ins[POSEIDON_MAX_WIDTH], out;
    for (uint32_t i = 0; i < arity; i++) ins[i] = port_of_num(&in[i]);
    const template_call call = {"poseidon", arity, arity, 1, ins, &out};
    if (cs_template_begin(s, &call)) return num_of_port(out);
    const num r = hash_gadget(s, in, arity);
    out = port_of_num(&r);
    cs_template_end(s, &call);
    return r;
}
