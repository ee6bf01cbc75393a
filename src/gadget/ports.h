// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Booleans and numbers as the ends of templates (r1cs/cs.h). Templates are recorded without values, so there are none.
#ifndef CUZK_GADGET_PORTS_H
#define CUZK_GADGET_PORTS_H

#include "gadget/num.h"

static inline port port_of_boolean(boolean b) {
    if (b.kind == BOOLEAN_CONSTANT) return (port){WIRE_ONE, b.value ? PORT_ONE : PORT_ZERO};
    return (port){b.wire, b.kind == BOOLEAN_IS ? PORT_IS : PORT_NOT};
}
static inline boolean boolean_of_port(port p) {
    switch ((port_kind)p.kind) {
    case PORT_ZERO: return boolean_constant(false);
    case PORT_ONE: return boolean_constant(true);
    case PORT_IS: return (boolean){p.wire, BOOLEAN_IS, false};
    // A wire without a value counts as false, so its negation as true: as boolean_not has it.
    case PORT_NOT: return (boolean){p.wire, BOOLEAN_NOT, true};
    }
    return boolean_constant(false);
}

static inline port port_of_num(const num *a) { return (port){a->wire, PORT_IS}; }
static inline num num_of_port(port p) { return (num){p.wire, FR_ZERO}; }

#endif
