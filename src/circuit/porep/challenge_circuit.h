// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One challenge of a PoRep partition: the constraints about one node of the sector.
#ifndef CUZK_CIRCUIT_POREP_CHALLENGE_CIRCUIT_H
#define CUZK_CIRCUIT_POREP_CHALLENGE_CIRCUIT_H

#include "circuit/porep/input.h"
#include "gadget/num.h"

// What all challenges of a partition share.
typedef struct porep_common {
    const porep_shape *shape;
    num comm_d, comm_c, comm_r_last;
    boolean replica_id[256]; // as SHA-256 reads it
} porep_common;

// `values` NULL in a system without values. The caller enters the scope.
void porep_challenge_synthesize(cs *s, const porep_common *common, const porep_challenge *values);

#endif
