// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The building sink. One frame is open at a time: that of the outermost template call, or a nameless one for what lies
// between calls. A call whose signature is known costs its instance and nothing else.
#include <string.h>

#include "base/mem.h"
#include "r1cs/program_frame.h"

// A nameless template is cut off after so many rows or wires, so that instances stay fit to be shared out to threads.
enum { LOOSE_ROWS = 2048, LOOSE_WIRES = 1 << 16, LOOSE_ROOM = 1024 };
enum { OUT_WORDS = 2, OUT_ONE = -1 };

// What a template is known by: the signature of a call, or nothing (its content is compared).
typedef struct known {
    uint64_t hash;
    const char *name; // NULL: nameless
    uint32_t *signature, *outs;
    uint32_t n_signature;
} known;

struct program_builder {
    cs head; // first
    program_frame frame;
    bool open;
    uint32_t depth; // of template calls, from the one that is recorded
    vec32 signature;
    bitmap fields; // which aux wires are field elements
    uint32_t n_fields;
    program_coeffs coeffs;
    program_template *templates;
    known *known;
    program_instance *instances;
    program_run *runs;
    uint64_t n_templates, n_instances, n_runs, templates_cap, known_cap, instances_cap, runs_cap;
    const observer *o;
    uint64_t report_at;
};

static void no_memory(program_builder *b) {
    cs_fail(&b->head, CUZK_ERR_MEMORY, "no memory for the program of a circuit");
}

static bool grow(void **array, uint64_t *cap, uint64_t n, size_t size) {
    if (n < *cap) return true;
    const uint64_t want = *cap < 64 ? 64 : *cap * 2;
    void *grown = mem_alloc(MEM_CIRCUIT, want, size);
    if (grown == NULL) return false;
    if (n > 0) memcpy(grown, *array, n * size);
    mem_free(*array);
    *array = grown;
    *cap = want;
    return true;
}

static uint64_t hash_words(uint64_t h, const uint32_t *w, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) h = (h ^ w[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h;
}

// --- Instances ---

static bool put_runs(program_builder *b, const wire *w, uint32_t n) {
    for (uint32_t i = 0; i < n;) {
        void *runs = b->runs;
        if (b->n_runs >= UINT32_MAX || !grow(&runs, &b->runs_cap, b->n_runs, sizeof *b->runs)) return false;
        b->runs = runs;
        program_run r = {w[i], 0, 1};
        if (i + 1 < n) {
            const uint32_t step = w[i + 1] - w[i]; // modulo 2^32, as it will be added again
            while (i + r.n < n && w[i + r.n] - w[i + r.n - 1] == step) r.n++;
            memcpy(&r.step, &step, sizeof step);
        }
        b->runs[b->n_runs++] = r;
        i += r.n;
    }
    return true;
}

// An instance that begins where the frame began.
static bool put_instance(program_builder *b, uint32_t template) {
    const program_frame *f = &b->frame;
    void *instances = b->instances;
    if (b->n_instances >= UINT32_MAX - 1 || !grow(&instances, &b->instances_cap, b->n_instances, sizeof *b->instances))
        return false;
    b->instances = instances;
    b->instances[b->n_instances++] = (program_instance){.template = template, .run = (uint32_t)b->n_runs};
    return put_runs(b, f->slots.at, f->slots.n);
}

// --- Templates ---

static bool same_words(const uint32_t *a, const uint32_t *b, uint32_t n) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0; // there may be no array at all
}

static bool same_content(const program_template *t, const program_frame *f, uint32_t n_inputs) {
    return t->n_code == f->code.n && t->n_locals == f->local_fields.n && t->n_slots == f->slots.n &&
           t->room == f->room && t->n_inputs == n_inputs && t->n_field_locals == f->field_locals.n &&
           t->n_field_slots == f->field_slots.n && same_words(t->code, f->code.at, t->n_code) &&
           same_words(t->field_locals, f->field_locals.at, t->n_field_locals) &&
           same_words(t->field_slots, f->field_slots.at, t->n_field_slots);
}

