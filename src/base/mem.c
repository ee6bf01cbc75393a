// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every block has a header of one cache line in front, so the data stays 64-byte aligned and mem_free needs no size.
#include "base/mem.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <assert.h>

#include "base/mem_pages.h"

enum { ALIGNMENT = 64, MAGIC = 0x6d656d21 };

static const size_t LARGE_FROM = (size_t)1 << 20;

typedef struct header {
    alignas(ALIGNMENT) size_t size; // bytes the caller asked for
    mem_tag tag;
    uint32_t magic;
} header;
_Static_assert(sizeof(header) == ALIGNMENT, "the header takes one cache line");

typedef struct account {
    alignas(ALIGNMENT) _Atomic uint64_t live; // a cache line each: tags are used by different threads
    _Atomic uint64_t peak;
} account;

// AddressSanitizer watches what lies behind the C library's blocks. Behind ours it is told to, until they are freed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
static void guard(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
static void unguard(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
static void guard(const void *at, size_t bytes) { (void)at, (void)bytes; }
static void unguard(const void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

static account accounts[MEM_TAGS + 1]; // the last one is the total
static _Atomic uint64_t refuse_countdown;

static void account_add(account *a, uint64_t bytes) {
    uint64_t live = atomic_fetch_add_explicit(&a->live, bytes, memory_order_relaxed) + bytes;
    uint64_t peak = atomic_load_explicit(&a->peak, memory_order_relaxed);
    while (live > peak &&
           !atomic_compare_exchange_weak_explicit(&a->peak, &peak, live, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void account_sub(account *a, uint64_t bytes) {
    atomic_fetch_sub_explicit(&a->live, bytes, memory_order_relaxed);
}

// Counts down to 1 and stays there, so that everything after the chosen allocation is refused as well.
static bool refused(void) {
    uint64_t n = atomic_load_explicit(&refuse_countdown, memory_order_relaxed);
    while (n > 1) {
        if (atomic_compare_exchange_weak_explicit(&refuse_countdown, &n, n - 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return false;
        }
    }
    return n == 1;
}

void mem_test_refuse(uint64_t nth) { atomic_store(&refuse_countdown, nth); }

// The whole block behind a request, a multiple of its alignment.
static size_t block_size(size_t bytes) {
    const size_t alignment = bytes >= LARGE_FROM ? PAGES_UNIT : ALIGNMENT;
    return (sizeof(header) + bytes + alignment - 1) / alignment * alignment;
}

static header *take(size_t bytes) {
    const size_t block = block_size(bytes);
    if (bytes < LARGE_FROM) {
        header *h = aligned_alloc(ALIGNMENT, block);
        if (h != NULL) return h;
        mem_keep_trim();
        return aligned_alloc(ALIGNMENT, block);
    }
    header *h = pages_take(block);
    if (h != NULL) guard((char *)(h + 1) + bytes, block - sizeof *h - bytes);
    return h;
}

void *mem_alloc(mem_tag tag, size_t n, size_t size) {
    assert(tag < MEM_KEPT);
    if (refused()) return NULL;
    if (size != 0 && n > SIZE_MAX / size) return NULL;
    size_t bytes = n * size;
    // Refused here and not by the C library, so that tools that treat absurd requests as bugs stay quiet. Leaves room
    // for the header and the rounding below.
    if (bytes > (size_t)PTRDIFF_MAX - 3 * PAGES_UNIT) return NULL;
    header *h = take(bytes);
    if (h == NULL) return NULL;
    h->size = bytes;
    h->tag = tag;
    h->magic = MAGIC;
    account_add(&accounts[tag], bytes);
    account_add(&accounts[MEM_TAGS], bytes);
    return h + 1;
}

void *mem_calloc(mem_tag tag, size_t n, size_t size) {
    void *p = mem_alloc(tag, n, size);
    if (p != NULL) memset(p, 0, n * size);
    return p;
}

void mem_free(void *p) {
    if (p == NULL) return;
    header *h = (header *)p - 1;
    assert(h->magic == MAGIC);
    h->magic = 0;
    account_sub(&accounts[h->tag], h->size);
    account_sub(&accounts[MEM_TAGS], h->size);
    if (h->size < LARGE_FROM) {
        free(h);
        return;
    }
    const size_t block = block_size(h->size);
    unguard(h, block);
    pages_give(h, block);
}

size_t mem_size(const void *p) { return ((const header *)p - 1)->size; }

void mem_free_secret(void *p) {
    if (p == NULL) return;
    secret_wipe(p, mem_size(p));
    mem_free(p);
}

void secret_wipe(void *p, size_t len) {
    if (p == NULL) return;
    memset(p, 0, len);
    // The empty asm takes the pointer and claims to read memory, so the bytes count as used after the memset.
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

static mem_usage usage(const account *a) {
    return (mem_usage){atomic_load_explicit(&a->live, memory_order_relaxed),
                       atomic_load_explicit(&a->peak, memory_order_relaxed)};
}

mem_usage mem_usage_of(mem_tag tag) { return tag == MEM_KEPT ? pages_kept() : usage(&accounts[tag]); }
mem_usage mem_usage_total(void) { return usage(&accounts[MEM_TAGS]); }

const char *mem_tag_name(mem_tag tag) {
    switch (tag) {
    case MEM_MISC: return "misc";
    case MEM_INPUT: return "input";
    case MEM_WITNESS: return "witness";
    case MEM_EVALUATION: return "evaluation";
    case MEM_KEY: return "key";
    case MEM_MSM: return "msm";
    case MEM_TABLE: return "table";
    case MEM_CIRCUIT: return "circuit";
    case MEM_KEPT: return "kept";
    case MEM_TAGS: break;
    }
    return "unknown";
}
