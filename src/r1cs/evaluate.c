// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An instance at a time: its bits are put in order of places, and laid out as bytes as well; then the template's plan
// (evaluate_plan.h) runs over them. Narrow rows are sums of small integers, 16 rows at once, and end in a table
// look-up, so that no field arithmetic happens in 98 rows of 100. Bits times consecutive powers of two are words.
#include "r1cs/evaluate.h"

#include <string.h>

#include "base/mem.h"
#include "field/fr_dot.h"
#include "r1cs/evaluate_plan.h"

// Narrow rows whose sums are found at once. Left to themselves compilers do not see that these loops are vectors.
enum { LANES = 16 };
typedef int8_t lanes __attribute__((vector_size(LANES)));

// All ones and then none: LANES bytes from LANES - n on select the first n lanes.
static const int8_t FIRST[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

typedef struct tables {
    _Alignas(64) fr small[2 * PROGRAM_NARROW_SUM + 1]; // from -PROGRAM_NARROW_SUM
    fr powers[PROGRAM_EXPONENTS + 1];
    uint64_t bytes[256]; // the bits of a byte as eight bytes, 0 or -1
} tables;

// What one thread works with.
typedef struct bench {
    uint64_t *bits; // by place
    int8_t *v;      // the same as bytes, 0 or -1: a coefficient times a bit is their conjunction
    wire *slots;
    fr *fields;      // values of the field elements among the slots
    int8_t *sums[3]; // of A, B and C by row of the template
    uint64_t failed;
} bench;

typedef struct job {
    const program *p;
    const packed_witness *w;
    fr *out[3]; // a, b, c
    tables t;
    bench *benches;
} job;

static void fill_tables(tables *t) {
    for (int i = 0; i <= PROGRAM_NARROW_SUM; i++) {
        fr_from_u64(&t->small[PROGRAM_NARROW_SUM + i], (uint64_t)i);
        fr_neg(&t->small[PROGRAM_NARROW_SUM - i], &t->small[PROGRAM_NARROW_SUM + i]);
    }
    t->powers[0] = FR_ONE;
    for (int i = 1; i <= PROGRAM_EXPONENTS; i++) fr_dbl(&t->powers[i], &t->powers[i - 1]);
    for (int i = 0; i < 256; i++) {
        int8_t out[8];
        for (int k = 0; k < 8; k++) out[k] = (int8_t) - (i >> k & 1);
        memcpy(&t->bytes[i], out, 8);
    }
}

// --- An instance's values ---

// 64 bits from bit `at` on. `bits` has a word behind the last one.
static inline uint64_t bits_at(const uint64_t *bits, uint64_t at) {
    const uint32_t shift = (uint32_t)(at & 63);
    return bits[at >> 6] >> shift | bits[(at >> 6) + 1] << 1 << (63 - shift);
}

static void prepare(bench *x, const job *j, const program_template *t, const program_instance *at) {
    const packed_witness *w = j->w;
    const uint32_t own = 1 + t->room, words = (program_places(t) + 63) / 64;
    program_slots(x->slots, j->p, at);
    memset(x->bits, 0, (own / 64 + 1) * sizeof *x->bits);
    x->bits[0] = 1;
    for (uint32_t s = 0; s < t->n_slots; s++) {
        const uint32_t i = wire_index(x->slots[s]);
        const uint64_t bit = wire_is_aux(x->slots[s]) ? w->bits[i >> 6] >> (i & 63) & 1 : 0;
        x->bits[(1 + s) >> 6] |= bit << ((1 + s) & 63);
    }
    for (uint32_t k = 0; k < t->n_field_slots; k++) packed_value(&x->fields[k], w, x->slots[t->field_slots[k]]);
    // The instance's own bits; behind them lie those of the next.
    if (t->n_locals > 0) x->bits[own / 64] |= bits_at(w->bits, at->aux) << own % 64;
    for (uint32_t k = own / 64 + 1; k < words; k++) x->bits[k] = bits_at(w->bits, at->aux + 64 * (uint64_t)k - own);
    for (uint32_t k = 0; k < words; k++)
        for (int i = 0; i < 8; i++) memcpy(x->v + 64 * (size_t)k + 8 * i, &j->t.bytes[x->bits[k] >> 8 * i & 0xff], 8);
}

// --- Narrow rows ---

static inline lanes lanes_load(const int8_t *at) {
    lanes v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline lanes lanes_load_even(const int8_t *at) {
    return __builtin_shufflevector(lanes_load(at), lanes_load(at + LANES), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22,
                                   24, 26, 28, 30);
}
static inline void lanes_store(int8_t *at, lanes v) { memcpy(at, &v, sizeof v); }
// Where the mask is set. No branch on how many lanes those are, which no processor can foresee.
static inline void lanes_store_masked(int8_t *at, lanes v, lanes mask) {
    lanes_store(at, (lanes_load(at) & ~mask) | (v & mask));
}

// A term of all strips of a group.
typedef struct column {
    lanes coeff; // in every lane
    uint32_t step;
} column;

// Sums of LANES rows of a strip, from row `from` on. Lanes behind its end hold other sums within the same bounds.
static inline lanes strip_sums(const column *columns, const uint32_t *places, uint32_t n, const int8_t *v,
                               uint32_t from) {
    lanes sum = {0};
    for (const column *const end = columns + n; columns < end; columns++, places++) {
        const int8_t *bits = v + *places;
        if (columns->step == 1)
            sum += lanes_load(bits + from) & columns->coeff;
        else if (columns->step == 0)
            sum += *bits & columns->coeff;
        else
            sum += lanes_load_even(bits + 2 * (size_t)from) & columns->coeff;
    }
    return sum;
}

static void narrow_sums(bench *x, const program_template *t) {
    column columns[PLAN_MAX_TERMS];
    for (const uint32_t *word = t->strips, *const end = word + t->n_strips; word < end;) {
        const uint32_t head = *word++, row_step = head >> 24;
        const uint32_t a = head & 0xff, b = head >> 8 & 0xff, c = head >> 16 & 0xff;
        uint32_t strips = *word++;
        for (uint32_t k = 0; k < a + b + c; k++, word++) columns[k] = (column){(lanes){0} + (int8_t)*word, *word >> 8};
        for (; strips > 0; strips--, word += 2 + a + b + c) {
            const uint32_t row = word[0], rows = word[1], *const places = word + 2;
            for (uint32_t i = 0; i < rows; i += LANES) {
                const uint32_t left = rows - i < LANES ? rows - i : LANES;
                const lanes mask = lanes_load(FIRST + LANES - left);
                const lanes sa = strip_sums(columns, places, a, x->v, i);
                const lanes sb = strip_sums(columns + a, places + a, b, x->v, i);
                const lanes sc = strip_sums(columns + a + b, places + a + b, c, x->v, i);
                const size_t to = row + (size_t)i * row_step;
                if (row_step == 1) {
                    lanes_store_masked(x->sums[0] + to, sa, mask);
                    lanes_store_masked(x->sums[1] + to, sb, mask);
                    lanes_store_masked(x->sums[2] + to, sc, mask);
                } else {
                    for (uint32_t k = 0; k < left; k++) {
                        x->sums[0][to + k * row_step] = sa[k];
                        x->sums[1][to + k * row_step] = sb[k];
                        x->sums[2][to + k * row_step] = sc[k];
                    }
                }
            }
        }
    }
}

// Whether all rows of [from, to) hold.
static bool narrow_hold(const bench *x, uint32_t from, uint32_t to) {
    const int8_t *a = x->sums[0], *b = x->sums[1], *c = x->sums[2];
    int16_t wrong = 0;
    for (uint32_t i = from; i < to; i++) wrong |= (int16_t)(a[i] * b[i] - c[i]); // within 120^2 + 120
    return wrong == 0;
}

// Values of sums, by the table of small numbers. What follows, a transform of gigabytes, begins long after: the stores
// go around the cache where there is an instruction for it, which spares reading each line first.
static void put_small(fr *out, const int8_t *sums, size_t n, const fr *small) {
#if defined(__x86_64__)
    if ((uintptr_t)out % sizeof(__m128i) == 0) {
        for (size_t i = 0; i < n; i++) {
            const __m128i *value = (const __m128i *)&small[sums[i]];
            _mm_stream_si128((__m128i *)&out[i], _mm_load_si128(value));
            _mm_stream_si128((__m128i *)&out[i] + 1, _mm_load_si128(value + 1));
        }
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) out[i] = small[sums[i]];
}
// Before others may read them.
static void put_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

// Rows [from, to) of a template whose first row is `first`.
static void narrow(bench *x, const job *j, uint64_t first, uint32_t from, uint32_t to) {
    if (!narrow_hold(x, from, to)) {
        uint32_t row = from;
        while (x->sums[0][row] * x->sums[1][row] == x->sums[2][row]) row++;
        if (first + row < x->failed) x->failed = first + row;
    }
    if (j->out[0] == NULL) return;
    for (int k = 0; k < 3; k++)
        put_small(j->out[k] + first + from, x->sums[k] + from, to - from, j->t.small + PROGRAM_NARROW_SUM);
}

// --- Wide rows ---

enum { PRODUCTS_AT_ONCE = 128 };

// A sum of words times powers of two: limb k counts 2^(64 k).
typedef struct power_sum {
    i128 limbs[5];
} power_sum;

// The bits of a word with even numbers, side by side.
static inline uint64_t even_bits(uint64_t v) {
    v &= UINT64_C(0x5555555555555555);
    v = (v | v >> 1) & UINT64_C(0x3333333333333333);
    v = (v | v >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (v | v >> 16) & UINT64_C(0x00000000ffffffff);
}

static inline void add_run(power_sum *s, const uint64_t *bits, const uint32_t run[2]) {
    const uint32_t place = run[0] & PROGRAM_PLACE, exponent = run[0] >> 24, k = exponent >> 6, shift = exponent & 63;
    uint64_t word = bits_at(bits, place);
    if (run[1] >> 8 != 1) word = even_bits(word) | even_bits(bits_at(bits, place + 64)) << 32;
    word &= ~UINT64_C(0) >> (PLAN_RUN_BITS - (run[1] & 0xff));
    const uint64_t low = word << shift, high = word >> 1 >> (63 - shift);
    if ((run[0] & PROGRAM_MINUS) != 0) {
        s->limbs[k] -= low;
        s->limbs[k + 1] -= high;
    } else {
        s->limbs[k] += low;
        s->limbs[k + 1] += high;
    }
}

static void power_sum_reduce(fr *out, const power_sum *s, const tables *t) {
    uint64_t limbs[4];
    i128 c = 0;
    for (int k = 0; k < 4; k++) {
        c += s->limbs[k];
        limbs[k] = (uint64_t)c;
        c >>= 64; // rounds down: what is left over is worth c 2^(64 k + 64), whatever its sign
    }
    c += s->limbs[4];
    // limbs < 2^256 < 3r.
    for (int i = 0; i < 2; i++) {
        uint64_t less[4], borrow = 0;
        for (int k = 0; k < 4; k++) less[k] = limb_sbb(limbs[k], FR_MODULUS[k], &borrow);
        if (borrow == 0) memcpy(limbs, less, sizeof limbs);
    }
    fr_from_limbs(out, limbs);
    if (c != 0) {
        // A run is below 2^256 and there are fewer than 2^32.
        fr high;
        fr_from_u64(&high, (uint64_t)(c < 0 ? -c : c));
        fr_mul(&high, &high, &t->powers[PROGRAM_EXPONENTS]);
        if (c < 0)
            fr_sub(out, out, &high);
        else
            fr_add(out, out, &high);
    }
}

static inline const fr *field_at(const fr *const fields[2], uint32_t ref) {
    return fields[(ref & PROGRAM_SLOT) != 0] + (ref & ~(PROGRAM_FIELD | PROGRAM_SLOT));
}

// The value of a linear combination; returns where the next begins. The sum stays in *out: a copy of limbs that have
// just been written, made by wider loads, waits for them.
static const uint32_t *wide(fr *out, const bench *x, const job *j, const program_instance *at, const uint32_t *word) {
    const fr *const fields[2] = {&j->w->fields[at->field], x->fields}; // the instance's own, and those of its slots
    const fr *const coeffs = j->p->coeffs;
    const uint32_t runs = word[0], powers = word[1], bits = word[2], ones = word[3], minuses = word[4];
    uint32_t products = word[5];
    word += 6;
    if (ones == 1 && (runs | powers | bits | minuses | products) == 0) {
        *out = *field_at(fields, *word);
        return word + 1;
    }
    *out = FR_ZERO;
    if (runs > 0) {
        power_sum s = {{0}};
        for (uint32_t i = 0; i < runs; i++, word += 2) add_run(&s, x->bits, word);
        power_sum_reduce(out, &s, &j->t);
    }
    for (uint32_t i = 0; i < powers; i++, word++) {
        if (x->v[*word & PROGRAM_PLACE] == 0) continue;
        if ((*word & PROGRAM_MINUS) != 0)
            fr_sub(out, out, &j->t.powers[*word >> 24]);
        else
            fr_add(out, out, &j->t.powers[*word >> 24]);
    }
    for (uint32_t i = 0; i < bits; i++, word += 2)
        if (x->v[word[0]] != 0) fr_add(out, out, &coeffs[word[1]]);
    for (uint32_t i = 0; i < ones; i++, word++) fr_add(out, out, field_at(fields, *word));
    for (uint32_t i = 0; i < minuses; i++, word++) fr_sub(out, out, field_at(fields, *word));
    while (products > 0) {
        const fr *a[PRODUCTS_AT_ONCE], *b[PRODUCTS_AT_ONCE];
        fr some;
        uint32_t n = 0;
        for (; n < PRODUCTS_AT_ONCE && products > 0; n++, products--, word += 2) {
            a[n] = field_at(fields, word[0]);
            b[n] = &coeffs[word[1]];
        }
        fr_dot(&some, a, b, n);
        fr_add(out, out, &some);
    }
    return word;
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
    narrow_sums(x, t);
    uint32_t done = 0; // rows
    for (const uint32_t *word = t->wide, *const end = word + t->n_wide; word < end; done++) {
        const uint32_t row = *word++;
        narrow(x, j, at->row, done, row);
        done = row;
        fr own[3], *v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = j->out[k] == NULL ? &own[k] : &j->out[k][at->row + row];
            word = wide(v[k], x, j, at, word);
        }
        if (!holds(v[0], v[1], v[2]) && at->row + row < x->failed) x->failed = at->row + row;
    }
    narrow(x, j, at->row, done, t->n_rows);
    if (j->out[0] != NULL) put_end();
}

// Whole words of places, and more for what is read behind a strip and behind a run.
static size_t bits_words(const program *p) { return (size_t)p->max_places / 64 + 4; }
static size_t bytes_size(const program *p) { return 64 * bits_words(p); }
static size_t sums_size(const program *p) { return (size_t)p->max_rows + LANES; }

static bool bench_init(bench *x, const program *p) {
    *x = (bench){.failed = UINT64_MAX};
    x->bits = mem_calloc(MEM_EVALUATION, bits_words(p), sizeof *x->bits);
    x->v = mem_calloc(MEM_EVALUATION, bytes_size(p), 1);
    x->slots = mem_alloc(MEM_EVALUATION, p->max_slots, sizeof *x->slots);
    x->fields = mem_calloc(MEM_EVALUATION, p->max_field_slots, sizeof *x->fields);
    bool ok = x->bits != NULL && x->v != NULL && x->slots != NULL && x->fields != NULL;
    for (int k = 0; k < 3; k++) {
        x->sums[k] = mem_calloc(MEM_EVALUATION, sums_size(p), 1);
        ok = ok && x->sums[k] != NULL;
    }
    return ok;
}

// Bits of the witness, its field elements and sums of them are secrets.
static void bench_free(bench *x) {
    mem_free_secret(x->bits);
    mem_free_secret(x->v);
    mem_free_secret(x->fields);
    for (int k = 0; k < 3; k++) mem_free_secret(x->sums[k]);
    mem_free(x->slots);
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
        *j = (job){.p = p, .w = w, .out = {a, b, c}, .benches = benches};
        fill_tables(&j->t);
        pool_run(threads, p->n_instances, instance, j);
        for (unsigned i = 0; i < n; i++)
            if (benches[i].failed < *failed) *failed = benches[i].failed;
    }
    for (unsigned i = 0; benches != NULL && i < n; i++) bench_free(&benches[i]);
    mem_free(benches);
    mem_free(j);
    return ok ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to evaluate a circuit on %u threads", n);
}
