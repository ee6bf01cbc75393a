// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What follows from a program's tables: offsets, densities, the constraint stream. program_link is also the gate for
// foreign data: behind it every number in a program may be trusted to lie within the arrays.
#include <string.h>

#include "base/mem.h"
#include "r1cs/evaluate_plan.h"

static cuzk_status broken(cuzk_error *err, const char *what) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "the program of the circuit is broken: %s", what);
}

// --- Checking a template ---

typedef struct walk {
    const program_template *t;
    const uint32_t *code, *end;
    uint32_t places, n_coeffs;
} walk;

static inline bool left(const walk *w, uint64_t words) { return words <= (uint64_t)(w->end - w->code); }
static inline void set_bit(uint64_t *bits, uint32_t i) { bits[i >> 6] |= UINT64_C(1) << (i & 63); }

// Marks what a ref stands for; false when there is no such thing.
static bool mark(const walk *w, uint64_t *dense, uint32_t ref) {
    const program_template *t = w->t;
    uint32_t place = ref;
    if ((ref & PROGRAM_FIELD) != 0) {
        const uint32_t k = ref & ~(PROGRAM_FIELD | PROGRAM_SLOT);
        if ((ref & PROGRAM_SLOT) != 0) {
            if (k >= t->n_field_slots) return false;
            place = 1 + t->field_slots[k];
        } else {
            if (k >= t->n_field_locals) return false;
            place = 1 + t->room + t->field_locals[k];
        }
    }
    if (place >= w->places || (place > t->n_slots && place <= t->room)) return false;
    if (dense != NULL) set_bit(dense, place);
    return true;
}

static bool check_wide(walk *w, uint64_t *dense) {
    if (!left(w, 2)) return false;
    const uint32_t powers = w->code[0], general = w->code[1];
    w->code += 2;
    if (!left(w, powers + 2 * (uint64_t)general)) return false;
    for (uint32_t i = 0; i < powers; i++)
        if (!mark(w, dense, *w->code++ & PROGRAM_PLACE)) return false;
    for (uint32_t i = 0; i < general; i++, w->code += 2)
        if (!mark(w, dense, w->code[0]) || w->code[1] >= w->n_coeffs) return false;
    return true;
}

static bool check_row(walk *w) {
    uint64_t *const dense[3] = {w->t->dense_a, w->t->dense_b, NULL};
    if (!left(w, 1)) return false;
    const uint32_t head = *w->code++;
    if (head == PROGRAM_WIDE) return check_wide(w, dense[0]) && check_wide(w, dense[1]) && check_wide(w, dense[2]);
    if (head > 0xffffff) return false;
    for (int k = 0; k < 3; k++) {
        const uint32_t n = head >> 8 * k & 0xff;
        if (n > PROGRAM_NARROW_TERMS || !left(w, n)) return false;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t word = *w->code++;
            const int8_t c = (int8_t)(word >> 24);
            if (c == 0 || c > PROGRAM_SMALL || c < -PROGRAM_SMALL || (word & PROGRAM_MINUS) != 0 ||
                !mark(w, dense[k], word & PROGRAM_PLACE))
                return false;
        }
    }
    return true;
}

static bool ascending(const uint32_t *at, uint32_t n, uint32_t below) {
    for (uint32_t i = 0; i < n; i++)
        if (at[i] >= below || (i > 0 && at[i] <= at[i - 1])) return false;
    return true;
}

