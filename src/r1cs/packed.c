// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/packed.h"

#include <string.h>

#include "base/mem.h"

// Overwrites and frees. The empty asm takes the pointer and claims to read memory, so the stores must stay.
static void wipe(void *p, size_t len) {
    if (p != NULL) {
        memset(p, 0, len);
        __asm__ __volatile__("" : : "r"(p) : "memory");
    }
    mem_free(p);
}

static uint64_t words_of(uint64_t bits) { return (bits + 63) / 64; }

uint64_t packed_words(const packed_witness *w) { return words_of(w->n_aux); }

uint64_t packed_bytes(const packed_witness *w) {
    const uint64_t words = packed_words(w);
    return sizeof *w + sizeof(fr) * ((uint64_t)w->n_inputs + w->n_fields) + 16 * words +
           4 * (words / PACKED_RANK_WORDS + 1);
}

void packed_destroy(packed_witness **out) {
    packed_witness *w = *out;
    if (w == NULL) return;
    wipe(w->inputs, w->n_inputs * sizeof(fr));
    wipe(w->bits, packed_words(w) * sizeof *w->bits);
    wipe(w->fields, w->n_fields * sizeof(fr));
    mem_free(w->field_mask); // no secret: the circuit fixes it
    mem_free(w->ranks);
    mem_free(w);
    *out = NULL;
}

void packed_value(fr *out, const packed_witness *w, wire at) {
    const uint32_t i = wire_index(at);
    if (!wire_is_aux(at))
        *out = w->inputs[i];
    else if ((w->field_mask[i >> 6] >> (i & 63) & 1) != 0)
        *out = w->fields[packed_field_number(w, i)];
    else
        *out = (w->bits[i >> 6] >> (i & 63) & 1) != 0 ? FR_ONE : FR_ZERO;
}

// --- The sink ---

static void no_memory(packed_sink *s) {
    cs_fail(&s->head, CUZK_ERR_MEMORY, "no memory for a witness of more than %u wires", s->head.n_aux);
}

// Twice the room for an array of n used; the old one held secrets.
static bool grow(void **array, uint64_t n, uint64_t cap, size_t size) {
    void *grown = mem_calloc(MEM_WITNESS, cap, size);
    if (grown == NULL) return false;
    if (n > 0) memcpy(grown, *array, n * size);
    wipe(*array, n * size);
    *array = grown;
    return true;
}

// Room for n aux wires. Both vectors keep a zero word behind.
static bool need_aux(packed_sink *s, uint64_t n) {
    if (n <= s->aux_cap) return true;
    packed_witness *w = s->w;
    const uint64_t cap = n > 2 * s->aux_cap ? n : 2 * s->aux_cap, used = words_of(s->head.n_aux);
    void *bits = w->bits, *mask = w->field_mask;
    const bool ok = grow(&bits, used, words_of(cap) + 1, sizeof *w->bits);
    const bool both = ok && grow(&mask, used, words_of(cap) + 1, sizeof *w->field_mask);
    w->bits = bits;
    w->field_mask = mask;
    if (both) s->aux_cap = cap;
    return both;
}

static bool push(fr **array, uint32_t n, uint64_t *cap, const fr *value) {
    if (n >= *cap) {
        const uint64_t want = *cap < 64 ? 64 : 2 * *cap;
        void *grown = *array;
        if (!grow(&grown, n, want, sizeof **array)) return false;
        *array = grown;
        *cap = want;
    }
    (*array)[n] = *value;
    return true;
}

static void on_alloc(cs *head, wire_kind kind, const fr *value) {
    packed_sink *s = (packed_sink *)head;
    packed_witness *w = s->w;
    const uint32_t i = head->n_aux;
    if (!need_aux(s, (uint64_t)i + 1)) {
        no_memory(s);
        return;
    }
    if (kind == WIRE_BIT) {
        if (fr_is_one(value))
            w->bits[i >> 6] |= UINT64_C(1) << (i & 63);
        else if (!fr_is_zero(value))
            cs_fail(head, CUZK_ERR_INTERNAL, "wire %u is a bit but neither 0 nor 1", i);
        return;
    }
    if (!push(&w->fields, w->n_fields, &s->fields_cap, value)) {
        no_memory(s);
        return;
    }
    w->n_fields++;
    w->field_mask[i >> 6] |= UINT64_C(1) << (i & 63);
}

static void on_alloc_input(cs *head, const fr *value) {
    packed_sink *s = (packed_sink *)head;
    if (s->w == NULL) return; // failed before it began
    if (push(&s->w->inputs, head->n_inputs, &s->inputs_cap, value))
        s->w->n_inputs = head->n_inputs + 1;
    else
        no_memory(s);
}

static void on_alloc_bits(cs *head, const uint64_t *bits, uint32_t n) {
    packed_sink *s = (packed_sink *)head;
    if (!need_aux(s, (uint64_t)head->n_aux + n)) {
        no_memory(s);
        return;
    }
    uint64_t *to = s->w->bits + (head->n_aux >> 6);
    const uint32_t shift = head->n_aux & 63;
    for (uint32_t i = 0; i < n; i += 64, to++) {
        uint64_t word = *bits++;
        if (n - i < 64) word &= (UINT64_C(1) << (n - i)) - 1;
        to[0] |= word << shift;
        if (shift != 0) to[1] |= word >> (64 - shift);
    }
}

static const cs_ops PACKED_OPS = {.alloc = on_alloc, .alloc_input = on_alloc_input, .alloc_bits = on_alloc_bits};

void packed_sink_init(packed_sink *s, uint32_t inputs, uint32_t aux, uint32_t fields) {
    *s = (packed_sink){0};
    packed_witness *w = s->w = mem_calloc(MEM_WITNESS, 1, sizeof *w);
    if (w != NULL) {
        s->inputs_cap = inputs > 0 ? inputs : 1;
        s->fields_cap = fields;
        w->inputs = mem_calloc(MEM_WITNESS, s->inputs_cap, sizeof *w->inputs);
        w->fields = mem_calloc(MEM_WITNESS, fields, sizeof *w->fields);
        if (w->inputs == NULL || w->fields == NULL || !need_aux(s, aux > 0 ? aux : 1)) {
            mem_free(w->inputs);
            mem_free(w->fields);
            mem_free(w->bits);
            mem_free(w->field_mask);
            mem_free(w);
            s->w = NULL;
        }
    }
    cs_init(&s->head, &PACKED_OPS, true);
    if (s->w == NULL) no_memory(s);
}

cuzk_status packed_sink_finish(packed_witness **out, packed_sink *s, cuzk_error *err) {
    packed_witness *w = s->w;
    s->w = NULL;
    *out = NULL;
    if (w != NULL) {
        w->n_aux = s->head.n_aux;
        const uint64_t words = packed_words(w);
        w->ranks = mem_alloc(MEM_WITNESS, words / PACKED_RANK_WORDS + 1, sizeof *w->ranks);
        if (w->ranks == NULL) no_memory(s);
        uint32_t n = 0;
        for (uint64_t i = 0; w->ranks != NULL && i < words; i++) {
            if (i % PACKED_RANK_WORDS == 0) w->ranks[i / PACKED_RANK_WORDS] = n;
            n += (uint32_t)__builtin_popcountll(w->field_mask[i]);
        }
    }
    if (s->head.status != CUZK_OK) {
        packed_destroy(&w);
        return cuzk_fail(err, s->head.status, "%s", s->head.error.text);
    }
    *out = w;
    return CUZK_OK;
}
