// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Toy circuits as a kind of proof. Keys are made in memory from a label whenever they are asked for.
// They are called "toy-<partitions>".
#ifndef CUZK_ENGINE_PROVIDER_TOY_H
#define CUZK_ENGINE_PROVIDER_TOY_H

#include "circuit/toy/toy.h"
#include "engine/provider.h"

// `kind` and `label` are borrowed. CUZK_ERR_USAGE for a shape there is not.
CUZK_MUST_USE cuzk_status provider_toy_create(provider **out, const char *kind, const toy_shape *shape,
                                              const char *label, cuzk_error *err);
void provider_toy_destroy(provider **p);

#endif