static cuzk_status link_template(program *p, program_template *t, cuzk_error *err) {
    if (t->n_slots > t->room || (uint64_t)1 + t->room + t->n_locals >= PROGRAM_MAX_PLACES)
        return broken(err, "a template has too many wires");
    if (!ascending(t->field_locals, t->n_field_locals, t->n_locals) ||
        !ascending(t->field_slots, t->n_field_slots, t->n_slots))
        return broken(err, "a template's field elements are not among its wires");
    const uint32_t places = program_places(t);
    t->dense_a = mem_calloc(MEM_CIRCUIT, places / 64 + 2, sizeof *t->dense_a);
    t->dense_b = mem_calloc(MEM_CIRCUIT, places / 64 + 2, sizeof *t->dense_b);
    if (t->dense_a == NULL || t->dense_b == NULL)
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the densities of a template");
    walk w = {t, t->code, t->code + t->n_code, places, p->n_coeffs};
    for (uint32_t r = 0; r < t->n_rows; r++)
        if (!check_row(&w)) return broken(err, "a row of a template");
    if (w.code != w.end) return broken(err, "a template is longer than its rows");
    if (!evaluate_plan_make(t, p->coeffs))
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the evaluation of a template");
    if (t->n_slots > p->max_slots) p->max_slots = t->n_slots;
    if (t->n_field_slots > p->max_field_slots) p->max_field_slots = t->n_field_slots;
    if (places > p->max_places) p->max_places = places;
    if (t->n_rows > p->max_rows) p->max_rows = t->n_rows;
    return CUZK_OK;
}

// --- Offsets ---

void program_slots(wire *out, const program *p, const program_instance *at) {
    for (uint32_t r = at->run; r < at[1].run; r++) {
        wire w = p->runs[r].first;
        for (uint32_t i = 0; i < p->runs[r].n; i++, w += (uint32_t)p->runs[r].step) *out++ = w;
    }
}

static cuzk_status link_instances(program *p, cuzk_error *err) {
    uint64_t aux = 0, field = 0, input = 1, row = 0, total = 0;
    for (uint32_t i = 0; i <= p->n_instances; i++) {
        program_instance *at = &p->instances[i];
        at->aux = (uint32_t)aux, at->field = (uint32_t)field, at->input = (uint32_t)input, at->row = row;
        if (i == p->n_instances) break;
        if (at->template >= p->n_templates || at->run > at[1].run || at[1].run > p->n_runs)
            return broken(err, "an instance of no template");
        const program_template *t = &p->templates[at->template];
        uint64_t slots = 0;
        for (uint32_t r = at->run; r < at[1].run; r++) slots += p->runs[r].n;
        // Each is looked at below: a file of a few megabytes must not keep us busy for days.
        total += slots;
        if (total > UINT32_MAX) return broken(err, "its instances are given too many wires");
        if (slots != t->n_slots) return broken(err, "an instance has not the wires that its template needs");
        aux += t->n_locals, field += t->n_field_locals, input += t->n_inputs, row += t->n_rows;
        if (aux >= WIRE_AUX || input >= WIRE_AUX) return broken(err, "it has too many wires");
    }
    const program_instance *end = &p->instances[p->n_instances];
    if (p->instances[0].run != 0 || end->run != p->n_runs) return broken(err, "wires that belong to no instance");
    for (uint32_t r = 0; r < p->n_runs; r++) {
        wire w = p->runs[r].first;
        for (uint32_t i = 0; i < p->runs[r].n; i++, w += (uint32_t)p->runs[r].step)
            if (wire_is_aux(w) ? wire_index(w) >= end->aux : w >= end->input)
                return broken(err, "a wire that is not there");
    }
    return CUZK_OK;
}

// --- Densities ---

// Or-s n bits of `from`, beginning at bit `at`, into `to` at bit `base`. `from` has a word more than it needs.
static void or_bits(bitmap *to, uint64_t base, const uint64_t *from, uint64_t at, uint64_t n) {
    for (uint64_t i = 0; i < n; i += 64) {
        const uint64_t s = at + i, d = base + i;
        uint64_t w = from[s >> 6] >> (s & 63);
        if ((s & 63) != 0) w |= from[(s >> 6) + 1] << (64 - (s & 63));
        if (n - i < 64) w &= (UINT64_C(1) << (n - i)) - 1;
        to->words[d >> 6] |= w << (d & 63);
        if ((d & 63) != 0 && w >> (64 - (d & 63)) != 0) to->words[(d >> 6) + 1] |= w >> (64 - (d & 63));
    }
}

