// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Loading a proving key: first the layout from the counts alone, then every point, in parallel blocks.
//
// The file is 1 GiB for the smallest sector and 50 GiB for a real one, comes from a download, and may be cut short or
// replaced while it is read. So: counts are checked against the size before anything is allocated, reads are
// positioned (a file that shrinks gives an error), and every point is checked on its way into Montgomery form.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"

enum {
    TASK_BYTES = 1024 * G1_UNCOMPRESSED, // 96 KiB read at once: with what they become they stay in a core's own cache
    REPORT_BYTES = 16 << 20,             // between two reports of progress
};

static const struct {
    const char *name;
    size_t point_bytes;
} SECTIONS[KEY_SECTIONS] = {{"h", G1_UNCOMPRESSED},
                            {"l", G1_UNCOMPRESSED},
                            {"a", G1_UNCOMPRESSED},
                            {"b_g1", G1_UNCOMPRESSED},
                            {"b_g2", G2_UNCOMPRESSED}};

const char *key_section_name(key_section s) { return SECTIONS[s].name; }
size_t key_point_bytes(key_section s) { return SECTIONS[s].point_bytes; }

g1_affine **key_section_g1(groth16_pk *pk, key_section s) {
    switch (s) {
    case KEY_H: return &pk->h;
    case KEY_L: return &pk->l;
    case KEY_A: return &pk->a;
    case KEY_B_G1: return &pk->b_g1;
    default: return 0;
    }
}

uint32_t *key_section_count(groth16_pk *pk, key_section s) {
    switch (s) {
    case KEY_H: return &pk->n_h;
    case KEY_L: return &pk->n_l;
    case KEY_A: return &pk->n_a;
    default: return &pk->n_b;
    }
}

// Where each section's points lie.
typedef struct layout {
    uint64_t at[KEY_SECTIONS];
    uint32_t n[KEY_SECTIONS];
} layout;

// A key whose points stay where they are.
typedef struct key_file {
    file_reader *r;
    layout at;
    file_identity was; // at the beginning
    bool identified;
} key_file;

static void points_release(groth16_pk *pk) {
    mem_free(pk->h);
    mem_free(pk->l);
    mem_free(pk->a);
    mem_free(pk->b_g1);
    mem_free(pk->b_g2);
}

void groth16_pk_destroy(groth16_pk **pk) {
    if (pk == 0 || *pk == 0) return;
    key_vk_release(&(*pk)->vk);
    points_release(*pk);
    if ((*pk)->file != 0) file_reader_close(&(*pk)->file->r);
    mem_free((*pk)->file);
    mem_free(*pk);
    *pk = 0;
}

// Walks over the counts behind the verifying key. Nothing is allocated for what they claim until the last one fits.
static cuzk_status read_layout(layout *out, file_reader *r, uint64_t offset, cuzk_error *err) {
    const char *path = file_reader_path(r);
    uint64_t size = file_reader_size(r);
    for (int s = 0; s < KEY_SECTIONS; s++) {
        uint8_t word[KEY_COUNT_BYTES];
        if (size - offset < KEY_COUNT_BYTES)
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "%s: section \"%s\" is missing: its count belongs at byte %llu, the file has %llu bytes",
                             path, SECTIONS[s].name, (unsigned long long)offset, (unsigned long long)size);
        cuzk_status status = file_reader_at(r, word, sizeof word, offset, err);
        if (status != CUZK_OK) return status;
        uint32_t n = load_be32(word);
        uint64_t left = size - offset - KEY_COUNT_BYTES;
        if (n > left / SECTIONS[s].point_bytes)
            return cuzk_fail(
                err, CUZK_ERR_FORMAT,
                "%s: section \"%s\" at byte %llu counts %u points of %zu bytes, the file has %llu bytes left", path,
                SECTIONS[s].name, (unsigned long long)offset, n, SECTIONS[s].point_bytes, (unsigned long long)left);
        out->n[s] = n;
        out->at[s] = offset + KEY_COUNT_BYTES;
        offset = out->at[s] + (uint64_t)n * SECTIONS[s].point_bytes;
    }
    if (offset != size)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: the proving key ends at byte %llu, the file has %llu bytes", path,
                         (unsigned long long)offset, (unsigned long long)size);
    return CUZK_OK;
}

