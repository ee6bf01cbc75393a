// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Making a key from known secrets (Groth 2016, section 3.2, with bellman's order of wires and rows).
//
// The circuit runs twice: once to be counted, since the Lagrange coefficients need the size of the domain, and once to
// be folded: a coefficient k of wire v in row i of A adds k * L_i(tau) to A_v(tau), on the spot. So the key of a
// circuit of any size takes three numbers a wire and one a row, and no matrices.
#include "groth16/setup.h"

#include "base/mem.h"
#include "groth16/internal.h"
#include "msm/fixed_base.h"
#include "poly/domain.h"
#include "r1cs/count.h"

enum {
    REPORT_EVERY = 1 << 16,   // rows between two looks at the observer
    POINTS_A_STEP = 1 << 17,  // points between two
    SCALARS_A_TASK = 1 << 12, // scalars of one pool task
    MAX_DOMAIN_LOG = 31,      // the file counts points in 32 bits
};

// ---- the folding sink

// The polynomials of A, B, C at tau, one number a wire: inputs first, then aux.
typedef struct fold {
    cs head;
    uint32_t n_inputs, n_aux; // as counted
    uint64_t n_rows;          // constraints
    const fr *lagrange;
    fr *a, *b, *c;
    const observer *o;
} fold;

static void fold_alloc(cs *head, wire_kind kind, const fr *value) {
    const fold *f = (const fold *)head;
    (void)kind, (void)value;
    if (head->n_aux >= f->n_aux) cs_fail(head, CUZK_ERR_INTERNAL, "the circuit has more wires when run again");
}
static void fold_alloc_input(cs *head, const fr *value) {
    const fold *f = (const fold *)head;
    (void)value;
    if (head->n_inputs >= f->n_inputs) cs_fail(head, CUZK_ERR_INTERNAL, "the circuit has more inputs when run again");
}

static inline void fold_lc(const fold *f, fr *polynomials, lc_view lc, const fr *lagrange) {
    fr product;
    for (uint32_t i = 0; i < lc.n; i++) {
        const term *t = &lc.terms[i];
        fr *at = &polynomials[wire_index(t->wire) + (wire_is_aux(t->wire) ? f->n_inputs : 0)];
        if (fr_is_one(&t->coeff)) {
            fr_add(at, at, lagrange);
        } else {
            fr_mul(&product, &t->coeff, lagrange);
            fr_add(at, at, &product);
        }
    }
}

static void fold_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    const fold *f = (const fold *)head;
    if (head->n_constraints >= f->n_rows) {
        cs_fail(head, CUZK_ERR_INTERNAL, "the circuit has more constraints when run again");
        return;
    }
    const fr *lagrange = &f->lagrange[head->n_constraints];
    fold_lc(f, f->a, a, lagrange);
    fold_lc(f, f->b, b, lagrange);
    fold_lc(f, f->c, c, lagrange);
    if (head->n_constraints % REPORT_EVERY == 0) {
        observe_progress(f->o, "synthesis", head->n_constraints, f->n_rows);
        if (observe_cancelled(f->o)) cs_fail(head, CUZK_ERR_CANCELLED, "making parameters was cancelled");
    }
}
static const cs_ops FOLD_OPS = {.alloc = fold_alloc, .alloc_input = fold_alloc_input, .enforce = fold_enforce};

// ---- points from scalars

typedef struct tables {
    fixed_base_g1 *g1;
    fixed_base_g2 *g2;
} tables;

// out[i] := scalars[i] * G, in steps that show themselves. Either group.
static cuzk_status multiply(const tables *t, g1_affine *g1, g2_affine *g2, const fr *scalars, uint64_t n,
                            const char *stage, pool *p, const observer *o, cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    observe_begin(o, stage);
    for (uint64_t i = 0; i < n && status == CUZK_OK; i += POINTS_A_STEP) {
        uint64_t step = n - i < POINTS_A_STEP ? n - i : POINTS_A_STEP;
        if (observe_cancelled(o))
            status = cuzk_fail(err, CUZK_ERR_CANCELLED, "making parameters was cancelled");
        else if (g1 != 0)
            status = fixed_base_g1_mul(g1 + i, t->g1, scalars + i, step, p, err);
        else
            status = fixed_base_g2_mul(g2 + i, t->g2, scalars + i, step, p, err);
        observe_progress(o, stage, i + step, n);
    }
    observe_end(o, stage);
    return status;
}

static cuzk_status no_memory(const char *what, uint64_t n, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %llu %s", (unsigned long long)n, what);
}

