// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/constants.h"

#include <pthread.h>

const fr GADGET_TWO = {{UINT64_C(0x00000003fffffffc), UINT64_C(0xb1096ff400069004), UINT64_C(0x33189fdfd9789fea),
                        UINT64_C(0x304962b3598a0adf)}};
const fr GADGET_MINUS_ONE = {{UINT64_C(0xfffffffd00000003), UINT64_C(0xfb38ec08fffb13fc), UINT64_C(0x99ad88181ce5880f),
                              UINT64_C(0x5bc8f5f97cd877d8)}};
// Written out, since FR_ONE is no constant expression; tests compare.
const term GADGET_ONE = {WIRE_ONE,
                         {{UINT64_C(0x00000001fffffffe), UINT64_C(0x5884b7fa00034802), UINT64_C(0x998c4fefecbc4ff5),
                           UINT64_C(0x1824b159acc5056f)}}};

static fr powers[GADGET_POWERS];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

static void compute_powers(void) {
    powers[0] = FR_ONE;
    for (int i = 1; i < GADGET_POWERS; i++) fr_dbl(&powers[i], &powers[i - 1]);
}

const fr *gadget_powers_of_two(void) {
    pthread_once(&powers_once, compute_powers);
    return powers;
}