static cuzk_status link_densities(program *p, cuzk_error *err) {
    program_densities *d = &p->densities;
    const program_instance *end = &p->instances[p->n_instances];
    wire *slots = mem_alloc(MEM_CIRCUIT, p->max_slots, sizeof *slots);
    if (slots == NULL || !bitmap_reserve(&d->a_aux, (uint64_t)end->aux + 1) ||
        !bitmap_reserve(&d->b_aux, (uint64_t)end->aux + 1) || !bitmap_reserve(&d->b_inputs, end->input)) {
        mem_free(slots);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the densities of a circuit");
    }
    for (uint32_t i = 0; i < p->n_instances; i++) {
        const program_instance *at = &p->instances[i];
        const program_template *t = &p->templates[at->template];
        or_bits(&d->a_aux, at->aux, t->dense_a, 1 + (uint64_t)t->room, t->n_locals);
        or_bits(&d->b_aux, at->aux, t->dense_b, 1 + (uint64_t)t->room, t->n_locals);
        if ((t->dense_b[0] & 1) != 0) bitmap_set(&d->b_inputs, 0);
        program_slots(slots, p, at);
        for (uint32_t s = 0; s < t->n_slots; s++) {
            const bool a = (t->dense_a[(1 + s) >> 6] >> ((1 + s) & 63) & 1) != 0,
                       b = (t->dense_b[(1 + s) >> 6] >> ((1 + s) & 63) & 1) != 0;
            if (a && wire_is_aux(slots[s])) bitmap_set(&d->a_aux, wire_index(slots[s]));
            if (b) bitmap_set(wire_is_aux(slots[s]) ? &d->b_aux : &d->b_inputs, wire_index(slots[s]));
        }
    }
    mem_free(slots);
    return CUZK_OK;
}

cuzk_status program_link(program *p, cuzk_error *err) {
    p->max_slots = p->max_field_slots = p->max_places = p->max_rows = 1;
    for (uint32_t i = 0; i < p->n_templates; i++) {
        const cuzk_status s = link_template(p, &p->templates[i], err);
        if (s != CUZK_OK) return s;
    }
    const cuzk_status s = link_instances(p, err);
    return s == CUZK_OK ? link_densities(p, err) : s;
}

// --- Reading ---

const program_densities *program_density(const program *p) { return &p->densities; }

void program_count(program_counts *out, const program *p) {
    const program_instance *end = &p->instances[p->n_instances];
    uint64_t bytes = sizeof *p + p->n_templates * sizeof *p->templates + (p->n_instances + 1) * sizeof *p->instances +
                     p->n_runs * sizeof *p->runs + p->n_coeffs * sizeof *p->coeffs +
                     8 * (p->densities.a_aux.n_words + p->densities.b_aux.n_words + p->densities.b_inputs.n_words);
    for (uint32_t i = 0; i < p->n_templates; i++) {
        const program_template *t = &p->templates[i];
        bytes += 4 * ((uint64_t)t->n_code + t->n_field_locals + t->n_field_slots + t->n_strips + t->n_wide) +
                 16 * ((uint64_t)program_places(t) / 64 + 2);
    }
    *out = (program_counts){.inputs = end->input,
                            .aux = end->aux,
                            .fields = end->field,
                            .rows = end->row,
                            .templates = p->n_templates,
                            .instances = p->n_instances,
                            .coeffs = p->n_coeffs,
                            .bytes = bytes};
}

void program_destroy(program **out) {
    if (out == NULL || *out == NULL) return;
    program *p = *out;
    for (uint32_t i = 0; i < p->n_templates; i++) {
        program_template *t = &p->templates[i];
        mem_free(t->code);
        mem_free(t->field_locals);
        mem_free(t->field_slots);
        mem_free(t->dense_a);
        mem_free(t->dense_b);
        mem_free(t->strips);
        mem_free(t->wide);
    }
    mem_free(p->templates);
    mem_free(p->instances);
    mem_free(p->runs);
    mem_free(p->coeffs);
    bitmap_free(&p->densities.a_aux);
    bitmap_free(&p->densities.b_aux);
    bitmap_free(&p->densities.b_inputs);
    mem_free(p);
    *out = NULL;
}
