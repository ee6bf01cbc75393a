// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bugs that tests can plant through engine_config.planted_bug, one for each promise of docs/engine.md, to see that the
// checks find them. Never set outside tests.
#ifndef CUZK_ENGINE_PLANTED_H
#define CUZK_ENGINE_PLANTED_H

typedef enum engine_bug {
    ENGINE_BUG_NONE,
    ENGINE_BUG_LEAK_MEMORY,      // a unit stopped in synthesis never gives its memory back to the budget
    ENGINE_BUG_OVER_BUDGET,      // admission forgets the key's bytes
    ENGINE_BUG_SHARED_KERNELS,   // a free worker is enough to start, whoever is in the kernel section
    ENGINE_BUG_EXTRA_SYNTHESIS,  // a critical unit takes the worker of a unit that still runs
    ENGINE_BUG_DEEP_CHANNEL,     // the channel takes one more than lookahead
    ENGINE_BUG_TWO_REPLIES,      // a job cancelled on a device is answered again when the device reports
    ENGINE_BUG_NO_REPLY,         // a job that fails on its deadline is not answered
    ENGINE_BUG_UNVERIFIED,       // one good partition of a unit is taken for all
    ENGINE_BUG_EVICT_IN_USE,     // the least recently used key goes, used or not
    ENGINE_BUG_LOAD_TWICE,       // a key that is being loaded is loaded again
    ENGINE_BUG_LOST_RETRY,       // a partition to be proven again is forgotten
    ENGINE_BUG_CHANNEL_FIFO,     // devices take units in the order of their arrival
    ENGINE_BUG_NO_AGEING,        // LOW stays LOW
    ENGINE_BUG_JOIN_ANY_INPUT,   // the same id joins whatever the input
    ENGINE_BUG_ENDLESS_RETRIES,  // attempts are not counted
    ENGINE_BUG_NEVER_FORGETS,    // finished jobs stay beyond max_finished
    ENGINE_BUG_EARLY_FREE,       // a timed-out device run is freed before the device reports
    ENGINE_BUG_MISCOUNT,         // a job cancelled while queued is counted as failed too
    ENGINE_BUG_UNHEALTHY_DEVICE, // an unhealthy device goes on getting units
    ENGINE_BUG_ZOMBIE_START,     // partitions of a cancelled job are synthesised all the same
    ENGINE_BUG_STALE_REPORT,     // a report for a unit that is gone hits the one in its place
    ENGINE_BUG_EAGER_FALLBACK,   // a fallback device takes whatever comes
    ENGINE_BUG_BLIND_TO_STUCK,   // jobs go on waiting for devices that never return
    ENGINE_BUG_ENDLESS_GROUPS,   // jobs whose key is there go first, however long the others have waited
    ENGINE_BUG_EVICT_FRESH,      // a key goes as soon as it is idle, whatever else could make room
    ENGINE_BUGS
} engine_bug;

#endif
