// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An instance at a time: its bits are laid out as bytes, by place; then the template's rows run over them. Narrow rows
// are sums of small integers and end in a table look-up, so that no field arithmetic happens in 98 rows of 100. Powers
// of two are counted exponent by exponent and carried once a row.
#include "r1cs/evaluate.h"

#include <string.h>

#include "base/mem.h"
#include "r1cs/program_format.h"

// Up to so many terms +-2^k are added one by one; more are counted.
enum { FEW_POWERS = 12 };

typedef struct tables {
    fr small[2 * PROGRAM_NARROW_SUM + 1]; // from -PROGRAM_NARROW_SUM
    fr powers[PROGRAM_EXPONENTS + 1];
    uint64_t bytes[256]; // the bits of a byte as eight bytes
    fr minus_one;
} tables;

// What one thread works with.
typedef struct bench {
    uint8_t *v; // bits by place
    wire *slots;
    fr *fields; // values of the field elements among the slots
    int32_t counts[PROGRAM_EXPONENTS];
    uint64_t failed;
} bench;

typedef struct job {
    const program *p;
    const packed_witness *w;
    fr *a, *b, *c;
    tables t;
    bench *benches;
} job;

static void fill_tables(tables *t) {
    for (int i = 0; i <= PROGRAM_NARROW_SUM; i++) {
        fr_from_u64(&t->small[PROGRAM_NARROW_SUM + i], (uint64_t)i);
        fr_neg(&t->small[PROGRAM_NARROW_SUM - i], &t->small[PROGRAM_NARROW_SUM + i]);
    }
    t->minus_one = t->small[PROGRAM_NARROW_SUM - 1];
    t->powers[0] = FR_ONE;
    for (int i = 1; i <= PROGRAM_EXPONENTS; i++) fr_dbl(&t->powers[i], &t->powers[i - 1]);
    for (int i = 0; i < 256; i++) {
        uint8_t out[8];
        for (int k = 0; k < 8; k++) out[k] = (uint8_t)(i >> k & 1);
        memcpy(&t->bytes[i], out, 8);
    }
}

// --- An instance's values ---

// n bits from bit `at` on, as bytes. Writes up to 64 bytes too many. `bits` has a word behind the last one.
static void lay_out(uint8_t *out, const tables *t, const uint64_t *bits, uint64_t at, uint32_t n) {
    const uint32_t shift = (uint32_t)(at & 63);
    bits += at >> 6;
    for (uint32_t i = 0; i < n; i += 64, out += 64, bits++) {
        uint64_t w = bits[0] >> shift;
        if (shift != 0) w |= bits[1] << (64 - shift);
        for (int k = 0; k < 8; k++, w >>= 8) memcpy(out + 8 * k, &t->bytes[w & 0xff], 8);
    }
}

static void prepare(bench *x, const job *j, const program_template *t, const program_instance *at) {
    const packed_witness *w = j->w;
    program_slots(x->slots, j->p, at);
    x->v[0] = 1;
    for (uint32_t s = 0; s < t->n_slots; s++) {
        const uint32_t i = wire_index(x->slots[s]);
        x->v[1 + s] = wire_is_aux(x->slots[s]) ? (uint8_t)(w->bits[i >> 6] >> (i & 63) & 1) : 0;
    }
    for (uint32_t k = 0; k < t->n_field_slots; k++) packed_value(&x->fields[k], w, x->slots[t->field_slots[k]]);
    lay_out(x->v + 1 + t->room, &j->t, w->bits, at->aux, t->n_locals);
}

// --- Rows ---

static inline int32_t narrow(const uint32_t *at, uint32_t n, const uint8_t *v) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (int8_t)(at[i] >> 24) * (int32_t)v[at[i] & PROGRAM_PLACE];
    return sum;
}

// The sum of counts[k] 2^k; the counts are zero again afterwards.
static void carry(fr *out, const tables *t, int32_t counts[PROGRAM_EXPONENTS]) {
    uint64_t limbs[4] = {0};
    int64_t c = 0;
    for (uint32_t k = 0; k < PROGRAM_EXPONENTS; k++) {
        c += counts[k];
        counts[k] = 0;
        limbs[k >> 6] |= (uint64_t)(c & 1) << (k & 63);
        c >>= 1; // rounds down: what is left over is worth c 2^(k+1), whatever its sign
    }
    // limbs < 2^256 < 3r.
    for (int i = 0; i < 2; i++) {
        uint64_t less[4], borrow = 0;
        for (int k = 0; k < 4; k++) {
            const uint64_t d = limbs[k] - FR_MODULUS[k], e = d - borrow;
            borrow = (uint64_t)(limbs[k] < FR_MODULUS[k]) | (uint64_t)(d < borrow);
            less[k] = e;
        }
        if (borrow == 0) memcpy(limbs, less, sizeof limbs);
    }
    fr_from_limbs(out, limbs);
    if (c != 0) {
        fr high;
        fr_from_u64(&high, (uint64_t)(c < 0 ? -c : c));
        fr_mul(&high, &high, &t->powers[PROGRAM_EXPONENTS]);
        if (c < 0)
            fr_sub(out, out, &high);
        else
            fr_add(out, out, &high);
    }
}

