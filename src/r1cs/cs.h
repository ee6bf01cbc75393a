// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The constraint system as gadgets see it: wires are allocated, constraints <A,w> * <B,w> = <C,w> are enforced, and a
// *sink* decides what becomes of them: hashed, counted, recorded, traced, checked, evaluated, or folded into a key.
// Gadgets are written once, against this interface; with values present the same code gives the witness.
#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "field/fr.h"

// A wire: an input (public, input 0 is the constant one) or an aux variable. Inputs sort before aux.
typedef uint32_t wire;
#define WIRE_AUX UINT32_C(0x80000000) // set: aux; the rest is the index
#define WIRE_ONE UINT32_C(0)
static inline bool wire_is_aux(wire w) { return (w & WIRE_AUX) != 0; }
static inline uint32_t wire_index(wire w) { return w & ~WIRE_AUX; }

typedef struct term {
    wire wire;
    fr coeff;
} term;

// A linear combination as sinks receive it: ascending wires, no wire twice, no zero coefficient.
typedef struct lc_view {
    const term *terms;
    uint32_t n;
} lc_view;

// What a wire may hold; fixed by the circuit, never by the values.
typedef enum wire_kind { WIRE_FIELD, WIRE_BIT } wire_kind;

// One end of a template: what a gadget is given and what it gives back. A number in a wire is PORT_IS.
typedef enum port_kind { PORT_ZERO, PORT_ONE, PORT_IS, PORT_NOT } port_kind;
typedef struct port {
    wire wire;     // of PORT_IS and PORT_NOT
    uint32_t kind; // port_kind
} port;

// One call of a gadget that is a template: its rows and wires follow from name, variant and the *signature* of its
// inputs alone, that is from their kinds and from which of them are the same wire. It allocates no inputs, and refers
// to no wires but the constant one, those of `in`, and its own.
typedef struct template_call {
    const char *name; // static text
    uint32_t variant; // what else its rows depend on: an arity
    uint32_t n_in, n_out;
    const port *in;
    port *out;
} template_call;

typedef struct cs cs;
typedef struct cs_ops {
    // One new aux wire or input. `value` is NULL in a system without values.
    void (*alloc)(cs *s, wire_kind kind, const fr *value);
    void (*alloc_input)(cs *s, const fr *value);
    // NULL in a sink that wants the witness alone: see cs_wants_rows.
    void (*enforce)(cs *s, lc_view a, lc_view b, lc_view c);
    // n new bit wires at once, values from bits[i / 64] >> i % 64. A sink that has it, has values and wants no rows: in
    // it gadgets compute their wires natively, in words. NULL elsewhere.
    void (*alloc_bits)(cs *s, const uint64_t *bits, uint32_t n);
    // Templates; NULL in sinks that see no use in them. See cs_template_begin.
    bool (*template_begin)(cs *s, const template_call *call);
    void (*template_end)(cs *s, const template_call *call);
    // Scopes, for traces and for naming what fails; may be NULL. `index` < 0: the name alone; else name and number are
    // joined as `fmt` says (a printf format with one %u, such as "challenge_%u").
    void (*enter)(cs *s, const char *fmt, int64_t index);
    void (*leave)(cs *s);
    // Names the constraint enforced next ("boolean constraint"); may be NULL.
    void (*label)(cs *s, const char *fmt, int64_t index);
} cs_ops;

// The head of every sink (its first member). Counters are kept by the functions below.
struct cs {
    const cs_ops *ops;
    bool has_values;
    uint32_t n_inputs; // with the constant one
    uint32_t n_aux;
    uint64_t n_constraints;
    cuzk_status status; // the first failure inside a sink sticks here; later calls do nothing
    cuzk_error error;
};

// Sets the head and allocates input 0, the constant one.
void cs_init(cs *s, const cs_ops *ops, bool has_values);
// value may be NULL iff !has_values.
wire cs_alloc(cs *s, wire_kind kind, const fr *value);
wire cs_alloc_input(cs *s, const fr *value);
void cs_enforce(cs *s, lc_view a, lc_view b, lc_view c);
static inline void cs_enter(cs *s, const char *fmt, int64_t index) {
    if (s->ops->enter != 0) s->ops->enter(s, fmt, index);
}
static inline void cs_leave(cs *s) {
    if (s->ops->leave != 0) s->ops->leave(s);
}
static inline void cs_label(cs *s, const char *fmt, int64_t index) {
    if (s->ops->label != 0) s->ops->label(s, fmt, index);
}

// Does anybody look at constraints? If not, gadgets need not build them.
static inline bool cs_wants_rows(const cs *s) { return s->ops->enforce != 0; }
// Are wires to be computed natively? Then cs_alloc_bits may be called.
static inline bool cs_is_native(const cs *s) { return s->ops->alloc_bits != 0; }
// n new bit wires in a row; returns the first.
wire cs_alloc_bits(cs *s, const uint64_t *bits, uint32_t n);

// Around a gadget's body:
//     if (cs_has_templates(s)) { fill call.in; if (cs_template_begin(s, &call)) { read call.out; return; } }
//     body
//     if (cs_has_templates(s)) { fill call.out; cs_template_end(s, &call); }
// begin is true when the sink knows the signature: all wires and rows of the body were taken from memory, and the
// outputs filled in. Calls may nest.
static inline bool cs_has_templates(const cs *s) { return s->ops->template_begin != 0; }
static inline bool cs_template_begin(cs *s, const template_call *call) {
    return s->status == CUZK_OK && s->ops->template_begin(s, call);
}
static inline void cs_template_end(cs *s, const template_call *call) {
    if (s->status == CUZK_OK) s->ops->template_end(s, call);
}
// Records a failure (allocation, cancelled); the first one wins.
void cs_fail(cs *s, cuzk_status status, const char *fmt, ...) CUZK_PRINTF(3, 4);

#endif
