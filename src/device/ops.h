// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to device: what each kind of device implements. The struct of a kind begins with `device`, its keys with
// `device_key`.
#ifndef CUZK_DEVICE_OPS_H
#define CUZK_DEVICE_OPS_H

#include "device/device.h"

typedef struct device_ops {
    const char *name;
    cuzk_status (*prove)(device *d, groth16_proof *out, device_fault *fault, const device_run *run, cuzk_error *err);
    cuzk_status (*key_load)(device_key **out, uint64_t *bytes, device *d, const groth16_pk *host, cuzk_error *err);
    void (*key_free)(device *d, device_key *key);
    void (*close)(device *d);
} device_ops;

struct device {
    const device_ops *ops;
    unsigned threads;
};

struct device_key {
    const groth16_pk *host;
};

// Sets *fault and the error together.
cuzk_status device_fail(device_fault *fault, device_fault f, cuzk_error *err, cuzk_status status, const char *fmt, ...)
    CUZK_PRINTF(5, 6);
// The fault behind a status of the groth16 layer.
device_fault device_fault_of(cuzk_status status);

#endif
