// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From the program back to the constraint stream.
#include "base/mem.h"
#include "r1cs/lc.h"
#include "r1cs/program_format.h"

typedef struct expander {
    const program *p;
    const program_template *t;
    const program_instance *at;
    wire *slots;
    fr powers[PROGRAM_EXPONENTS];
    fr small[2 * PROGRAM_SMALL + 1]; // from -PROGRAM_SMALL
} expander;

static wire wire_of(const expander *x, uint32_t ref) {
    const program_template *t = x->t;
    uint32_t place = ref;
    if ((ref & PROGRAM_FIELD) != 0) {
        const uint32_t k = ref & ~(PROGRAM_FIELD | PROGRAM_SLOT);
        place = (ref & PROGRAM_SLOT) != 0 ? 1 + t->field_slots[k] : 1 + t->room + t->field_locals[k];
    }
    if (place == 0) return WIRE_ONE;
    return place <= t->room ? x->slots[place - 1] : WIRE_AUX | (x->at->aux + place - 1 - t->room);
}

static bool expand_wide(lc *out, const expander *x, const program_lc *l) {
    for (uint32_t i = 0; i < l->n_powers; i++) {
        const uint32_t word = l->powers[i];
        fr c = x->powers[word >> 24];
        if ((word & PROGRAM_MINUS) != 0) fr_neg(&c, &c);
        if (!lc_add(out, wire_of(x, word & PROGRAM_PLACE), &c)) return false;
    }
    for (uint32_t i = 0; i < l->n_general; i++)
        if (!lc_add(out, wire_of(x, l->general[2 * i]), &x->p->coeffs[l->general[2 * i + 1]])) return false;
    return true;
}

static const uint32_t *expand_row(lc lcs[3], const expander *x, const uint32_t *code, cs *to) {
    program_row r;
    const uint32_t *next = program_row_read(&r, code), *at = r.terms;
    bool ok = true;
    for (int k = 0; k < 3; k++) {
        lc_clear(&lcs[k]);
        if (r.wide) {
            ok = ok && expand_wide(&lcs[k], x, &r.lc[k]);
            continue;
        }
        for (uint32_t i = 0; i < r.n[k]; i++, at++)
            ok = ok && lc_add(&lcs[k], wire_of(x, *at & PROGRAM_PLACE), &x->small[(int8_t)(*at >> 24) + PROGRAM_SMALL]);
    }
    if (ok)
        cs_enforce(to, lc_finish(&lcs[0]), lc_finish(&lcs[1]), lc_finish(&lcs[2]));
    else
        cs_fail(to, CUZK_ERR_MEMORY, "expanding a program: no memory for a row");
    return next;
}

static void expand_instance(expander *x, lc lcs[3], const program_instance *at, cs *to) {
    const program_template *t = &x->p->templates[at->template];
    x->t = t;
    x->at = at;
    program_slots(x->slots, x->p, at);
    for (uint32_t i = 0; i < t->n_inputs; i++) (void)cs_alloc_input(to, NULL);
    uint32_t field = 0;
    for (uint32_t i = 0; i < t->n_locals; i++) {
        const bool is_field = field < t->n_field_locals && t->field_locals[field] == i;
        field += is_field;
        (void)cs_alloc(to, is_field ? WIRE_FIELD : WIRE_BIT, NULL);
    }
    const uint32_t *code = t->code;
    for (uint32_t r = 0; r < t->n_rows && to->status == CUZK_OK; r++) code = expand_row(lcs, x, code, to);
}

void program_expand(const program *p, cs *to) {
    expander x = {.p = p};
    lc lcs[3];
    for (int k = 0; k < 3; k++) lc_init(&lcs[k]);
    x.slots = mem_alloc(MEM_CIRCUIT, p->max_slots, sizeof *x.slots);
    if (x.slots == NULL) cs_fail(to, CUZK_ERR_MEMORY, "expanding a program: no memory for %u wires", p->max_slots);
    x.powers[0] = FR_ONE;
    for (int i = 1; i < PROGRAM_EXPONENTS; i++) fr_dbl(&x.powers[i], &x.powers[i - 1]);
    for (int i = 0; i <= PROGRAM_SMALL; i++) {
        fr_from_u64(&x.small[PROGRAM_SMALL + i], (uint64_t)i);
        fr_neg(&x.small[PROGRAM_SMALL - i], &x.small[PROGRAM_SMALL + i]);
    }
    for (uint32_t i = 0; i < p->n_instances && to->status == CUZK_OK; i++)
        expand_instance(&x, lcs, &p->instances[i], to);
    for (int k = 0; k < 3; k++) lc_free(&lcs[k]);
    mem_free(x.slots);
}