// Adds a template with the frame's content; the caller completes its `known`.
static known *add_template(program_builder *b, uint64_t hash, uint32_t n_inputs) {
    const program_frame *f = &b->frame;
    void *templates = b->templates, *all = b->known;
    const bool room =
        b->n_templates < UINT32_MAX && grow(&templates, &b->templates_cap, b->n_templates, sizeof *b->templates);
    b->templates = templates;
    if (!room || !grow(&all, &b->known_cap, b->n_templates, sizeof *b->known)) return NULL;
    b->known = all;
    program_template t = {.n_code = f->code.n,
                          .n_rows = f->n_rows,
                          .n_slots = f->slots.n,
                          .room = f->room,
                          .n_locals = f->local_fields.n,
                          .n_inputs = n_inputs,
                          .n_field_locals = f->field_locals.n,
                          .n_field_slots = f->field_slots.n};
    const bool ok = vec32_copy(&t.code, &f->code);
    const bool locals = vec32_copy(&t.field_locals, &f->field_locals);
    const bool slots = vec32_copy(&t.field_slots, &f->field_slots);
    b->templates[b->n_templates] = t;
    b->known[b->n_templates++] = (known){.hash = hash};
    return ok && locals && slots ? &b->known[b->n_templates - 1] : NULL;
}

static bool open_frame(program_builder *b, bool named, uint32_t room) {
    program_frame *f = &b->frame;
    if (!program_frame_reset(f, room)) return false;
    f->named = named;
    f->aux = b->head.n_aux;
    f->input = b->head.n_inputs;
    f->field = b->n_fields;
    f->row = b->head.n_constraints;
    return true;
}

// Ends the nameless frame, if one is open.
static bool close_loose(program_builder *b) {
    const program_frame *f = &b->frame;
    if (!b->open) return true;
    b->open = false;
    const uint32_t n_inputs = b->head.n_inputs - f->input;
    if (f->n_rows == 0 && f->local_fields.n == 0 && n_inputs == 0) return true;
    const uint64_t hash = hash_words(f->local_fields.n, f->code.at, f->code.n);
    for (uint64_t i = b->n_templates; i-- > 0;)
        if (b->known[i].hash == hash && b->known[i].name == NULL && same_content(&b->templates[i], f, n_inputs))
            return put_instance(b, (uint32_t)i);
    return add_template(b, hash, n_inputs) != NULL && put_instance(b, (uint32_t)b->n_templates - 1);
}

// A nameless frame with room for n more slots.
static bool need_loose(program_builder *b, uint64_t n) {
    const program_frame *f = &b->frame;
    if (b->depth > 0) return true;
    if (b->open && f->n_rows < LOOSE_ROWS && f->local_fields.n < LOOSE_WIRES && f->slots.n + n <= f->room) return true;
    if (n >= PROGRAM_MAX_PLACES / 2 || !close_loose(b)) return false;
    b->open = true;
    return open_frame(b, false, n > LOOSE_ROOM ? (uint32_t)n : LOOSE_ROOM);
}

// --- The sink ---

static void on_alloc(cs *head, wire_kind kind, const fr *value) {
    program_builder *b = (program_builder *)head;
    (void)value;
    if (!need_loose(b, 0) || !program_frame_alloc(&b->frame, kind) ||
        !bitmap_reserve(&b->fields, (uint64_t)head->n_aux + 1)) {
        no_memory(b);
        return;
    }
    if (kind == WIRE_FIELD) {
        bitmap_set(&b->fields, head->n_aux);
        b->n_fields++;
    }
}

static void on_alloc_input(cs *head, const fr *value) {
    program_builder *b = (program_builder *)head;
    (void)value;
    if (head->n_inputs == 0) return; // the constant one, before there is anything
    if (b->depth > 0)
        cs_fail(head, CUZK_ERR_INTERNAL, "a template allocates an input");
    else if (!need_loose(b, 0))
        no_memory(b);
}

static void on_enforce(cs *head, lc_view a, lc_view b_, lc_view c) {
    program_builder *b = (program_builder *)head;
    const lc_view row[3] = {a, b_, c};
    if (!need_loose(b, (uint64_t)a.n + b_.n + c.n)) {
        no_memory(b);
        return;
    }
    switch (program_frame_row(&b->frame, &b->coeffs, &b->fields, row)) {
    case FRAME_OK: break;
    case FRAME_NO_MEMORY: no_memory(b); break;
    case FRAME_FOREIGN_WIRE:
        cs_fail(head, CUZK_ERR_INTERNAL, "a template refers to a wire that it was not given");
        break;
    case FRAME_TOO_LONG: cs_fail(head, CUZK_ERR_USAGE, "a template or a row is too long for a program"); break;
    }
    if (head->n_constraints >= b->report_at) {
        b->report_at = head->n_constraints + (1 << 20);
        observe_progress(b->o, "pce", head->n_constraints, 0);
        if (observe_cancelled(b->o)) cs_fail(head, CUZK_ERR_CANCELLED, "building a program was cancelled");
    }
}

