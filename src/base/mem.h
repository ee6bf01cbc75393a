// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Tagged allocation. Every large allocation names its purpose, so that live and peak bytes by purpose can be printed.
#ifndef CUZK_BASE_MEM_H
#define CUZK_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

typedef enum mem_tag {
    MEM_MISC,
    MEM_INPUT,      // parsed requests: C1 files, vanilla proofs
    MEM_WITNESS,    // assignments
    MEM_EVALUATION, // A·w, B·w, C·w and their transforms
    MEM_KEY,        // proving keys
    MEM_MSM,        // buckets, digits, scratch of multi-exponentiations
    MEM_TABLE,      // twiddles, fixed-base tables, round constants
    MEM_CIRCUIT,    // constraint systems, templates, density bitmaps
    MEM_KEPT,       // not in use: kept for the next large block. Nobody allocates it, and no total has it
    MEM_TAGS
} mem_tag;

// n * size bytes aligned to 64, not zeroed; NULL when the product overflows or memory is refused. n = 0 gives a
// valid pointer. Free with mem_free (NULL is fine).
void *mem_alloc(mem_tag tag, size_t n, size_t size);
void *mem_calloc(mem_tag tag, size_t n, size_t size);
void mem_free(void *p);
// The bytes asked for when the block was allocated.
size_t mem_size(const void *p);
// For secrets: the whole block is overwritten first.
void mem_free_secret(void *p);
// Overwrites len bytes of a secret, wherever they lie; NULL is fine. A plain memset before free is a dead store and
// compilers do remove it; these stores stay.
void secret_wipe(void *p, size_t len);

// Memory of large blocks (1 MiB and more) goes back to the system as they are freed, unless somebody asks to keep it.
// Then whatever is kept serves the next large blocks, of any tag and size, before the system is asked for more; nothing
// need be cleared anew. So live and kept bytes are together at most the most bytes that were live at once: a budget
// that holds for those holds for both. What was freed is kept as it is: secrets are overwritten by whoever frees them.
//
// Calls of begin and end are counted; with the last end all goes back.
void mem_keep_begin(void);
void mem_keep_end(void);
// Gives back what is kept now, as is also done before memory is refused.
void mem_keep_trim(void);

// Bytes are those asked for, without headers and rounding; of MEM_KEPT, whole pages.
typedef struct mem_usage {
    uint64_t live; // bytes now
    uint64_t peak; // highest `live` so far
} mem_usage;

mem_usage mem_usage_of(mem_tag tag);
mem_usage mem_usage_total(void);
const char *mem_tag_name(mem_tag tag);

// For tests of failure paths: the nth allocation from now (1 is the next one) and all after it are refused; 0 ends it.
void mem_test_refuse(uint64_t nth);
// For tests: shows what is kept, but for the first bytes of each stretch, which hold its place in the list. `see` must
// not allocate.
void mem_test_kept(void (*see)(void *ctx, const void *at, size_t bytes), void *ctx);

#endif
