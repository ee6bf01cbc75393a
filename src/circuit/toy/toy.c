// SPDX-License-Identifier: MIT OR Apache-2.0
#include "circuit/toy/toy.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "gadget/num.h"

const toy_shape TOY10 = {.rows = 1 << 10, .partitions = 10};
const toy_shape TOY1 = {.rows = 1 << 10, .partitions = 1};

enum { START_BITS_MAX = 64 };

// How the rows are spent: bits of the start value, steps of the parity, steps of the chain; then one row that packs
// the bits, one for the output and two of the prover's own.
typedef struct layout {
    uint32_t bits, parity, chain;
} layout;

static layout layout_of(const toy_shape *shape) {
    const uint32_t room = shape->rows - 4, quarter = room / 4;
    layout l = {.bits = quarter < START_BITS_MAX ? quarter : START_BITS_MAX, .parity = quarter};
    l.chain = room - l.bits - l.parity;
    return l;
}

cuzk_status toy_shape_by_name(toy_shape *out, const char *name, cuzk_error *err) {
    if (strcmp(name, "toy10") == 0)
        *out = TOY10;
    else if (strcmp(name, "toy1") == 0)
        *out = TOY1;
    else
        return cuzk_fail(err, CUZK_ERR_USAGE, "no toy circuit named %s: there are toy10 and toy1", name);
    return CUZK_OK;
}

cuzk_status toy_shape_check(const toy_shape *shape, cuzk_error *err) {
    if (shape->rows < TOY_MIN_ROWS || shape->rows > TOY_MAX_ROWS)
        return cuzk_fail(err, CUZK_ERR_USAGE, "a toy circuit has %d to %d rows, asked for %" PRIu32, TOY_MIN_ROWS,
                         TOY_MAX_ROWS, shape->rows);
    if (shape->partitions == 0 || shape->partitions > TOY_MAX_PARTITIONS)
        return cuzk_fail(err, CUZK_ERR_USAGE, "a toy proof has 1 to %d partitions, asked for %" PRIu32,
                         TOY_MAX_PARTITIONS, shape->partitions);
    return CUZK_OK;
}

cuzk_status toy_parse_input(uint64_t *seed, const uint8_t *input, size_t len, cuzk_error *err) {
    if (len != TOY_INPUT_BYTES)
        return cuzk_fail(err, CUZK_ERR_INPUT, "the input of a toy circuit has %d bytes, found %zu", TOY_INPUT_BYTES,
                         len);
    *seed = load_le64(input);
    return CUZK_OK;
}

// The start value of a partition: the seed, stirred (the finaliser of SplitMix64) so that neighbours share nothing, cut
// to the bits there are.
static uint64_t start_of(uint64_t seed, uint32_t partition, uint32_t bits) {
    uint64_t z = seed + (partition + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return bits == 64 ? z : z & ((UINT64_C(1) << bits) - 1);
}

static lc_view view(const term *terms, uint32_t n) { return (lc_view){terms, n}; }

// y = x^2 + k.
static num chain_step(cs *s, const num *x, uint32_t k) {
    fr constant, value = FR_ZERO;
    fr_from_u64(&constant, k);
    if (s->has_values) {
        fr_sqr(&value, &x->value);
        fr_add(&value, &value, &constant);
    }
    num y = num_alloc(s, &value);
    fr_neg(&constant, &constant);
    const term a = {x->wire, FR_ONE}, c[] = {{WIRE_ONE, constant}, {y.wire, FR_ONE}};
    cs_label(s, "square", -1);
    cs_enforce(s, view(&a, 1), view(&a, 1), view(c, 2));
    return y;
}

static void output(cs *s, const num *x, boolean parity) {
    fr value = x->value;
    if (parity.value) fr_add(&value, &value, &FR_ONE);
    const num out = num_alloc_input(s, &value);
    // The parity was allocated before the chain, so these are in order of wires.
    const term sum[] = {{parity.wire, FR_ONE}, {x->wire, FR_ONE}}, one = {WIRE_ONE, FR_ONE}, o = {out.wire, FR_ONE};
    cs_label(s, "output", -1);
    cs_enforce(s, view(sum, 2), view(&one, 1), view(&o, 1));
}

static void synthesize(const void *self, cs *s) {
    const toy_circuit *t = self;
    const layout l = layout_of(&t->shape);
    const uint64_t start = s->has_values ? start_of(t->seed, t->partition, l.bits) : 0;
    boolean bits[START_BITS_MAX];
    cs_enter(s, "start", -1);
    for (uint32_t i = 0; i < l.bits; i++) bits[i] = boolean_alloc(s, (start >> i & 1) != 0);
    cs_leave(s);
    cs_enter(s, "parity", -1);
    boolean parity = bits[0];
    for (uint32_t i = 1; i <= l.parity; i++) parity = boolean_xor(s, parity, bits[i % l.bits]);
    cs_leave(s);
    cs_enter(s, "chain", -1);
    num x = num_pack_bits(s, bits, l.bits);
    for (uint32_t i = 1; i <= l.chain; i++) {
        if (s->status != CUZK_OK) break;
        x = chain_step(s, &x, i);
    }
    cs_leave(s);
    output(s, &x, parity);
}

circuit toy_circuit_bind(const toy_circuit *self) { return (circuit){synthesize, self}; }

void toy_public_input(fr *out, const toy_shape *shape, uint64_t seed, uint32_t partition) {
    const layout l = layout_of(shape);
    const uint64_t start = start_of(seed, partition, l.bits);
    // Whole rounds over the bits, then the rest of a round; the start bit 0 and, from 1 on, one bit a step.
    uint64_t parity = start & 1;
    for (uint32_t i = 1; i <= l.parity; i++) parity ^= start >> i % l.bits & 1;
    fr x, k;
    fr_from_u64(&x, start);
    for (uint32_t i = 1; i <= l.chain; i++) {
        fr_from_u64(&k, i);
        fr_sqr(&x, &x);
        fr_add(&x, &x, &k);
    }
    fr_from_u64(&k, parity);
    fr_add(out, &x, &k);
}