// What the counts of any Groth16 key satisfy: h is one short of the domain, a power of two that holds a row an input
// and at least one more; inputs are all in a; a and b hold at most one point a wire; b_g1 and b_g2 run in parallel.
static cuzk_status check_counts(const layout *l, uint32_t n_ic, const char *path, cuzk_error *err) {
    uint64_t domain = (uint64_t)l->n[KEY_H] + 1, wires = (uint64_t)n_ic + l->n[KEY_L];
    if (l->n[KEY_H] == 0 || (domain & (domain - 1)) != 0 || domain < n_ic)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: section \"h\" has %u points; a power of two less one is needed, at least the %u inputs",
                         path, l->n[KEY_H], n_ic);
    if (l->n[KEY_A] < n_ic || l->n[KEY_A] > wires)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: section \"a\" has %u points; at least the %u inputs are needed, at most all %llu wires",
                         path, l->n[KEY_A], n_ic, (unsigned long long)wires);
    if (l->n[KEY_B_G1] != l->n[KEY_B_G2])
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"b_g1\" has %u points, section \"b_g2\" has %u", path,
                         l->n[KEY_B_G1], l->n[KEY_B_G2]);
    if (l->n[KEY_B_G1] > wires)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"b_g1\" has %u points, the circuit only %llu wires", path,
                         l->n[KEY_B_G1], (unsigned long long)wires);
    return CUZK_OK;
}

// A key on its way in: all sections in one row of tasks, so that no thread waits for another before the end. The lowest
// task that fails names the fault. All below it were begun before it and are not cut short, so the same file gives the
// same error whatever the threads do.
typedef struct loading {
    file_reader *r;
    const layout *at;
    g1_affine *g1[KEY_SECTIONS]; // NULL for the one in G2
    g2_affine *g2;
    size_t first_task[KEY_SECTIONS + 1]; // of each section; the last is the number of tasks
    uint8_t *buffers;                    // one a worker
    const observer *o;
    uint64_t total, reported;  // bytes of points; `reported` is for the calling thread alone
    atomic_uint_fast64_t done; // nothing is read that it guards, so relaxed
    atomic_size_t stop_at;     // no task from here on is wanted; relaxed, as being late costs a task's work only
    atomic_bool cancelled;     // read when all tasks are done
    pthread_mutex_t lock;      // guards the two below
    size_t failed_task;
    cuzk_error failed;
} loading;

static size_t points_a_task(key_section s) { return TASK_BYTES / SECTIONS[s].point_bytes; }

static void fail_task(loading *l, size_t task, const cuzk_error *e) {
    pthread_mutex_lock(&l->lock);
    if (task < l->failed_task) {
        l->failed_task = task;
        l->failed = *e;
        atomic_store_explicit(&l->stop_at, task, memory_order_relaxed);
    }
    pthread_mutex_unlock(&l->lock);
}

// Observers are called from the thread that called us, which is worker 0.
static void report(loading *l) {
    const uint64_t done = atomic_load_explicit(&l->done, memory_order_relaxed);
    if (done - l->reported < REPORT_BYTES && done != l->total) return;
    l->reported = done;
    observe_progress(l->o, "key_load", done, l->total);
    if (observe_cancelled(l->o)) atomic_store_explicit(&l->cancelled, true, memory_order_relaxed);
}

static void load_task(void *ctx, size_t task, unsigned worker) {
    loading *l = ctx;
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed) ||
        task >= atomic_load_explicit(&l->stop_at, memory_order_relaxed))
        return;
    key_section s = KEY_H;
    while (task >= l->first_task[s + 1]) s++;
    const uint32_t of = l->at->n[s];
    const size_t bytes = SECTIONS[s].point_bytes, first = (task - l->first_task[s]) * points_a_task(s);
    const size_t n = of - first < points_a_task(s) ? of - first : points_a_task(s);
    const uint64_t at = l->at->at[s] + first * bytes;
    uint8_t *buffer = l->buffers + (size_t)worker * TASK_BYTES;
    cuzk_error e = {.status = CUZK_OK};
    if (file_reader_at(l->r, buffer, n * bytes, at, &e) == CUZK_OK) {
        point_check why;
        const size_t good = l->g1[s] != 0 ? g1_decode_finite_array(&l->g1[s][first], &why, buffer, n)
                                          : g2_decode_finite_array(&l->g2[first], &why, buffer, n);
        if (good < n)
            (void)cuzk_fail(&e, CUZK_ERR_FORMAT, "%s: section \"%s\": point %zu of %u at byte %llu %s",
                            file_reader_path(l->r), SECTIONS[s].name, first + good, of,
                            (unsigned long long)(at + good * bytes),
                            why != POINT_OK ? point_check_text(why) : "is the point at infinity");
    }
    if (e.status != CUZK_OK) {
        fail_task(l, task, &e);
        return;
    }
    atomic_fetch_add_explicit(&l->done, n * bytes, memory_order_relaxed);
    if (worker == 0) report(l);
}