// The signature of a call: kinds of its inputs, and which of them are the same wire. Makes them the frame's slots.
static bool sign(program_builder *b, const template_call *call) {
    vec32 *s = &b->signature;
    s->n = 0;
    if (!vec32_reserve(s, call->n_in + 3)) return false;
    s->at[s->n++] = call->variant;
    s->at[s->n++] = call->n_in;
    s->at[s->n++] = call->n_out;
    for (uint32_t i = 0; i < call->n_in; i++) {
        const port *p = &call->in[i];
        uint32_t code = p->kind;
        if (p->kind == PORT_IS || p->kind == PORT_NOT) {
            uint32_t slot = UINT32_MAX >> 3;
            bool is_field = false;
            if (p->wire != WIRE_ONE) {
                is_field = !wire_is_aux(p->wire) || bitmap_get(&b->fields, wire_index(p->wire));
                if (!program_frame_add_slot(&b->frame, &slot, p->wire, is_field)) return false;
            }
            code |= (is_field ? 4u : 0u) | slot << 3;
        }
        s->at[s->n++] = code;
    }
    return true;
}

// A known template happens again: its wires and rows are there without its gadget having run.
static bool repeat(program_builder *b, uint32_t id, const template_call *call) {
    const program_template *t = &b->templates[id];
    const known *k = &b->known[id];
    cs *head = &b->head;
    if (t->n_locals >= WIRE_AUX - 1 - head->n_aux) {
        cs_fail(head, CUZK_ERR_USAGE, "circuit: more than %u aux variables", head->n_aux);
        return true;
    }
    if (!put_instance(b, id) || !bitmap_reserve(&b->fields, (uint64_t)head->n_aux + t->n_locals)) return false;
    for (uint32_t i = 0; i < t->n_field_locals; i++) bitmap_set(&b->fields, head->n_aux + t->field_locals[i]);
    for (uint32_t i = 0; i < call->n_out; i++) {
        const uint32_t kind = k->outs[OUT_WORDS * i], at = k->outs[OUT_WORDS * i + 1];
        wire w = WIRE_ONE;
        if (at != (uint32_t)OUT_ONE)
            w = (at & 1) != 0 ? b->frame.slots.at[at >> 1] : WIRE_AUX | (head->n_aux + (at >> 1));
        call->out[i] = (port){w, kind};
    }
    head->n_aux += t->n_locals;
    head->n_constraints += t->n_rows;
    b->n_fields += t->n_field_locals;
    return true;
}

static bool on_template_begin(cs *head, const template_call *call) {
    program_builder *b = (program_builder *)head;
    if (b->depth > 0) {
        b->depth++;
        return false;
    }
    if (!close_loose(b) || !open_frame(b, true, call->n_in) || !sign(b, call)) {
        no_memory(b);
        return false;
    }
    const uint64_t hash = hash_words(call->variant, b->signature.at, b->signature.n);
    for (uint64_t i = 0; i < b->n_templates; i++) {
        const known *k = &b->known[i];
        if (k->hash != hash || k->name == NULL || strcmp(k->name, call->name) != 0 ||
            k->n_signature != b->signature.n || !same_words(k->signature, b->signature.at, k->n_signature))
            continue;
        if (!repeat(b, (uint32_t)i, call)) no_memory(b);
        return true;
    }
    b->depth = 1;
    return false;
}

// Where the outputs of the recorded call lie.
static bool put_outs(program_builder *b, known *k, const template_call *call) {
    const program_frame *f = &b->frame;
    k->outs = mem_alloc(MEM_CIRCUIT, (size_t)call->n_out * OUT_WORDS, sizeof *k->outs);
    if (k->outs == NULL) return false;
    for (uint32_t i = 0; i < call->n_out; i++) {
        const port *p = &call->out[i];
        uint32_t at = (uint32_t)OUT_ONE;
        if ((p->kind == PORT_IS || p->kind == PORT_NOT) && p->wire != WIRE_ONE) {
            if (wire_is_aux(p->wire) && wire_index(p->wire) >= f->aux)
                at = (wire_index(p->wire) - f->aux) << 1;
            else if (program_frame_slot(f, p->wire) != UINT32_MAX)
                at = program_frame_slot(f, p->wire) << 1 | 1;
            else
                cs_fail(&b->head, CUZK_ERR_INTERNAL, "a template gives back a wire that it was not given");
        }
        k->outs[OUT_WORDS * i] = p->kind;
        k->outs[OUT_WORDS * i + 1] = at;
    }
    return true;
}