// out[i] := first * tau^(i), i < n.
typedef struct powers {
    fr *out;
    fr first, tau;
    size_t n;
} powers;

static void powers_task(void *ctx, size_t task, unsigned worker) {
    const powers *w = ctx;
    (void)worker;
    size_t i = task * SCALARS_A_TASK, end = i + SCALARS_A_TASK < w->n ? i + SCALARS_A_TASK : w->n;
    fr power;
    fr_pow_u64(&power, &w->tau, i);
    fr_mul(&power, &power, &w->first);
    for (; i < end; i++) {
        w->out[i] = power;
        fr_mul(&power, &power, &w->tau);
    }
}

// h_i = tau^i Z(tau)/delta, i < size - 1; Z(tau) = tau^size - 1.
static cuzk_status make_h(groth16_pk *pk, const tables *t, uint64_t size, const groth16_secrets *s, pool *p,
                          const observer *o, cuzk_error *err) {
    powers w = {.tau = s->tau, .n = size - 1};
    fr inverse;
    fr_pow_u64(&w.first, &s->tau, size);
    fr_sub(&w.first, &w.first, &FR_ONE);
    fr_inv(&inverse, &s->delta);
    fr_mul(&w.first, &w.first, &inverse);
    if (fr_is_zero(&w.first))
        return cuzk_fail(err, CUZK_ERR_INPUT, "tau lies in the domain of %llu points: choose another",
                         (unsigned long long)size);
    w.out = mem_alloc(MEM_EVALUATION, w.n, sizeof(fr));
    pk->h = mem_alloc(MEM_KEY, w.n, sizeof *pk->h);
    cuzk_status status = CUZK_OK;
    if (w.out == 0 || pk->h == 0) {
        status = no_memory("points of h", w.n, err);
    } else {
        pk->n_h = (uint32_t)w.n;
        pool_run(p, (w.n + SCALARS_A_TASK - 1) / SCALARS_A_TASK, powers_task, &w);
        status = multiply(t, pk->h, 0, w.out, w.n, "h", p, o, err);
    }
    mem_free(w.out);
    return status;
}

// ---- the linear queries

// c[i] := (beta a[i] + alpha b[i] + c[i]) * factor: the ic and l queries.
typedef struct combination {
    const fr *a, *b;
    fr *c;
    fr alpha, beta, factor;
    size_t n;
} combination;

static void combine_task(void *ctx, size_t task, unsigned worker) {
    const combination *w = ctx;
    (void)worker;
    size_t i = task * SCALARS_A_TASK, end = i + SCALARS_A_TASK < w->n ? i + SCALARS_A_TASK : w->n;
    for (; i < end; i++) {
        fr x, y;
        fr_mul(&x, &w->a[i], &w->beta);
        fr_mul(&y, &w->b[i], &w->alpha);
        fr_add(&x, &x, &y);
        fr_add(&x, &x, &w->c[i]);
        fr_mul(&w->c[i], &x, &w->factor);
    }
}

static void combine(const fold *f, size_t first, size_t n, const groth16_secrets *s, const fr *divisor, pool *p) {
    combination w = {.a = f->a + first, .b = f->b + first, .c = f->c + first, .n = n};
    w.alpha = s->alpha, w.beta = s->beta;
    fr_inv(&w.factor, divisor);
    pool_run(p, (n + SCALARS_A_TASK - 1) / SCALARS_A_TASK, combine_task, &w);
}

static cuzk_status check_constrained(const fold *f, cuzk_error *err) {
    for (uint64_t i = 0; i < (uint64_t)f->n_inputs + f->n_aux; i++) {
        if (!fr_is_zero(&f->c[i])) continue;
        bool aux = i >= f->n_inputs;
        return cuzk_fail(err, CUZK_ERR_INPUT, "%s wire %llu occurs in no constraint: its point would be infinity",
                         aux ? "aux" : "input", (unsigned long long)(aux ? i - f->n_inputs : i));
    }
    return CUZK_OK;
}

// Queries leave out the wires whose polynomial vanishes at tau. Returns how many are left.
static size_t drop_zeros(fr *x, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!fr_is_zero(&x[i])) x[kept++] = x[i];
    return kept;
}

