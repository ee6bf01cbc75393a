// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/provider.h"

static uint64_t power_of_two(uint64_t n) {
    uint64_t size = 1;
    while (size < n) size *= 2;
    return size;
}

uint64_t provider_key_bytes(const groth16_pk *pk) {
    const uint64_t g1 = (uint64_t)pk->n_h + pk->n_l + pk->n_a + pk->n_b + pk->vk.n_ic;
    return sizeof *pk + g1 * sizeof(g1_affine) + (uint64_t)pk->n_b * sizeof(g2_affine);
}

uint64_t provider_partition_bytes(uint64_t rows, uint64_t wires) {
    enum { FIRST_CAPACITY = 1024, SUM_BYTES = 160, SCRATCH = 1 << 20 };
    // Arrays double as they grow: while one moves, the old half and the new whole are there at once.
    const uint64_t domain = power_of_two(rows < FIRST_CAPACITY ? FIRST_CAPACITY : rows),
                   values = power_of_two(wires < FIRST_CAPACITY ? FIRST_CAPACITY : wires);
    const uint64_t synthesis = sizeof(fr) * (3 * domain + values + domain / 2);
    // Beside them a scalar: its digits, their sorted places, a share of the buckets.
    const uint64_t proving = sizeof(fr) * (4 * domain + 2 * values) + SUM_BYTES * domain + SCRATCH;
    return synthesis > proving ? synthesis : proving;
}

uint64_t provider_packed_bytes(uint64_t rows, uint64_t wires, uint64_t fields) {
    // A wire takes at most 2 bytes. While the witness is transformed there are three vectors over the domain, with the
    // tables of the transforms; then one of them and the digits, places and buckets of the sum over it, which are more.
    // Then come the sums over field elements, one at a time: a scalar, its point of at most 192 bytes, digits, places.
    enum { WITNESS_BYTES = 2, SUM_BYTES = 160, FIELD_SUM_BYTES = 800, SCRATCH = 8 << 20 };
    const uint64_t quotient = (sizeof(fr) + SUM_BYTES) * power_of_two(rows), sums = FIELD_SUM_BYTES * fields;
    return WITNESS_BYTES * wires + sizeof(fr) * fields + (quotient > sums ? quotient : sums) + SCRATCH;
}