// Room for the points of sections `first` to `last`, and their tasks.
static cuzk_status allocate_sections(groth16_pk *pk, loading *l, key_section first, key_section last, cuzk_error *err) {
    for (key_section s = KEY_H; s < KEY_SECTIONS; s++) {
        const uint32_t n = l->at->n[s];
        *key_section_count(pk, s) = n;
        l->first_task[s + 1] = l->first_task[s];
        if (s < first || s > last) continue;
        g1_affine **g1 = key_section_g1(pk, s);
        if (g1 != 0)
            l->g1[s] = *g1 = mem_alloc(MEM_KEY, n, sizeof **g1);
        else
            l->g2 = pk->b_g2 = mem_alloc(MEM_KEY, n, sizeof *pk->b_g2);
        if (g1 != 0 ? l->g1[s] == 0 : l->g2 == 0)
            return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for %u points of section \"%s\"",
                             file_reader_path(l->r), n, SECTIONS[s].name);
        l->first_task[s + 1] += (n + points_a_task(s) - 1) / points_a_task(s);
        l->total += (uint64_t)n * SECTIONS[s].point_bytes;
    }
    return CUZK_OK;
}

static cuzk_status load_points(groth16_pk *pk, file_reader *r, const layout *at, key_section first, key_section last,
                               pool *p, const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "loading of the key was cancelled");
    loading l = {.r = r, .at = at, .o = o, .failed_task = SIZE_MAX};
    atomic_init(&l.done, 0);
    atomic_init(&l.stop_at, SIZE_MAX);
    atomic_init(&l.cancelled, false);
    cuzk_status status = allocate_sections(pk, &l, first, last, err);
    if (status != CUZK_OK) return status;
    l.buffers = mem_alloc(MEM_MISC, pool_threads(p), TASK_BYTES);
    if (l.buffers == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the buffers to read a key");
    if (pthread_mutex_init(&l.lock, 0) != 0) {
        mem_free(l.buffers);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a lock");
    }
    pool_run(p, l.first_task[KEY_SECTIONS], load_task, &l);
    pthread_mutex_destroy(&l.lock);
    mem_free(l.buffers);
    if (atomic_load(&l.cancelled)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "loading of the key was cancelled");
    if (l.failed_task != SIZE_MAX) return cuzk_fail(err, l.failed.status, "%s", l.failed.text);
    if (l.reported != l.total) observe_progress(o, "key_load", l.total, l.total);
    return CUZK_OK;
}

static cuzk_status check_subgroups(const groth16_pk *pk, const layout *at, const char *path, pool *p, const observer *o,
                                   cuzk_error *err) {
    const g1_affine *const g1[] = {[KEY_H] = pk->h, [KEY_L] = pk->l, [KEY_A] = pk->a, [KEY_B_G1] = pk->b_g1};
    for (int s = 0; s < KEY_SECTIONS; s++) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "the check of the key was cancelled");
        cuzk_status status = s == KEY_B_G2
                                 ? key_check_subgroup_g2(pk->b_g2, at->n[s], path, SECTIONS[s].name, at->at[s], p, err)
                                 : key_check_subgroup_g1(g1[s], at->n[s], path, SECTIONS[s].name, at->at[s], p, err);
        if (status != CUZK_OK) return status;
        observe_progress(o, "key_check", (uint64_t)s + 1, KEY_SECTIONS);
    }
    return CUZK_OK;
}

static cuzk_status open_file(key_file *f, const char *path, cuzk_error *err) {
    *f = (key_file){0};
    const cuzk_status status = file_reader_open(&f->r, path, err);
    f->identified = status == CUZK_OK && file_reader_identity(&f->was, f->r); // before anything is read
    return status;
}

