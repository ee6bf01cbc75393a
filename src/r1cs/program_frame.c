// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/program_frame.h"

#include <string.h>

bool program_frame_reset(program_frame *f, uint32_t room) {
    vec32 *const all[] = {&f->slots, &f->slot_fields, &f->local_fields, &f->field_slots, &f->field_locals, &f->code};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->n = 0;
    f->n_rows = 0;
    f->room = room;
    uint64_t size = 64;
    while (size < 2 * (uint64_t)room) size *= 2;
    if (f->keys == NULL || size > (uint64_t)f->mask + 1) {
        uint32_t *keys = mem_alloc(MEM_CIRCUIT, size, sizeof *keys),
                 *values = mem_alloc(MEM_CIRCUIT, size, sizeof *keys);
        if (keys == NULL || values == NULL) {
            mem_free(keys);
            mem_free(values);
            return false;
        }
        mem_free(f->keys);
        mem_free(f->values);
        f->keys = keys;
        f->values = values;
    }
    // Only as much of the table as this room needs: a small template should not pay for a large one before it.
    f->mask = (uint32_t)(size - 1);
    memset(f->keys, 0, size * sizeof *f->keys);
    return true;
}

void program_frame_free(program_frame *f) {
    vec32 *const all[] = {&f->slots, &f->slot_fields, &f->local_fields, &f->field_slots, &f->field_locals, &f->code};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vec32_free(all[i]);
    mem_free(f->keys);
    mem_free(f->values);
    *f = (program_frame){0};
}

static uint32_t probe(const program_frame *f, wire w) {
    uint32_t at = (uint32_t)((w * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & f->mask;
    while (f->keys[at] != 0 && f->keys[at] != w) at = (at + 1) & f->mask;
    return at;
}

uint32_t program_frame_slot(const program_frame *f, wire w) {
    const uint32_t at = probe(f, w);
    return f->keys[at] != 0 ? f->values[at] : UINT32_MAX;
}

bool program_frame_add_slot(program_frame *f, uint32_t *slot, wire w, bool is_field) {
    const uint32_t at = probe(f, w);
    if (f->keys[at] != 0) {
        *slot = f->values[at];
        return true;
    }
    *slot = f->slots.n;
    if (!vec32_push(&f->slots, w) || !vec32_push(&f->slot_fields, is_field ? f->field_slots.n : UINT32_MAX))
        return false;
    if (is_field && !vec32_push(&f->field_slots, *slot)) return false;
    f->keys[at] = w;
    f->values[at] = *slot;
    return true;
}

bool program_frame_alloc(program_frame *f, wire_kind kind) {
    const uint32_t local = f->local_fields.n;
    const bool is_field = kind == WIRE_FIELD;
    return vec32_push(&f->local_fields, is_field ? f->field_locals.n : UINT32_MAX) &&
           (!is_field || vec32_push(&f->field_locals, local));
}

// A term with its coefficient's number in place of the coefficient, and a ref in place of the wire.
static frame_outcome translate(uint32_t *ref, program_frame *f, const bitmap *fields, wire w) {
    uint32_t place, number;
    if (w == WIRE_ONE) {
        *ref = 0;
        return FRAME_OK;
    }
    if (wire_is_aux(w) && wire_index(w) >= f->aux) {
        const uint32_t local = wire_index(w) - f->aux;
        place = 1 + f->room + local;
        number = f->local_fields.at[local];
    } else {
        uint32_t slot = UINT32_MAX;
        if (f->named) {
            slot = program_frame_slot(f, w);
            if (slot == UINT32_MAX) return FRAME_FOREIGN_WIRE;
        } else if (!program_frame_add_slot(f, &slot, w, !wire_is_aux(w) || bitmap_get(fields, wire_index(w)))) {
            return FRAME_NO_MEMORY;
        }
        place = 1 + slot;
        number = f->slot_fields.at[slot];
        if (number != UINT32_MAX) number |= PROGRAM_SLOT;
    }
    if (place >= PROGRAM_MAX_PLACES) return FRAME_TOO_LONG;
    *ref = number == UINT32_MAX ? place : PROGRAM_FIELD | number;
    return FRAME_OK;
}

static void put_wide(program_frame *f, const program_coeffs *c, const uint32_t *refs, const uint32_t *numbers,
                     uint32_t n) {
    vec32 *code = &f->code;
    const uint32_t head = code->n;
    code->n += 2;
    for (uint32_t i = 0; i < n; i++) {
        const coeff_class *k = &c->classes[numbers[i]];
        if ((refs[i] & PROGRAM_FIELD) != 0 || k->n_powers == 0) continue;
        for (uint32_t j = 0; j < k->n_powers; j++)
            code->at[code->n++] = refs[i] | (k->minus ? PROGRAM_MINUS : 0) | (uint32_t)k->exponent[j] << 24;
    }
    code->at[head] = code->n - head - 2;
    uint32_t general = 0;
    for (uint32_t i = 0; i < n; i++) {
        if ((refs[i] & PROGRAM_FIELD) == 0 && c->classes[numbers[i]].n_powers != 0) continue;
        code->at[code->n++] = refs[i];
        code->at[code->n++] = numbers[i];
        general++;
    }
    code->at[head + 1] = general;
}

frame_outcome program_frame_row(program_frame *f, program_coeffs *coeffs, const bitmap *fields, const lc_view row[3]) {
    const uint64_t total = (uint64_t)row[0].n + row[1].n + row[2].n;
    if (total > UINT32_MAX / (2 + COEFF_MAX_POWERS) - 8) return FRAME_TOO_LONG;
    // Behind the room that the longest form of the row needs, refs and numbers are laid out first.
    const uint32_t words = 7 + (uint32_t)total * (COEFF_MAX_POWERS > 2 ? COEFF_MAX_POWERS : 2);
    if (!vec32_reserve(&f->code, words + 2 * (uint32_t)total)) return FRAME_NO_MEMORY;
    uint32_t *const refs = f->code.at + f->code.n + words, *const numbers = refs + total;
    bool narrow = true;
    uint32_t n = 0;
    for (int k = 0; k < 3; k++) {
        narrow &= row[k].n <= PROGRAM_NARROW_TERMS;
        for (uint32_t i = 0; i < row[k].n; i++, n++) {
            const frame_outcome o = translate(&refs[n], f, fields, row[k].terms[i].wire);
            if (o != FRAME_OK) return o;
            if (!program_coeffs_number(coeffs, &numbers[n], &row[k].terms[i].coeff)) return FRAME_NO_MEMORY;
            narrow &= (refs[n] & PROGRAM_FIELD) == 0 && coeffs->classes[numbers[n]].small != 0;
        }
    }
    if (narrow) {
        f->code.at[f->code.n++] = row[0].n | row[1].n << 8 | row[2].n << 16;
        for (uint32_t i = 0; i < n; i++)
            f->code.at[f->code.n++] = refs[i] | (uint32_t)(uint8_t)coeffs->classes[numbers[i]].small << 24;
    } else {
        f->code.at[f->code.n++] = PROGRAM_WIDE;
        uint32_t from = 0;
        for (int k = 0; k < 3; k++) {
            put_wide(f, coeffs, refs + from, numbers + from, row[k].n);
            from += row[k].n;
        }
    }
    f->n_rows++;
    return FRAME_OK;
}