static void wide(fr *out, bench *x, const job *j, const program_instance *at, const program_lc *l) {
    fr sum = FR_ZERO;
    if (l->n_powers > FEW_POWERS) {
        for (uint32_t i = 0; i < l->n_powers; i++) {
            const uint32_t code = l->powers[i];
            const int32_t bit = x->v[code & PROGRAM_PLACE];
            x->counts[code >> 24] += (code & PROGRAM_MINUS) != 0 ? -bit : bit;
        }
        carry(&sum, &j->t, x->counts);
    } else {
        for (uint32_t i = 0; i < l->n_powers; i++) {
            const uint32_t code = l->powers[i];
            if (x->v[code & PROGRAM_PLACE] == 0) continue;
            if ((code & PROGRAM_MINUS) != 0)
                fr_sub(&sum, &sum, &j->t.powers[code >> 24]);
            else
                fr_add(&sum, &sum, &j->t.powers[code >> 24]);
        }
    }
    for (uint32_t i = 0; i < l->n_general; i++) {
        const uint32_t ref = l->general[2 * i];
        const fr *coeff = &j->p->coeffs[l->general[2 * i + 1]];
        if ((ref & PROGRAM_FIELD) == 0) {
            if (x->v[ref] != 0) fr_add(&sum, &sum, coeff);
            continue;
        }
        const uint32_t k = ref & ~(PROGRAM_FIELD | PROGRAM_SLOT);
        const fr *value = (ref & PROGRAM_SLOT) != 0 ? &x->fields[k] : &j->w->fields[at->field + k];
        fr product;
        if (fr_is_one(coeff)) {
            fr_add(&sum, &sum, value);
        } else if (fr_eq(coeff, &j->t.minus_one)) {
            fr_sub(&sum, &sum, value);
        } else {
            fr_mul(&product, coeff, value);
            fr_add(&sum, &sum, &product);
        }
    }
    *out = sum;
}

static bool holds(const fr *a, const fr *b, const fr *c) {
    if (fr_is_one(b)) return fr_eq(a, c);
    if (fr_is_zero(b) || fr_is_zero(a)) return fr_is_zero(c);
    fr ab;
    fr_mul(&ab, a, b);
    return fr_eq(&ab, c);
}

static void instance(void *ctx, size_t task, unsigned worker) {
    job *j = ctx;
    bench *x = &j->benches[worker];
    const program_instance *at = &j->p->instances[task];
    const program_template *t = &j->p->templates[at->template];
    if (t->n_rows == 0) return;
    prepare(x, j, t, at);
    const fr *small = j->t.small + PROGRAM_NARROW_SUM;
    const uint32_t *code = t->code;
    for (uint64_t row = at->row; row < at[1].row; row++) {
        program_row r;
        code = program_row_read(&r, code);
        bool good;
        if (!r.wide) {
            const uint32_t *b = r.terms + r.n[0], *c = b + r.n[1];
            const int32_t va = narrow(r.terms, r.n[0], x->v), vb = narrow(b, r.n[1], x->v),
                          vc = narrow(c, r.n[2], x->v);
            good = va * vb == vc;
            if (j->a != NULL) {
                j->a[row] = small[va];
                j->b[row] = small[vb];
                j->c[row] = small[vc];
            }
        } else {
            fr a, b, c;
            wide(&a, x, j, at, &r.lc[0]);
            wide(&b, x, j, at, &r.lc[1]);
            wide(&c, x, j, at, &r.lc[2]);
            good = holds(&a, &b, &c);
            if (j->a != NULL) {
                j->a[row] = a;
                j->b[row] = b;
                j->c[row] = c;
            }
        }
        if (!good && row < x->failed) x->failed = row;
    }
}

static bool bench_init(bench *x, const program *p) {
    *x = (bench){.failed = UINT64_MAX};
    x->v = mem_calloc(MEM_EVALUATION, (size_t)p->max_places + 64, 1);
    x->slots = mem_alloc(MEM_EVALUATION, p->max_slots, sizeof *x->slots);
    x->fields = mem_calloc(MEM_EVALUATION, p->max_field_slots, sizeof *x->fields);
    return x->v != NULL && x->slots != NULL && x->fields != NULL;
}

static void bench_free(bench *x, const program *p) {
    // Bits of the witness and its field elements: secrets.
    if (x->v != NULL) memset(x->v, 0, (size_t)p->max_places + 64);
    if (x->fields != NULL) memset(x->fields, 0, p->max_field_slots * sizeof *x->fields);
    __asm__ __volatile__("" : : "r"(x->v), "r"(x->fields) : "memory");
    mem_free(x->v);
    mem_free(x->slots);
    mem_free(x->fields);
}

cuzk_status program_evaluate(fr *a, fr *b, fr *c, uint64_t *failed, const program *p, const packed_witness *w,
                             pool *threads, cuzk_error *err) {
    const program_instance *end = &p->instances[p->n_instances];
    *failed = UINT64_MAX;
    if (w->n_inputs != end->input || w->n_aux != end->aux || w->n_fields != end->field)
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "the program is of another circuit: it has %u inputs, %u wires, %u field elements; the "
                         "witness has %u, %u, %u",
                         end->input, end->aux, end->field, w->n_inputs, w->n_aux, w->n_fields);
    const unsigned n = pool_threads(threads);
    job *j = mem_alloc(MEM_EVALUATION, 1, sizeof *j);
    bench *benches = mem_calloc(MEM_EVALUATION, n, sizeof *benches);
    bool ok = j != NULL && benches != NULL;
    for (unsigned i = 0; ok && i < n; i++) ok = bench_init(&benches[i], p);
    if (ok) {
        *j = (job){.p = p, .w = w, .a = a, .b = b, .c = c, .benches = benches};
        fill_tables(&j->t);
        pool_run(threads, p->n_instances, instance, j);
        for (unsigned i = 0; i < n; i++)
            if (benches[i].failed < *failed) *failed = benches[i].failed;
    }
    for (unsigned i = 0; benches != NULL && i < n; i++) bench_free(&benches[i], p);
    mem_free(benches);
    mem_free(j);
    return ok ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to evaluate a circuit on %u threads", n);
}