// A key without its points, and where they are.
static cuzk_status read_head(groth16_pk **out, key_file *f, cuzk_error *err) {
    groth16_pk *pk = *out = mem_calloc(MEM_KEY, 1, sizeof *pk);
    if (pk == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a proving key");
    uint64_t offset = 0;
    cuzk_status status = key_vk_read(&pk->vk, f->r, &offset, err);
    if (status == CUZK_OK) status = read_layout(&f->at, f->r, offset, err);
    if (status == CUZK_OK) status = check_counts(&f->at, pk->vk.n_ic, file_reader_path(f->r), err);
    for (key_section s = KEY_H; status == CUZK_OK && s < KEY_SECTIONS; s++) *key_section_count(pk, s) = f->at.n[s];
    return status;
}

cuzk_status groth16_pk_load(groth16_pk **out, const char *path, key_check check, pool *p, const observer *o,
                            cuzk_error *err) {
    key_file f;
    groth16_pk *pk;
    *out = 0;
    cuzk_status status = open_file(&f, path, err);
    if (status != CUZK_OK) return status;
    observe_begin(o, "key_load");
    status = read_head(&pk, &f, err);
    if (status == CUZK_OK) status = load_points(pk, f.r, &f.at, KEY_H, KEY_B_G2, p, o, err);
    observe_end(o, "key_load");
    // A file that cannot be identified is one without a receipt.
    const bool passed = status == CUZK_OK && check == KEY_CHECK_ONCE && key_receipt_holds(f.r);
    if (status == CUZK_OK && check != KEY_CHECK_CURVE && !passed) {
        observe_begin(o, "key_check");
        status = check_subgroups(pk, &f.at, path, p, o, err);
        observe_end(o, "key_check");
        if (status == CUZK_OK && check == KEY_CHECK_ONCE && f.identified) key_receipt_leave(f.r, &f.was);
    }
    file_reader_close(&f.r);
    if (status != CUZK_OK)
        groth16_pk_destroy(&pk);
    else
        *out = pk;
    return status;
}

cuzk_status groth16_pk_open(groth16_pk **out, const char *path, key_check check, pool *p, const observer *o,
                            cuzk_error *err) {
    key_file f;
    groth16_pk *pk;
    *out = 0;
    cuzk_status status = open_file(&f, path, err);
    if (status != CUZK_OK) return status;
    if (check != KEY_CHECK_CURVE && !(check == KEY_CHECK_ONCE && key_receipt_holds(f.r))) {
        file_reader_close(&f.r);
        return groth16_pk_load(out, path, check, p, o, err);
    }
    status = read_head(&pk, &f, err);
    if (status == CUZK_OK && (pk->file = mem_alloc(MEM_KEY, 1, sizeof f)) == 0)
        status = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a proving key");
    if (status != CUZK_OK) {
        file_reader_close(&f.r);
        groth16_pk_destroy(&pk);
        return status;
    }
    *pk->file = f;
    *out = pk;
    return CUZK_OK;
}

static cuzk_status read_section(groth16_pk *into, const key_file *f, key_section s, pool *p, const observer *o,
                                cuzk_error *err) {
    cuzk_status status = load_points(into, f->r, &f->at, s, s, p, o, err);
    file_identity now;
    if (status == CUZK_OK && f->identified &&
        (!file_reader_identity(&now, f->r) || memcmp(&now, &f->was, sizeof now) != 0))
        status = cuzk_fail(err, CUZK_ERR_IO, "%s was changed while it was read", file_reader_path(f->r));
    return status;
}

cuzk_status key_points_get(key_points *out, const groth16_pk *pk, key_section s, pool *p, const observer *o,
                           cuzk_error *err) {
    groth16_pk read = *pk; // its arrays alone: those of the key, or what is read now
    cuzk_status status = CUZK_OK;
    *out = (key_points){0};
    if (pk->file != 0) {
        observe_begin(o, "key_load");
        status = read_section(&read, pk->file, s, p, o, err);
        observe_end(o, "key_load");
    }
    if (status != CUZK_OK) {
        points_release(&read);
        return status;
    }
    g1_affine *const *g1 = key_section_g1(&read, s);
    *out = g1 != 0 ? (key_points){.g1 = *g1} : (key_points){.g2 = read.b_g2};
    if (pk->file != 0) out->own = g1 != 0 ? (void *)*g1 : read.b_g2;
    return CUZK_OK;
}

void key_points_put(key_points *points) {
    mem_free(points->own);
    *points = (key_points){0};
}
