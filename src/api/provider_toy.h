// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Toy circuits as a kind of proof. Keys are made in memory from a label whenever they are asked for.
// They are called "toy-<partitions>".
#ifndef CUZK_API_PROVIDER_TOY_H
#define CUZK_API_PROVIDER_TOY_H

#include "api/pce.h"
#include "engine/provider.h"

// `kind` and `label` are borrowed, and so is `programs`, by which witnesses are made; NULL: the reference way.
// CUZK_ERR_USAGE for a shape there is not.
CUZK_MUST_USE cuzk_status provider_toy_create(provider **out, const char *kind, const toy_shape *shape,
                                              const char *label, pce_cache *programs, cuzk_error *err);
void provider_toy_destroy(provider **p);

#endif
