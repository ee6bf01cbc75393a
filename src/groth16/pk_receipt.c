// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The full check of a key takes longer than a proof, and its result does not change while the file does not. A receipt
// PATH.checked beside the file keeps it: one line that names the file by device, inode, size and times. It protects
// against accidents, as the check itself does; whoever may write into the folder may replace the key as well. A file that
// was copied, restored or touched is checked again. Encodings and the curve equation, which notice damage on the medium,
// are checked at every load.
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "groth16/internal.h"

enum {
    RECEIPT_MAX = 256,
    // Times of files are as coarse as two seconds: a file changed just now could change again and look the same.
    SETTLED_SECONDS = 3,
};
static const char SUFFIX[] = ".checked";

// The line, with its number of the check: a stricter one in a later version would not be satisfied with old receipts.
static size_t receipt_line(char out[RECEIPT_MAX], const file_identity *f) {
    return (size_t)snprintf(out, RECEIPT_MAX,
                            "cuzk full key check 1: device %" PRIu64 " inode %" PRIu64 " size %" PRIu64
                            " changed %" PRId64 " %" PRId64 "\n",
                            f->device, f->inode, f->size, f->changed_ns, f->inode_changed_ns);
}

// PATH.checked, freed with mem_free; NULL if memory is refused.
static char *receipt_path(const file_reader *r) {
    const char *path = file_reader_path(r);
    const size_t size = strlen(path) + sizeof SUFFIX;
    char *out = mem_alloc(MEM_MISC, size, 1);
    if (out != NULL) snprintf(out, size, "%s%s", path, SUFFIX);
    return out;
}

bool key_receipt_holds(const file_reader *r) {
    file_identity now;
    char line[RECEIPT_MAX], *path = receipt_path(r);
    uint8_t *found = NULL;
    size_t len = 0;
    bool holds = path != NULL && file_reader_identity(&now, r) &&
                 file_read_all(&found, &len, path, RECEIPT_MAX, NULL) == CUZK_OK;
    holds = holds && len == receipt_line(line, &now) && memcmp(found, line, len) == 0;
    mem_free(found);
    mem_free(path);
    return holds;
}

void key_receipt_leave(const file_reader *r, const file_identity *before) {
    file_identity now;
    char line[RECEIPT_MAX];
    if (!file_reader_identity(&now, r) || memcmp(&now, before, sizeof now) != 0) return;
    if (now.inode_changed_ns / 1000000000 > (int64_t)time(NULL) - SETTLED_SECONDS) return;
    char *path = receipt_path(r);
    if (path == NULL) return;
    if (file_write_all(path, line, receipt_line(line, &now), NULL) != CUZK_OK) {
        // No receipt, no harm.
    }
    mem_free(path);
}