static void on_template_end(cs *head, const template_call *call) {
    program_builder *b = (program_builder *)head;
    if (--b->depth > 0) return;
    known *k = add_template(b, hash_words(call->variant, b->signature.at, b->signature.n), 0);
    bool ok = k != NULL;
    if (ok) {
        k->name = call->name;
        k->n_signature = b->signature.n;
        ok = vec32_copy(&k->signature, &b->signature) && put_outs(b, k, call);
    }
    if (!ok || !put_instance(b, (uint32_t)b->n_templates - 1)) no_memory(b);
}

static const cs_ops BUILDER_OPS = {.alloc = on_alloc,
                                   .alloc_input = on_alloc_input,
                                   .enforce = on_enforce,
                                   .template_begin = on_template_begin,
                                   .template_end = on_template_end};

// --- Life ---

cuzk_status program_builder_create(program_builder **out, const observer *o, cuzk_error *err) {
    *out = NULL;
    program_builder *b = mem_calloc(MEM_CIRCUIT, 1, sizeof *b);
    if (b == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the program of a circuit");
    b->o = o;
    cs_init(&b->head, &BUILDER_OPS, false);
    if (!program_coeffs_init(&b->coeffs)) no_memory(b);
    *out = b;
    return CUZK_OK;
}

cs *program_builder_sink(program_builder *b) { return &b->head; }

cuzk_status program_builder_finish(program **out, program_builder **builder, cuzk_error *err) {
    program_builder *b = *builder;
    *out = NULL;
    program *p = NULL;
    void *instances = b->instances;
    if (b->head.status == CUZK_OK && b->depth > 0) cs_fail(&b->head, CUZK_ERR_INTERNAL, "a template was not ended");
    if (b->head.status == CUZK_OK && !close_loose(b)) no_memory(b);
    instances = b->instances;
    if (b->head.status == CUZK_OK && (!grow(&instances, &b->instances_cap, b->n_instances, sizeof *b->instances) ||
                                      (p = mem_calloc(MEM_CIRCUIT, 1, sizeof *p)) == NULL))
        no_memory(b);
    b->instances = instances;
    cuzk_status status = b->head.status;
    if (status == CUZK_OK) {
        b->instances[b->n_instances] = (program_instance){.run = (uint32_t)b->n_runs};
        p->templates = b->templates;
        p->n_templates = (uint32_t)b->n_templates;
        p->instances = b->instances;
        p->n_instances = (uint32_t)b->n_instances;
        p->runs = b->runs;
        p->n_runs = (uint32_t)b->n_runs;
        p->coeffs = b->coeffs.values;
        p->n_coeffs = b->coeffs.n;
        b->templates = NULL, b->instances = NULL, b->runs = NULL, b->coeffs.values = NULL;
        status = program_link(p, err);
        if (status != CUZK_OK) program_destroy(&p);
    } else {
        status = cuzk_fail(err, status, "%s", b->head.error.text);
    }
    program_builder_destroy(builder);
    *out = p;
    return status;
}

void program_builder_destroy(program_builder **builder) {
    if (builder == NULL || *builder == NULL) return;
    program_builder *b = *builder;
    for (uint64_t i = 0; i < b->n_templates; i++) {
        mem_free(b->known[i].signature);
        mem_free(b->known[i].outs);
        if (b->templates != NULL) {
            mem_free(b->templates[i].code);
            mem_free(b->templates[i].field_locals);
            mem_free(b->templates[i].field_slots);
        }
    }
    program_frame_free(&b->frame);
    vec32_free(&b->signature);
    bitmap_free(&b->fields);
    program_coeffs_free(&b->coeffs);
    mem_free(b->templates);
    mem_free(b->known);
    mem_free(b->instances);
    mem_free(b->runs);
    mem_free(b);
    *builder = NULL;
}
