// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the gadget tests share: running a small circuit against the check, count and digest sinks.
#ifndef CUZK_TESTS_GADGET_TESTING_H
#define CUZK_TESTS_GADGET_TESTING_H

#include "testing.h"

#include "base/bytes.h"
#include "r1cs/check.h"
#include "r1cs/count.h"
#include "r1cs/digest.h"

typedef void (*small_circuit)(cs *s, void *ctx);

static inline fr random_fr(test_rng *r) {
    fr f;
    if (test_below(r, 8) == 0) {
        fr_from_u64(&f, test_below(r, 3));
        if (test_below(r, 2) == 0) fr_neg(&f, &f);
        return f;
    }
    uint64_t limbs[4];
    uint8_t bytes[64] = {0};
    for (int i = 0; i < 4; i++) limbs[i] = test_edge_u64(r);
    memcpy(bytes, limbs, 32);
    fr_from_le_bytes_wide(&f, bytes);
    return f;
}

// All constraints hold; returns how many there are.
static inline uint64_t assert_satisfied(small_circuit run, void *ctx) {
    check_sink s;
    check_init(&s, NULL);
    run(&s.head, ctx);
    assert_int_equal(s.head.status, CUZK_OK);
    assert_string_equal(s.first_scope, "");
    assert_int_equal(s.unsatisfied, 0);
    const uint64_t n = s.head.n_constraints;
    check_destroy(&s);
    return n;
}

// Changing one aux value, whichever from `first` on, breaks a constraint (those before are free inputs of the circuit).
// At most `tries` of them, spread out.
static inline void assert_every_value_matters(small_circuit run, void *ctx, uint32_t first, uint32_t tries) {
    count_sink count;
    count_init(&count);
    run(&count.head, ctx);
    const uint32_t n = count.head.n_aux, step = n / tries + 1;
    for (uint32_t i = first; i < n; i += step) {
        check_sink s;
        check_init(&s, NULL);
        s.flip_aux = i;
        run(&s.head, ctx);
        if (s.unsatisfied == 0) fail_msg("aux value %u of %u may be changed unnoticed", i, n);
        check_destroy(&s);
    }
}

// The shape does not depend on values: the digest without values is that of the given hex.
static inline void assert_digest(small_circuit run, void *ctx, const char *hex) {
    digest_sink d;
    uint8_t hash[32];
    char found[65];
    digest_init(&d, NULL);
    run(&d.head, ctx);
    assert_int_equal(d.head.status, CUZK_OK);
    digest_so_far(hash, &d);
    hex_encode(found, hash, 32);
    digest_destroy(&d);
    assert_string_equal(found, hex);
}

#endif
