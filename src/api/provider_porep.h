// SPDX-License-Identifier: MIT OR Apache-2.0
//
// PoRep proofs for the engine's runtime: requests are C1 files, keys lie in a folder of parameters.
#ifndef CUZK_API_PROVIDER_POREP_H
#define CUZK_API_PROVIDER_POREP_H

#include "api/pce.h"
#include "engine/provider.h"

typedef struct provider_porep_options {
    const char *params_dir; // copied
    key_check check;
    bool skip_vanilla_check; // else each request's vanilla proofs are checked when it is bound
    pce_cache *programs;     // by which witnesses are made; borrowed; NULL: the reference way
} provider_porep_options;

// Kind "porep", for all sector sizes. A key's identity is that of its file (path, device, inode, size, time of change):
// when the file is replaced, new requests ask for the new key, and those that asked for the old one fail if it was not
// loaded yet. Keys are called by the sector size: "porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g".
CUZK_MUST_USE cuzk_status provider_porep_create(provider **out, const provider_porep_options *options, cuzk_error *err);
void provider_porep_destroy(provider **p); // no request may be left

// What a bound request says of itself.
typedef struct provider_porep_facts {
    uint64_t sector_size;
    const char *proof_name; // "StackedDrg2KiBV1_1"
    bool has_sector_number; // from the envelope
    uint64_t sector_number;
} provider_porep_facts;
provider_porep_facts provider_porep_facts_of(const void *request);

// What a proof of that sector size takes at least: its key, and one partition under way. Reads sizes and counts of the
// files alone. Fails where the folder has no such files, or what is there is not whole.
CUZK_MUST_USE cuzk_status provider_porep_need(uint64_t *key_bytes, uint64_t *partition_bytes, const char *params_dir,
                                              uint64_t sector_size, cuzk_error *err);

#endif
