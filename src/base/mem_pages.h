// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The pages of large blocks. Internal to base: mem.c.
//
// The system hands out pages cleared: of a proof that takes all of its memory anew that is a good part of its time, and
// on a virtual machine the host has to find the pages besides. So pages that were given back can be kept for the next
// block. They are pages, not blocks: whatever is kept serves a request first, moved together (mremap) where no range of
// it is long enough, and the system is asked only for the rest. Hence what is in use and what is kept are together
// never more than the most that was ever in use at once, and there is nothing to fragment.
//
// The other way, one workspace that a device hands down to the prover, its transforms and its sums, would have meant a
// parameter through four layers and a plan of who lies where. It would not have served keys.
#ifndef CUZK_BASE_MEM_PAGES_H
#define CUZK_BASE_MEM_PAGES_H

#include "base/mem.h"

// A huge page of x86-64. Tables of points and scalars are walked at random, and with 4 KiB pages a miss in the TLB
// costs as much as the arithmetic.
#define PAGES_UNIT ((size_t)2 << 20)

// `bytes`, a multiple of PAGES_UNIT, aligned to PAGES_UNIT. Content is whatever the last owner left, or zeros. NULL if
// the system refuses, even after all that was kept has gone back to it.
void *pages_take(size_t bytes);
// Keeps them while anyone asks for that (mem_keep_begin), else gives them back to the system.
void pages_give(void *at, size_t bytes);

mem_usage pages_kept(void);

#endif
