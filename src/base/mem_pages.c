// SPDX-License-Identifier: MIT OR Apache-2.0
#define _GNU_SOURCE // mremap, madvise
#include "base/mem_pages.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

// Kept pages that lie side by side. It stands in its own first bytes; no two ranges touch.
typedef struct range {
    struct range *next;
    size_t bytes; // a multiple of PAGES_UNIT
} range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards all below
static range *kept;
static mem_usage usage;
static uint64_t holds; // of mem_keep_begin

// Address space of that size at a multiple of PAGES_UNIT; NULL if refused.
static char *map_aligned(size_t bytes, int protection) {
    const size_t more = bytes + PAGES_UNIT;
    char *at = mmap(NULL, more, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    const size_t before = (PAGES_UNIT - (uintptr_t)at % PAGES_UNIT) % PAGES_UNIT;
    if (before != 0) munmap(at, before);
    munmap(at + before + bytes, PAGES_UNIT - before);
    return at + before;
}

static void want_huge(void *at, size_t bytes) {
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE); // a hint: its failure changes nothing
#else
    (void)at, (void)bytes;
#endif
}

static char *take_fresh(size_t bytes) {
    char *at = map_aligned(bytes, PROT_READ | PROT_WRITE);
    if (at != NULL) want_huge(at, bytes);
    return at;
}

// The last `bytes` of a range, at most all of it. `link` is what points to it.
static char *cut(range **link, size_t bytes) {
    range *r = *link;
    usage.live -= bytes;
    r->bytes -= bytes;
    if (r->bytes == 0) *link = r->next;
    return (char *)r + r->bytes;
}

// What points to the shortest range of at least that size; NULL: none is so long.
static range **shortest(size_t bytes) {
    range **best = NULL;
    for (range **link = &kept; *link != NULL; link = &(*link)->next)
        if ((*link)->bytes >= bytes && (best == NULL || (*link)->bytes < (*best)->bytes)) best = link;
    return best;
}

// Moves pages to where address space is reserved for them. By single units, as a call must stay within one mapping
// (mremap(2)) and a range may be of several. Bytes moved: fewer than `bytes` if the system refuses one. The unit it
// refused may then be missing at `to`, and no longer ours to unmap.
static size_t move(char *to, char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += PAGES_UNIT)
        if (mremap(from + i, PAGES_UNIT, PAGES_UNIT, MREMAP_MAYMOVE | MREMAP_FIXED, to + i) == MAP_FAILED) return i;
    return bytes;
}

// All that is kept, moved together, and fresh pages behind it.
static char *gather(size_t bytes) {
    char *const at = map_aligned(bytes, PROT_NONE);
    if (at == NULL) return NULL;
    size_t done = 0;
    while (done < bytes && kept != NULL) {
        const size_t n = kept->bytes < bytes - done ? kept->bytes : bytes - done;
        char *const from = cut(&kept, n);
        const size_t moved = move(at + done, from, n);
        done += moved;
        if (moved == n) continue;
        munmap(from + moved, n - moved);
        if (done != 0) munmap(at, done);
        if (done + PAGES_UNIT < bytes) munmap(at + done + PAGES_UNIT, bytes - done - PAGES_UNIT);
        return NULL;
    }
    if (done == bytes) return at;
    if (mmap(at + done, bytes - done, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
        want_huge(at + done, bytes - done);
        return at;
    }
    if (done != 0) munmap(at, done);
    return NULL; // with what of the reservation the system may have left: address space, no memory
}

// Takes all that is kept out of the books, for release.
static range *detach(void) {
    range *all = kept;
    kept = NULL;
    usage.live = 0;
    return all;
}

static void release(range *all) {
    while (all != NULL) {
        range *next = all->next;
        munmap(all, all->bytes);
        all = next;
    }
}

void *pages_take(size_t bytes) {
    pthread_mutex_lock(&lock);
    range **fits = shortest(bytes);
    char *at = fits != NULL ? cut(fits, bytes) : kept != NULL ? gather(bytes) : NULL;
    pthread_mutex_unlock(&lock);
    if (at == NULL) at = take_fresh(bytes);
    if (at != NULL) return at;
    mem_keep_trim();
    return take_fresh(bytes);
}

static void keep(char *at, size_t bytes) {
    usage.live += bytes;
    if (usage.live > usage.peak) usage.peak = usage.live;
    for (range **link = &kept; *link != NULL;) { // joined with the neighbours
        range *r = *link;
        if ((char *)r + r->bytes == at)
            at = (char *)r;
        else if (at + bytes != (char *)r) {
            link = &r->next;
            continue;
        }
        bytes += r->bytes;
        *link = r->next;
    }
    range *r = (void *)at;
    *r = (range){kept, bytes};
    kept = r;
}

void pages_give(void *at, size_t bytes) {
    pthread_mutex_lock(&lock);
    const bool wanted = holds != 0;
    if (wanted) keep(at, bytes);
    pthread_mutex_unlock(&lock);
    if (!wanted) munmap(at, bytes);
}

mem_usage pages_kept(void) {
    pthread_mutex_lock(&lock);
    const mem_usage u = usage;
    pthread_mutex_unlock(&lock);
    return u;
}

void mem_keep_begin(void) {
    pthread_mutex_lock(&lock);
    holds++;
    pthread_mutex_unlock(&lock);
}

void mem_keep_end(void) {
    pthread_mutex_lock(&lock);
    range *all = --holds == 0 ? detach() : NULL;
    pthread_mutex_unlock(&lock);
    release(all);
}

void mem_keep_trim(void) {
    pthread_mutex_lock(&lock);
    range *all = detach();
    pthread_mutex_unlock(&lock);
    release(all);
}

void mem_test_kept(void (*see)(void *ctx, const void *at, size_t bytes), void *ctx) {
    pthread_mutex_lock(&lock);
    for (const range *r = kept; r != NULL; r = r->next) see(ctx, (const char *)r + sizeof *r, r->bytes - sizeof *r);
    pthread_mutex_unlock(&lock);
}
