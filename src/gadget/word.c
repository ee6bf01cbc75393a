// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/word.h"

#include <assert.h>

#include "gadget/constants.h"

void word_constant(word *out, uint32_t value) {
    for (uint32_t i = 0; i < 32; i++) out->bits[i] = boolean_constant((value >> i & 1) != 0);
}

uint32_t word_value(const word *a) {
    uint32_t v = 0;
    for (uint32_t i = 0; i < 32; i++) v |= (uint32_t)a->bits[i].value << i;
    return v;
}

static inline boolean view_bit(word_view v, uint32_t i) {
    const uint32_t at = i + v.by;
    if (v.shift && at >= 32) return boolean_constant(false);
    return v.w->bits[at & 31];
}

void word_xor(cs *s, word *out, word_view a, word_view b) {
    for (uint32_t i = 0; i < 32; i++) {
        cs_enter(s, "xor of bit %u", i);
        out->bits[i] = boolean_xor(s, view_bit(a, i), view_bit(b, i));
        cs_leave(s);
    }
}

void word_choose(cs *s, word *out, const word *a, const word *b, const word *c) {
    for (uint32_t i = 0; i < 32; i++) {
        cs_enter(s, "ch %u", i);
        out->bits[i] = boolean_choose(s, a->bits[i], b->bits[i], c->bits[i]);
        cs_leave(s);
    }
}

void word_majority(cs *s, word *out, const word *a, const word *b, const word *c) {
    for (uint32_t i = 0; i < 32; i++) {
        cs_enter(s, "maj %u", i);
        out->bits[i] = boolean_majority(s, a->bits[i], b->bits[i], c->bits[i]);
        cs_leave(s);
    }
}

void word_eq_init(word_eq *m, cs *s) {
    m->s = s;
    m->ops = m->bits_used = m->n_items = m->n_results = 0;
    m->constant = FR_ZERO;
}

// Sorts items by wire: least significant digit first, skipping digits in which all wires agree (wires of one block are
// near each other, so two or three of four passes). Returns the array that holds the result.
static const uint64_t *sort_items(uint64_t *items, uint64_t *scratch, uint32_t n) {
    uint64_t differ = 0;
    for (uint32_t i = 1; i < n; i++) differ |= items[i] ^ items[0];
    for (uint32_t shift = 32; shift < 64; shift += 8) {
        if ((differ >> shift & 0xff) == 0) continue;
        uint32_t at[256] = {0};
        for (uint32_t i = 0; i < n; i++) at[items[i] >> shift & 0xff]++;
        for (uint32_t d = 0, sum = 0; d < 256; d++) {
            const uint32_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (uint32_t i = 0; i < n; i++) scratch[at[items[i] >> shift & 0xff]++] = items[i];
        uint64_t *const swap = items;
        items = scratch;
        scratch = swap;
    }
    return items;
}

static void enforce(word_eq *m) {
    const fr *powers = gadget_powers_of_two();
    const uint64_t *items = sort_items(m->items, m->scratch, m->n_items);
    uint32_t n = 0;
    if (!fr_is_zero(&m->constant)) m->left[n++] = (term){WIRE_ONE, m->constant};
    for (uint32_t i = 0; i < m->n_items;) {
        term *t = &m->left[n];
        t->wire = (wire)(items[i] >> 32);
        t->coeff = powers[items[i] & 0xff];
        if ((items[i] & 0x100) != 0) fr_neg(&t->coeff, &t->coeff);
        for (i++; i < m->n_items && (wire)(items[i] >> 32) == t->wire; i++) {
            if ((items[i] & 0x100) != 0) {
                fr_sub(&t->coeff, &t->coeff, &powers[items[i] & 0xff]);
            } else {
                fr_add(&t->coeff, &t->coeff, &powers[items[i] & 0xff]);
            }
        }
        n += !fr_is_zero(&t->coeff);
    }
    cs_label(m->s, "multieq %u", m->ops);
    cs_enforce(m->s, (lc_view){m->left, n}, (lc_view){&GADGET_ONE, 1}, (lc_view){m->results, m->n_results});
    m->ops++;
    m->bits_used = m->n_items = m->n_results = 0;
    m->constant = FR_ZERO;
}

void word_eq_finish(word_eq *m) {
    if (m->bits_used > 0) enforce(m);
}

// Adds the sum of the operands, shifted by the bits used, to the left side.
static void add_operands(word_eq *m, const word *const *operands, uint32_t n) {
    int64_t constant = 0; // |constant| < 10 * 2^32
    uint32_t items = m->n_items;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < 32; i++) {
            const boolean b = operands[k]->bits[i];
            if (b.kind == BOOLEAN_CONSTANT) {
                constant += (int64_t)b.value << i;
            } else {
                if (b.kind == BOOLEAN_NOT) constant += INT64_C(1) << i;
                m->items[items++] = (uint64_t)b.wire << 32 | (b.kind == BOOLEAN_NOT ? 0x100u : 0u) | (m->bits_used + i);
            }
        }
    }
    m->n_items = items;
    if (constant != 0) {
        fr c;
        fr_from_u64(&c, (uint64_t)constant);
        fr_mul(&c, &c, &gadget_powers_of_two()[m->bits_used]);
        fr_add(&m->constant, &m->constant, &c);
    }
}

void word_sum(word_eq *m, word *out, const word *const *operands, uint32_t n) {
    assert(n >= 2 && n <= WORD_SUM_MAX);
    bool constants = true;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < 32 && constants; i++) constants = boolean_is_constant(operands[k]->bits[i]);
    }
    uint64_t sum = 0;
    if (m->s->has_values || constants) {
        for (uint32_t k = 0; k < n; k++) sum += word_value(operands[k]);
    }
    if (constants) {
        word_constant(out, (uint32_t)sum);
        return;
    }
    // As many bits as the greatest sum has; the carries are dropped from the result, not from the equation.
    wire bits[32 + 4];
    word result;
    uint32_t n_bits = 0;
    for (uint64_t max = (uint64_t)n * UINT32_MAX; max != 0; max >>= 1, n_bits++) {
        cs_enter(m->s, "result bit %u", n_bits);
        const boolean b = boolean_alloc(m->s, (sum >> n_bits & 1) != 0);
        cs_leave(m->s);
        bits[n_bits] = b.wire;
        if (n_bits < 32) result.bits[n_bits] = b;
    }
    if (m->bits_used + n_bits >= FR_CAPACITY) enforce(m);
    add_operands(m, operands, n);
    const fr *powers = gadget_powers_of_two() + m->bits_used;
    for (uint32_t i = 0; i < n_bits; i++) m->results[m->n_results++] = (term){bits[i], powers[i]};
    m->bits_used += n_bits;
    *out = result;
}
