// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The example file and the man page, made from the table so that they cannot fall behind it.
#include <string.h>

#include "app/config.h"

// Prints text in lines of at most `width` columns with a prefix; a line break in the text begins a new line.
static void print_wrapped(FILE *f, const char *prefix, size_t width, const char *text) {
    size_t column = 0;
    while (*text != 0) {
        size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + word > width) {
            fputc('\n', f);
            column = 0;
        }
        column += (size_t)fprintf(f, "%s%.*s", column == 0 ? prefix : " ", (int)word, text);
        text += word;
        if (*text == '\n') {
            fputc('\n', f);
            column = 0;
        }
        while (*text == ' ' || *text == '\n') text++;
    }
    fputc('\n', f);
}

// What may be given ("": the type says it all), and the default.
static void describe_values(char out[CONFIG_WHERE_MAX + 64], const config_key *key, char fallback[256]) {
    char expected[CONFIG_WHERE_MAX], why[CONFIG_WHERE_MAX];
    config_value v = {0};
    config_expected(expected, key);
    fallback[0] = 0;
    if (config_value_from_text(&v, key, key->fallback, why)) config_format(fallback, 256, key, &v);
    config_value_release(&v);
    out[0] = 0;
    if (key->deprecated || key->type == CONFIG_BOOL || (key->type == CONFIG_TEXT && !key->filled) ||
        (key->type == CONFIG_LIST && !key->numbers))
        return;
    if (key->type == CONFIG_DURATION && key->unit_ms == 1)
        snprintf(out, CONFIG_WHERE_MAX + 64, "%s; an integer counts milliseconds.", expected);
    else if (key->type == CONFIG_DURATION)
        snprintf(out, CONFIG_WHERE_MAX + 64, "%s; an integer counts seconds.", expected);
    else
        snprintf(out, CONFIG_WHERE_MAX + 64, "%s.", expected);
    if (out[0] >= 'a' && out[0] <= 'z') out[0] = (char)(out[0] - 'a' + 'A');
}

static const char *section_help(const char *name) {
    size_t k = 0;
    while (k + 1 < CONFIG_N_SECTIONS && strcmp(CONFIG_SECTIONS[k].name, name) != 0) k++;
    return CONFIG_SECTIONS[k].help;
}

void config_print_example(FILE *f) {
    fputs("# SPDX-License-Identifier: MIT OR Apache-2.0\n#\n"
          "# Every key of the cuzk daemon, with its default. Made by `cuzk --print-example-config`.\n"
          "#\n"
          "# Take the # away in front of what you change. Unknown keys and values that are not\n"
          "# understood are errors. An environment variable CUZK_<SECTION>_<KEY> is stronger than this\n"
          "# file, a flag stronger than both; `cuzk --check-config` shows what is in force, and why.\n",
          f);
    const char *section = "";
    for (int i = 0; i < CONFIG_KEYS; i++) {
        const config_key *key = &CONFIG_TABLE[i];
        char values[CONFIG_WHERE_MAX + 64], fallback[256];
        if (strcmp(section, key->section) != 0) {
            section = key->section;
            fputc('\n', f);
            print_wrapped(f, "# ", 92, section_help(section));
            fprintf(f, "[%s]\n", section);
        }
        describe_values(values, key, fallback);
        fputc('\n', f);
        print_wrapped(f, "# ", 92, key->help);
        if (values[0] != 0) print_wrapped(f, "# ", 92, values);
        fprintf(f, "#%s = %s\n", key->name, fallback);
    }
}

// Text for troff: backslashes doubled, hyphens as minus signs, so that what is copied from the page can be typed; no
// line begins with a control character.
static void print_troff(FILE *f, const char *s) {
    bool start = true;
    for (; *s != 0; s++) {
        if (start && (*s == '.' || *s == '\'')) fputs("\\&", f);
        start = false;
        if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '-')
            fputs("\\-", f);
        else if (*s == '"')
            fputs("\\(dq", f);
        else if (*s == '\n') {
            fputs("\n.br\n", f);
            start = true;
        } else
            fputc(*s, f);
    }
    fputc('\n', f);
}

void config_print_manual(FILE *f) {
    fputs(".\\\" SPDX-License-Identifier: MIT OR Apache-2.0\n"
          ".\\\" Made by `cuzk --print-config-manual`.\n"
          ".TH CUZK.TOML 5 \"\" \"cuzk\" \"File Formats\"\n"
          ".SH NAME\n"
          "cuzk.toml \\- configuration of the cuzk daemon\n"
          ".SH DESCRIPTION\n"
          ".BR cuzk (1)\n"
          "without a command, and with\n"
          ".BR \\-\\-config ,\n"
          "reads this file, which is TOML. Every key has a default; a file may be empty. An unknown section or key, a\n"
          "value of the wrong type, without a known unit or out of its range ends the start with exit code 2 and one\n"
          "line that names file, line and key.\n"
          ".PP\n"
          "An environment variable\n"
          ".BI CUZK_ SECTION _ KEY\n"
          "(CUZK_DAEMON_LISTEN) is stronger than the file; in it lists have commas (or semicolons, where words have\n"
          "commas), and true, 1, yes, on are true, false, 0, no, off and nothing are false. A flag is stronger than "
          "both:\n"
          ".BI \\-\\-set \" section\" . key = value\n"
          "sets any key.\n"
          ".B cuzk \\-\\-check\\-config\n"
          "prints all values with the place each came from.\n"
          ".PP\n"
          "Sizes are integers (bytes) or strings such as \\(dq256GiB\\(dq, \\(dq1.5TiB\\(dq, \\(dq500MB\\(dq; units "
          "are B,\n"
          "KiB, MiB, GiB, TiB (powers of 1024) and KB, MB, GB, TB (powers of 1000), in any case of letters. Times are\n"
          "strings such as \\(dq5m\\(dq, \\(dq300s\\(dq, \\(dq250ms\\(dq, \\(dq1h\\(dq, \\(dq1d\\(dq.\n",
          f);
    const char *section = "";
    for (int i = 0; i < CONFIG_KEYS; i++) {
        const config_key *key = &CONFIG_TABLE[i];
        char values[CONFIG_WHERE_MAX + 64], fallback[256];
        if (strcmp(section, key->section) != 0) {
            section = key->section;
            fprintf(f, ".SH [%s]\n", section);
            print_troff(f, section_help(section));
        }
        describe_values(values, key, fallback);
        fprintf(f, ".TP\n.B %s\n", key->name);
        print_troff(f, key->help);
        if (!key->deprecated) {
            fputs(".br\n", f);
            if (values[0] != 0) print_troff(f, values);
            fputs("Default: ", f);
            print_troff(f, fallback);
        }
    }
    fputs(".SH FILES\n.TP\n.I /data/zk/cuzk.toml\nRead when no file is named; may be absent.\n"
          ".SH SEE ALSO\n.BR cuzk (1)\n",
          f);
}
