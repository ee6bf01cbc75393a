// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Devices by name. "cpu", or for tests and demonstrations a simulated one in front of it:
//     sim[:WORD,...]   kernel=50ms  longer kernel section of a partition      tail=5ms  likewise of the end of a run
//                      FAULT@N      in run N, from 0                           FAULT@N+  in run N and all after it
//                      FAULT%N      in every Nth run
// with FAULT one of wrong, oom, hang, abort, stuck (a hang that does not stop when asked to), or delay=TIME.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim.h"
#include "service/service_internal.h"

enum { MAX_FAULTS = 8 };

typedef struct planned_fault {
    sim_fault fault;
    uint64_t run, every; // every: of %N; else 0
    bool onwards;
} planned_fault;

struct device_plan {
    device_plan *next;
    planned_fault faults[MAX_FAULTS];
    uint32_t n;
};

static sim_fault fault_of(void *ctx, uint64_t run, uint32_t partitions) {
    (void)partitions;
    const device_plan *p = ctx;
    for (uint32_t i = 0; i < p->n; i++) {
        const planned_fault *f = &p->faults[i];
        if (f->every != 0 ? run % f->every == f->every - 1 : f->onwards ? run >= f->run : run == f->run)
            return f->fault;
    }
    return (sim_fault){.kind = SIM_GOOD};
}

// "50ms", "1s", "200us"; false for anything else.
static bool parse_time(uint64_t *ns, const char *text, char **end) {
    errno = 0;
    const uint64_t n = strtoull(text, end, 10);
    uint64_t unit = 0;
    if (*end == text || text[0] == '-' || errno != 0) return false;
    if (strncmp(*end, "ms", 2) == 0 || strncmp(*end, "us", 2) == 0) {
        unit = **end == 'm' ? 1000000 : 1000;
        *end += 2;
    } else if (**end == 's') {
        unit = 1000000000;
        *end += 1;
    }
    if (unit == 0 || n > UINT64_MAX / 1024 / unit) return false;
    *ns = n * unit;
    return true;
}

static bool parse_fault(planned_fault *f, const char *word) {
    static const struct {
        const char *name;
        sim_fault_kind kind;
    } KINDS[] = {{"wrong", SIM_WRONG},
                 {"oom", SIM_OUT_OF_MEMORY},
                 {"hang", SIM_HANG},
                 {"abort", SIM_ABORT},
                 {"stuck", SIM_STUCK},
                 {"delay=", SIM_DELAY}};
    *f = (planned_fault){0};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        const size_t len = strlen(KINDS[i].name);
        if (strncmp(word, KINDS[i].name, len) != 0) continue;
        f->fault.kind = KINDS[i].kind;
        char *end = (char *)(uintptr_t)(word + len);
        if (f->fault.kind == SIM_DELAY && !parse_time(&f->fault.delay_ns, end, &end)) return false;
        const char sign = *end;
        if (sign != '@' && sign != '%') return false;
        const char *number = end + 1;
        if (*number < '0' || *number > '9') return false;
        f->run = strtoull(number, &end, 10);
        if (sign == '%') f->every = f->run;
        if (sign == '%' && f->every == 0) return false;
        f->onwards = sign == '@' && *end == '+';
        return end[f->onwards] == 0;
    }
    return false;
}

static cuzk_status parse_sim(device_plan *p, sim_options *o, const char *words, cuzk_error *err) {
    enum { WORD_MAX = 64 };
    while (*words != 0) {
        char word[WORD_MAX], *end = NULL;
        const size_t len = strcspn(words, ",");
        if (len == 0 || len >= WORD_MAX) return cuzk_fail(err, CUZK_ERR_USAGE, "device sim: cannot read \"%s\"", words);
        memcpy(word, words, len);
        word[len] = 0;
        words += len + (words[len] == ',');
        bool ok;
        if (strncmp(word, "kernel=", 7) == 0) {
            ok = parse_time(&o->kernel_ns, word + 7, &end) && *end == 0;
        } else if (strncmp(word, "tail=", 5) == 0) {
            ok = parse_time(&o->tail_ns, word + 5, &end) && *end == 0;
        } else {
            ok = p->n < MAX_FAULTS && parse_fault(&p->faults[p->n], word);
            p->n += ok;
        }
        if (!ok)
            return cuzk_fail(err, CUZK_ERR_USAGE,
                             "device sim: cannot read \"%s\"; expected such as kernel=50ms, wrong@3, oom%%5, hang@2+",
                             word);
    }
    return CUZK_OK;
}

cuzk_status service_device_open(device **out, device_plan **plans, const char *name, unsigned threads,
                                cuzk_error *err) {
    *out = NULL;
    if (strcmp(name, "cpu") == 0) return device_open_cpu(out, threads, err);
    if (strncmp(name, "sim", 3) != 0 || (name[3] != 0 && name[3] != ':'))
        return cuzk_fail(err, CUZK_ERR_USAGE, "there is no device \"%.100s\"; there are cpu and sim", name);
    device_plan *p = mem_calloc(MEM_MISC, 1, sizeof *p);
    if (p == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a device");
    p->next = *plans;
    *plans = p;
    sim_options o = {.fault = fault_of, .ctx = p};
    cuzk_status s = parse_sim(p, &o, name[3] == ':' ? name + 4 : "", err);
    if (s == CUZK_OK) s = device_open_cpu(&o.inner, threads, err);
    if (s != CUZK_OK) return s;
    s = device_open_sim(out, &o, err);
    if (s != CUZK_OK) device_close(&o.inner);
    return s;
}

void service_device_plans_free(device_plan **plans) {
    while (*plans != NULL) {
        device_plan *p = *plans;
        *plans = p->next;
        mem_free(p);
    }
}
