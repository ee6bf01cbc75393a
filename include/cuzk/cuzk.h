// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk as a library: proofs of replication of Filecoin are made and verified, without a daemon.
//
// Rules of the whole interface:
//  * Arguments: context, outputs, inputs (a length right after its array).
//  * Every call that can fail returns a cuzk_result; the text of the last failure of a context is cuzk_error_text().
//  * The library never prints, exits or aborts, keeps no global state that calls share, and installs no signal handler.
//  * A context is used by one thread at a time; different contexts by different threads at the same time.
//  * A proof that leaves this library was verified by it.
#ifndef CUZK_CUZK_H
#define CUZK_CUZK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUZK_API __attribute__((visibility("default")))
#else
#define CUZK_API
#endif

typedef enum cuzk_result {
    CUZK_RESULT_OK = 0,
    CUZK_RESULT_USAGE = 1,     // the call makes no sense
    CUZK_RESULT_IO = 2,        // a file cannot be opened, read or written
    CUZK_RESULT_FORMAT = 3,    // bytes do not follow their format
    CUZK_RESULT_INPUT = 4,     // well-formed, but the content is wrong (a bad sector)
    CUZK_RESULT_MISMATCH = 5,  // two things that belong together do not (parameters of another circuit)
    CUZK_RESULT_INVALID = 6,   // a proof that does not verify
    CUZK_RESULT_MEMORY = 7,    // an allocation was refused
    CUZK_RESULT_CANCELLED = 8, // the progress function asked to stop
    CUZK_RESULT_INTERNAL = 9,  // a check of the library's own work failed
    CUZK_RESULT_BUFFER = 100,  // the caller's buffer is too small; the size needed is in the length
    CUZK_RESULT_BUSY = 101     // the queue of an engine is full; try again later
} cuzk_result;

typedef struct cuzk_context cuzk_context;

// "0.1.0".
CUZK_API const char *cuzk_version(void);
// Short stable name such as "FORMAT"; never NULL.
CUZK_API const char *cuzk_result_name(cuzk_result result);

// threads = 0: as many as the process may use. Threads start at the first call that has work for them.
CUZK_API cuzk_result cuzk_context_new(cuzk_context **out, unsigned threads);
// Accepts NULL.
CUZK_API void cuzk_context_free(cuzk_context *ctx);
// One line about the last failure: what, where, expected, found. "" before any failure. Valid until the next call.
CUZK_API const char *cuzk_error_text(const cuzk_context *ctx);

// Called during long work, from the thread that made the call: `total` is 0 where it is not known. A result other than
// 0 cancels the work at its next step.
typedef int (*cuzk_progress_fn)(void *user, const char *stage, uint64_t done, uint64_t total);
// fn = NULL: none.
CUZK_API void cuzk_context_on_progress(cuzk_context *ctx, cuzk_progress_fn fn, void *user);

// --- proof of replication ------------------------------------------------------------------------------------------
// `c1` is the JSON text of a SealCommitPhase1Output, bare or in its envelope. `params_dir` holds the parameter files
// "v28-<identifier>.params", ".vk" and ".meta".

// Bytes of the whole proof of this C1: 192 a partition.
CUZK_API cuzk_result cuzk_porep_proof_size(cuzk_context *ctx, size_t *size, const uint8_t *c1, size_t c1_len);

enum {
    CUZK_SKIP_VANILLA_CHECK = 1u << 0, // do not check the sector natively first (the circuit's check stays)
    CUZK_SKIP_SUBGROUP_CHECK = 1u << 1 // check that every point of the proving key is on its curve, not its subgroup
};

// Proves all partitions and verifies each. On entry *proof_len is the room in `proof`, on success the bytes written.
// Too little room (also proof = NULL) is CUZK_RESULT_BUFFER, at once, with the size needed in *proof_len.
CUZK_API cuzk_result cuzk_porep_prove(cuzk_context *ctx, uint8_t *proof, size_t *proof_len, const char *params_dir,
                                      const uint8_t *c1, size_t c1_len, unsigned flags);

// CUZK_RESULT_OK when the proof is right for the sector that the C1 names. Needs the verifying key only; the public
// inputs come from the C1's commitments, replica id and seed, never from its proofs.
CUZK_API cuzk_result cuzk_porep_verify(cuzk_context *ctx, const char *params_dir, const uint8_t *c1, size_t c1_len,
                                       const uint8_t *proof, size_t proof_len);

// Makes INSECURE test parameters for PoReps of a sector size (bytes) from a label: whoever knows the label can forge
// proofs. Files that are there already are kept. A file "v28-<identifier>.insecure" marks them.
CUZK_API cuzk_result cuzk_porep_make_test_params(cuzk_context *ctx, const char *params_dir, uint64_t sector_size,
                                                 const char *label);
// *insecure is 1 when the parameters for this C1 are marked as made for tests.
CUZK_API cuzk_result cuzk_porep_params_insecure(cuzk_context *ctx, int *insecure, const char *params_dir,
                                                const uint8_t *c1, size_t c1_len);

#ifdef __cplusplus
}
#endif

#endif
