// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>

#include "device/ops.h"

const char *device_fault_name(device_fault f) {
    switch (f) {
    case DEVICE_NO_FAULT: return "none";
    case DEVICE_OUT_OF_MEMORY: return "out of memory";
    case DEVICE_BROKEN: return "device error";
    case DEVICE_STOPPED: return "stopped";
    case DEVICE_MISMATCH: return "key of another circuit";
    }
    return "unknown";
}

cuzk_status device_fail(device_fault *fault, device_fault f, cuzk_error *err, cuzk_status status, const char *fmt,
                        ...) {
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    *fault = f;
    return cuzk_fail(err, status, "%s", text);
}

device_fault device_fault_of(cuzk_status status) {
    switch (status) {
    case CUZK_OK: return DEVICE_NO_FAULT;
    case CUZK_ERR_MEMORY: return DEVICE_OUT_OF_MEMORY;
    case CUZK_ERR_CANCELLED: return DEVICE_STOPPED;
    case CUZK_ERR_MISMATCH:
    case CUZK_ERR_INPUT:
    case CUZK_ERR_USAGE: return DEVICE_MISMATCH;
    default: return DEVICE_BROKEN;
    }
}

cuzk_status device_prove(device *d, groth16_proof *out, device_fault *fault, const device_run *run, cuzk_error *err) {
    *fault = DEVICE_NO_FAULT;
    return d->ops->prove(d, out, fault, run, err);
}

cuzk_status device_key_load(device_key **out, uint64_t *bytes, device *d, const groth16_pk *host, cuzk_error *err) {
    *out = NULL;
    *bytes = 0;
    return d->ops->key_load(out, bytes, d, host, err);
}

void device_key_free(device *d, device_key **key) {
    if (*key != NULL) d->ops->key_free(d, *key);
    *key = NULL;
}

const char *device_name(const device *d) { return d->ops->name; }
unsigned device_threads(const device *d) { return d->threads; }

void device_close(device **d) {
    if (*d != NULL) (*d)->ops->close(*d);
    *d = NULL;
}
