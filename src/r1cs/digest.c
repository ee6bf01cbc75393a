// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the time goes: a 32 GiB partition is 722 million terms of 37 bytes. Nearly every coefficient is 1, -1 or a
// power of two, so canonical bytes are looked up, not computed, and SHA-256 runs over a buffer that stays in cache.
#include "r1cs/digest.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

enum {
    BUFFER_BYTES = 128 * 1024,
    TERM_BYTES = 37,
    RUN_TERMS = 1024, // terms written between two checks of the buffer
    CACHE_BITS = 13,
};

struct digest_coeff {
    fr coeff; // zero: empty (no term has a zero coefficient)
    uint8_t bytes[32];
};

static void flush(digest_sink *s) {
    sha256_update(&s->hash, s->buf, s->len);
    s->len = 0;
}

static void reserve(digest_sink *s, size_t bytes) {
    if (BUFFER_BYTES - s->len < bytes) flush(s);
}

static const uint8_t *cached_bytes(digest_sink *s, const fr *coeff) {
    // Montgomery limbs of distinct constants are as good as random; the multiplication spreads small ones.
    const uint64_t h = (coeff->l[0] ^ coeff->l[1]) * UINT64_C(0x9e3779b97f4a7c15);
    digest_coeff *e = &s->cache[h >> (64 - CACHE_BITS)];
    if (!fr_eq(&e->coeff, coeff)) {
        e->coeff = *coeff;
        fr_to_le_bytes(e->bytes, coeff);
    }
    return e->bytes;
}

static inline void put_term(digest_sink *s, uint8_t *p, const term *t) {
    static const uint8_t one[32] = {1};
    p[0] = (uint8_t)(t->wire >> 31);
    store_le32(p + 1, wire_index(t->wire));
    if (fr_is_one(&t->coeff)) {
        memcpy(p + 5, one, 32);
    } else if (fr_eq(&t->coeff, &s->minus_one)) {
        memcpy(p + 5, s->minus_one_bytes, 32);
    } else {
        memcpy(p + 5, cached_bytes(s, &t->coeff), 32);
    }
}

static void put_view(digest_sink *s, lc_view v) {
    reserve(s, 4);
    store_le32(s->buf + s->len, v.n);
    s->len += 4;
    for (uint32_t from = 0; from < v.n; from += RUN_TERMS) {
        const uint32_t left = v.n - from, run = left < RUN_TERMS ? left : RUN_TERMS;
        reserve(s, (size_t)run * TERM_BYTES);
        uint8_t *p = s->buf + s->len;
        for (uint32_t i = 0; i < run; i++, p += TERM_BYTES) put_term(s, p, &v.terms[from + i]);
        s->len += (size_t)run * TERM_BYTES;
    }
}

void digest_on_alloc(cs *head, wire_kind kind, const fr *value) {
    digest_sink *s = (digest_sink *)head;
    (void)kind, (void)value;
    if (head->n_aux / 64 < s->a_aux.n_words) return;
    if (!bitmap_reserve(&s->a_aux, (uint64_t)head->n_aux + 1) ||
        !bitmap_reserve(&s->b_aux, (uint64_t)head->n_aux + 1)) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint digest: no memory for the density of %u variables", head->n_aux);
    }
}

void digest_on_alloc_input(cs *head, const fr *value) {
    digest_sink *s = (digest_sink *)head;
    (void)value;
    if (!bitmap_reserve(&s->b_inputs, (uint64_t)head->n_inputs + 1)) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint digest: no memory for the density of %u inputs", head->n_inputs);
    }
}

void digest_on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    digest_sink *s = (digest_sink *)head;
    put_view(s, a);
    for (uint32_t i = 0; i < a.n; i++) {
        if (wire_is_aux(a.terms[i].wire)) bitmap_set(&s->a_aux, wire_index(a.terms[i].wire));
    }
    put_view(s, b);
    for (uint32_t i = 0; i < b.n; i++) {
        const wire w = b.terms[i].wire;
        bitmap_set(wire_is_aux(w) ? &s->b_aux : &s->b_inputs, wire_index(w));
    }
    put_view(s, c);
    s->nnz[0] += a.n, s->nnz[1] += b.n, s->nnz[2] += c.n;
    if ((head->n_constraints & 0xfffff) == 0xfffff && s->obs != NULL) {
        observe_progress(s->obs, "synthesis", head->n_constraints + 1, 0);
        if (observe_cancelled(s->obs)) cs_fail(head, CUZK_ERR_CANCELLED, "constraint digest: cancelled");
    }
}

static const cs_ops ops = {
    .alloc = digest_on_alloc, .alloc_input = digest_on_alloc_input, .enforce = digest_on_enforce};

void digest_init_as(digest_sink *s, const cs_ops *with, const observer *obs) {
    *s = (digest_sink){.obs = obs};
    sha256_init(&s->hash);
    fr_neg(&s->minus_one, &FR_ONE);
    fr_to_le_bytes(s->minus_one_bytes, &s->minus_one);
    s->buf = mem_alloc(MEM_CIRCUIT, BUFFER_BYTES, 1);
    s->cache = mem_calloc(MEM_CIRCUIT, (size_t)1 << CACHE_BITS, sizeof *s->cache);
    cs_init(&s->head, with, false);
    if (s->buf == NULL || s->cache == NULL)
        cs_fail(&s->head, CUZK_ERR_MEMORY, "constraint digest: no memory for buffers");
}

void digest_init(digest_sink *s, const observer *obs) { digest_init_as(s, &ops, obs); }

void digest_destroy(digest_sink *s) {
    mem_free(s->buf);
    mem_free(s->cache);
    bitmap_free(&s->a_aux);
    bitmap_free(&s->b_aux);
    bitmap_free(&s->b_inputs);
    s->buf = NULL, s->cache = NULL;
}

void digest_so_far(uint8_t out[32], digest_sink *s) {
    flush(s);
    sha256 copy = s->hash;
    sha256_final(out, &copy);
}