// Uses up the arrays of `f` one after the other, so that scalars go as points come.
static cuzk_status make_queries(groth16_pk *pk, const tables *t, fold *f, const groth16_secrets *s, pool *p,
                                const observer *o, cuzk_error *err) {
    size_t n_wires = (size_t)f->n_inputs + f->n_aux;
    combine(f, 0, f->n_inputs, s, &s->gamma, p);
    combine(f, f->n_inputs, f->n_aux, s, &s->delta, p);
    cuzk_status status = check_constrained(f, err);
    if (status != CUZK_OK) return status;

    pk->vk.ic = mem_alloc(MEM_KEY, f->n_inputs, sizeof *pk->vk.ic);
    pk->l = mem_alloc(MEM_KEY, f->n_aux, sizeof *pk->l);
    if (pk->vk.ic == 0 || pk->l == 0) return no_memory("points of ic and l", n_wires, err);
    pk->vk.n_ic = f->n_inputs, pk->n_l = f->n_aux;
    status = multiply(t, pk->vk.ic, 0, f->c, f->n_inputs, "ic", p, o, err);
    if (status == CUZK_OK) status = multiply(t, pk->l, 0, f->c + f->n_inputs, f->n_aux, "l", p, o, err);
    if (status != CUZK_OK) return status;
    mem_free(f->c);
    f->c = 0;

    size_t n_a = drop_zeros(f->a, n_wires);
    pk->a = mem_alloc(MEM_KEY, n_a, sizeof *pk->a);
    if (pk->a == 0) return no_memory("points of a", n_a, err);
    pk->n_a = (uint32_t)n_a;
    status = multiply(t, pk->a, 0, f->a, n_a, "a", p, o, err);
    if (status != CUZK_OK) return status;
    mem_free(f->a);
    f->a = 0;

    size_t n_b = drop_zeros(f->b, n_wires);
    pk->b_g1 = mem_alloc(MEM_KEY, n_b, sizeof *pk->b_g1);
    pk->b_g2 = mem_alloc(MEM_KEY, n_b, sizeof *pk->b_g2);
    if (pk->b_g1 == 0 || pk->b_g2 == 0) return no_memory("points of b", n_b, err);
    pk->n_b = (uint32_t)n_b;
    status = multiply(t, pk->b_g1, 0, f->b, n_b, "b_g1", p, o, err);
    if (status == CUZK_OK) status = multiply(t, 0, pk->b_g2, f->b, n_b, "b_g2", p, o, err);
    return status;
}

// ---- the steps in order

static cuzk_status check_secrets(const groth16_secrets *s, cuzk_error *err) {
    const struct {
        const char *name;
        const fr *value;
    } all[] = {{"alpha", &s->alpha}, {"beta", &s->beta}, {"gamma", &s->gamma}, {"delta", &s->delta}, {"tau", &s->tau}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (fr_is_zero(all[i].value))
            return cuzk_fail(err, CUZK_ERR_INPUT, "the secret %s is zero: its points would be infinity", all[i].name);
    return CUZK_OK;
}

static cuzk_status count(fold *f, const circuit *c, cuzk_error *err) {
    count_sink sink;
    count_init(&sink);
    const cs *const s = &sink.head;
    c->synthesize(c->self, &sink.head);
    if (s->status != CUZK_OK) return cuzk_fail(err, s->status, "%s", s->error.text);
    uint64_t rows = s->n_constraints + s->n_inputs;
    if (rows < 2) return cuzk_fail(err, CUZK_ERR_INPUT, "the circuit has no constraints");
    if (rows > UINT64_C(1) << MAX_DOMAIN_LOG || (uint64_t)s->n_inputs + s->n_aux > UINT32_MAX)
        return cuzk_fail(err, CUZK_ERR_INPUT, "the circuit is too large: %llu rows, at most %llu",
                         (unsigned long long)rows, 1ULL << MAX_DOMAIN_LOG);
    f->n_inputs = s->n_inputs, f->n_aux = s->n_aux, f->n_rows = s->n_constraints;
    return CUZK_OK;
}

// The circuit once more, folded, and then the row `input_i * 0 = 0` an input.
static cuzk_status fold_circuit(fold *f, const circuit *c, const observer *o, cuzk_error *err) {
    size_t n = (size_t)f->n_inputs + f->n_aux;
    f->a = mem_calloc(MEM_EVALUATION, n, sizeof(fr));
    f->b = mem_calloc(MEM_EVALUATION, n, sizeof(fr));
    f->c = mem_calloc(MEM_EVALUATION, n, sizeof(fr));
    if (f->a == 0 || f->b == 0 || f->c == 0) return no_memory("wires", n, err);
    f->o = o;
    observe_begin(o, "synthesis");
    cs_init(&f->head, &FOLD_OPS, false);
    c->synthesize(c->self, &f->head);
    observe_end(o, "synthesis");
    if (f->head.status != CUZK_OK) return cuzk_fail(err, f->head.status, "%s", f->head.error.text);
    if (f->head.n_inputs != f->n_inputs || f->head.n_aux != f->n_aux || f->head.n_constraints != f->n_rows)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "the circuit is smaller when run again");
    for (uint32_t i = 0; i < f->n_inputs; i++) fr_add(&f->a[i], &f->a[i], &f->lagrange[f->n_rows + i]);
    return CUZK_OK;
}

