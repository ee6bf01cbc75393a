// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Native checks of a PoRep's vanilla proofs, before any circuit is built: a bad sector is named in milliseconds.
#ifndef CUZK_VANILLA_POREP_CHECK_H
#define CUZK_VANILLA_POREP_CHECK_H

#include "base/pool.h"
#include "circuit/porep/input.h"

// Checks challenges against the seed, parents against the graph, every Merkle path, column hash, label, encoding, and
// comm_r = H(comm_c, comm_r_last). The first fault in file order is reported, such as
// "partition 0, challenge 3, layer 2, parent 14: label is ..., column row holds ...". CUZK_ERR_INPUT.
CUZK_MUST_USE cuzk_status porep_check(const porep_input *in, pool *p, cuzk_error *err);

#endif
