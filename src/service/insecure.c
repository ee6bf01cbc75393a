// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/insecure.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/params.h"
#include "base/scrub.h"
#include "circuit/porep/shape.h"

static void add(insecure_reasons *out, const char *fmt, ...) CUZK_PRINTF(2, 3);
static void add(insecure_reasons *out, const char *fmt, ...) {
    if (out->n == INSECURE_MAX) return;
    char *text = out->text[out->n++];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, INSECURE_TEXT_MAX, fmt, args);
    va_end(args);
    scrub_text(text); // labels and folders are anybody's; the end may have been cut
}

void insecure_find(insecure_reasons *out, const char *params_dir, bool test_blinding) {
    out->n = 0;
    if (test_blinding)
        add(out, "blinding comes from a label, so proofs can be repeated and give away what they should hide");
    for (const uint64_t *size = POREP_SECTOR_SIZES; params_dir != NULL && *size != 0; size++) {
        porep_shape shape;
        params_files files;
        cuzk_error why = {0};
        char label[PARAMS_LABEL_MAX] = "";
        if (porep_shape_by_size(&shape, *size, POREP_API_1_1, POREP_INTERACTIVE, &why) != CUZK_OK ||
            params_locate(&files, params_dir, &shape, &why) != CUZK_OK)
            continue;
        if (params_insecure_label(label, &files, &why) != CUZK_OK)
            add(out, "the marker of test parameters for %s sectors cannot be read: %s", files.size_name, why.text);
        else if (label[0] != 0)
            add(out,
                "the parameters for %s sectors in %s are test parameters with label \"%s\": anybody can forge their "
                "proofs",
                files.size_name, params_dir, label);
    }
}