// Everything that depends on tau: the domain, h, the Lagrange coefficients, the folded circuit, the queries.
static cuzk_status make_points(groth16_pk *pk, const tables *t, fold *f, const circuit *c, const groth16_secrets *s,
                               pool *p, const observer *o, cuzk_error *err) {
    ntt_domain *d = 0;
    cuzk_status status = ntt_domain_create(&d, f->n_rows + f->n_inputs, p, err);
    if (status != CUZK_OK) return status;
    uint64_t size = ntt_domain_size(d);
    fr *lagrange = 0;
    // First h: it alone checks that tau is outside the domain.
    status = make_h(pk, t, size, s, p, o, err);
    if (status == CUZK_OK) {
        lagrange = mem_alloc(MEM_EVALUATION, size, sizeof(fr));
        if (lagrange == 0) status = no_memory("Lagrange coefficients", size, err);
    }
    if (status == CUZK_OK) {
        observe_begin(o, "lagrange");
        ntt_domain_lagrange_at(d, lagrange, &s->tau, p);
        observe_end(o, "lagrange");
    }
    ntt_domain_destroy(&d);
    f->lagrange = lagrange;
    if (status == CUZK_OK) status = fold_circuit(f, c, o, err);
    mem_free(lagrange);
    f->lagrange = 0;
    if (status == CUZK_OK) status = make_queries(pk, t, f, s, p, o, err);
    return status;
}

static void multiply_one_g1(g1_affine *out, const fr *k) {
    g1_jac x;
    g1_jac_from_affine(&x, &G1_GENERATOR);
    g1_jac_mul(&x, &x, k);
    g1_jac_to_affine(out, &x);
}
static void multiply_one_g2(g2_affine *out, const fr *k) {
    g2_jac x;
    g2_jac_from_affine(&x, &G2_GENERATOR);
    g2_jac_mul(&x, &x, k);
    g2_jac_to_affine(out, &x);
}

static void make_vk(groth16_vk *vk, const groth16_secrets *s) {
    multiply_one_g1(&vk->alpha_g1, &s->alpha);
    multiply_one_g1(&vk->beta_g1, &s->beta);
    multiply_one_g1(&vk->delta_g1, &s->delta);
    multiply_one_g2(&vk->beta_g2, &s->beta);
    multiply_one_g2(&vk->gamma_g2, &s->gamma);
    multiply_one_g2(&vk->delta_g2, &s->delta);
}

cuzk_status groth16_setup(groth16_pk **out, const circuit *c, const groth16_secrets *secrets, pool *p,
                          const observer *o, cuzk_error *err) {
    *out = 0;
    fold f = {.o = o};
    tables t = {0};
    groth16_pk *pk = 0;
    cuzk_status status = check_secrets(secrets, err);
    if (status == CUZK_OK) {
        observe_begin(o, "count");
        status = count(&f, c, err);
        observe_end(o, "count");
    }
    if (status == CUZK_OK) {
        pk = mem_calloc(MEM_KEY, 1, sizeof *pk);
        if (pk == 0) status = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a proving key");
    }
    if (status == CUZK_OK) {
        // One of h a row, then l and a for every wire, b for fewer.
        uint64_t wires = (uint64_t)f.n_inputs + f.n_aux;
        observe_begin(o, "tables");
        status = fixed_base_g1_create(&t.g1, &G1_GENERATOR, f.n_rows + 3 * wires, p, err);
        if (status == CUZK_OK) status = fixed_base_g2_create(&t.g2, &G2_GENERATOR, wires, p, err);
        observe_end(o, "tables");
    }
    if (status == CUZK_OK) {
        make_vk(&pk->vk, secrets);
        status = make_points(pk, &t, &f, c, secrets, p, o, err);
    }
    fixed_base_g1_destroy(&t.g1);
    fixed_base_g2_destroy(&t.g2);
    mem_free(f.a);
    mem_free(f.b);
    mem_free(f.c);
    if (status != CUZK_OK)
        groth16_pk_destroy(&pk);
    else
        *out = pk;
    return status;
}
