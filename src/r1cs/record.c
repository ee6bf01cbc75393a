// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/record.h"

#include <string.h>

#include "base/mem.h"
#include "r1cs/lc.h"

// Room for `need` elements in an array of `n` used, by doubling.
static bool grow(void **array, uint64_t *cap, uint64_t n, uint64_t need, size_t size) {
    if (need <= *cap) return true;
    uint64_t want = *cap < 256 ? 256 : *cap * 2;
    if (want < need) want = need;
    void *grown = mem_alloc(MEM_CIRCUIT, want, size);
    if (grown == NULL) return false;
    if (n > 0) memcpy(grown, *array, n * size);
    mem_free(*array);
    *array = grown;
    *cap = want;
    return true;
}

static uint32_t slot_of(const record_sink *s, const fr *coeff) {
    const uint64_t h = (coeff->l[0] ^ coeff->l[1]) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(h >> 32) & s->slots_mask;
    while (s->slots[at] != 0 && !fr_eq(&s->coeffs[s->slots[at] - 1], coeff)) at = (at + 1) & s->slots_mask;
    return at;
}

static bool rehash(record_sink *s, uint32_t size) {
    uint32_t *slots = mem_calloc(MEM_CIRCUIT, size, sizeof *slots);
    if (slots == NULL) return false;
    mem_free(s->slots);
    s->slots = slots;
    s->slots_mask = size - 1;
    for (uint32_t id = 0; id < s->n_coeffs; id++) s->slots[slot_of(s, &s->coeffs[id])] = id + 1;
    return true;
}

// Id of a coefficient, added if new. False when memory is refused.
static bool coeff_id(record_sink *s, uint32_t *id, const fr *coeff) {
    if (fr_is_one(coeff) && s->n_coeffs > 0) {
        *id = 0;
        return true;
    }
    uint32_t at = slot_of(s, coeff);
    if (s->slots[at] == 0) {
        uint64_t cap = s->coeffs_cap;
        void *array = s->coeffs;
        if (s->n_coeffs == UINT32_MAX / 4 || !grow(&array, &cap, s->n_coeffs, (uint64_t)s->n_coeffs + 1, sizeof(fr))) {
            return false;
        }
        s->coeffs = array;
        s->coeffs_cap = (uint32_t)cap;
        s->coeffs[s->n_coeffs++] = *coeff;
        s->slots[at] = s->n_coeffs;
        if (s->n_coeffs > s->slots_mask / 2) {
            if (!rehash(s, (s->slots_mask + 1) * 2)) return false;
            at = slot_of(s, coeff);
        }
    }
    *id = s->slots[at] - 1;
    return true;
}

static bool put_row(record_sink *s, record_matrix *m, lc_view v) {
    const uint64_t rows = s->head.n_constraints;
    void *row_end = m->row_end, *wires = m->wires, *coeffs = m->coeffs;
    uint64_t wires_cap = m->terms_cap, coeffs_cap = m->terms_cap;
    bool ok = grow(&row_end, &m->rows_cap, rows, rows + 1, sizeof *m->row_end);
    m->row_end = row_end;
    ok = ok && grow(&wires, &wires_cap, m->n_terms, m->n_terms + v.n, sizeof *m->wires);
    m->wires = wires;
    ok = ok && grow(&coeffs, &coeffs_cap, m->n_terms, m->n_terms + v.n, sizeof *m->coeffs);
    m->coeffs = coeffs;
    if (!ok) return false;
    m->terms_cap = coeffs_cap;
    for (uint32_t i = 0; i < v.n; i++) {
        m->wires[m->n_terms] = v.terms[i].wire;
        if (!coeff_id(s, &m->coeffs[m->n_terms], &v.terms[i].coeff)) return false;
        m->n_terms++;
    }
    m->row_end[rows] = m->n_terms;
    return true;
}

static void on_alloc(cs *head, wire_kind kind, const fr *value) {
    record_sink *s = (record_sink *)head;
    (void)value;
    void *kinds = s->kinds;
    const bool ok = grow(&kinds, &s->kinds_cap, head->n_aux, (uint64_t)head->n_aux + 1, 1);
    s->kinds = kinds;
    if (!ok) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint record: no memory for %u variables", head->n_aux);
        return;
    }
    s->kinds[head->n_aux] = (uint8_t)kind;
}

static void on_alloc_input(cs *head, const fr *value) { (void)head, (void)value; }

static void on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    record_sink *s = (record_sink *)head;
    if (!put_row(s, &s->m[0], a) || !put_row(s, &s->m[1], b) || !put_row(s, &s->m[2], c)) {
        cs_fail(head, CUZK_ERR_MEMORY, "constraint record: no memory for %llu constraints",
                (unsigned long long)head->n_constraints);
    }
}

static const cs_ops ops = {.alloc = on_alloc, .alloc_input = on_alloc_input, .enforce = on_enforce};

void record_init(record_sink *s) {
    *s = (record_sink){0};
    cs_init(&s->head, &ops, false);
    fr minus_one;
    fr_neg(&minus_one, &FR_ONE);
    uint32_t id;
    if (!rehash(s, 1024) || !coeff_id(s, &id, &FR_ONE) || !coeff_id(s, &id, &minus_one)) {
        cs_fail(&s->head, CUZK_ERR_MEMORY, "constraint record: no memory for coefficients");
    }
}

void record_destroy(record_sink *s) {
    for (int i = 0; i < 3; i++) {
        mem_free(s->m[i].row_end);
        mem_free(s->m[i].wires);
        mem_free(s->m[i].coeffs);
        s->m[i] = (record_matrix){0};
    }
    mem_free(s->coeffs);
    mem_free(s->slots);
    mem_free(s->kinds);
    s->coeffs = NULL, s->slots = NULL, s->kinds = NULL;
}

void record_replay(const record_sink *s, cs *to) {
    for (uint32_t i = 1; i < s->head.n_inputs; i++) (void)cs_alloc_input(to, NULL);
    for (uint32_t i = 0; i < s->head.n_aux; i++) (void)cs_alloc(to, (wire_kind)s->kinds[i], NULL);
    lc rows[3];
    for (int k = 0; k < 3; k++) lc_init(&rows[k]);
    for (uint64_t r = 0; r < s->head.n_constraints && to->status == CUZK_OK; r++) {
        for (int k = 0; k < 3; k++) {
            const record_matrix *m = &s->m[k];
            lc_clear(&rows[k]);
            for (uint64_t i = r == 0 ? 0 : m->row_end[r - 1]; i < m->row_end[r]; i++) {
                if (!lc_add(&rows[k], m->wires[i], &s->coeffs[m->coeffs[i]])) {
                    cs_fail(to, CUZK_ERR_MEMORY, "constraint replay: no memory for a row");
                    break;
                }
            }
        }
        cs_enforce(to, lc_finish(&rows[0]), lc_finish(&rows[1]), lc_finish(&rows[2]));
    }
    for (int k = 0; k < 3; k++) lc_free(&rows[k]);
}
