// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Run once for each value of CUZK_CPU by ctest.
#include "testing.h"

#include "base/cpu.h"

// The kernel's own list of what the processor and the system offer, as an independent witness. A program for another
// processor may see the list of the machine that emulates it, which says nothing about its own.
static bool has_flag(const char *flag) {
#if !defined(__x86_64__)
    (void)flag;
    return false;
#else
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) return false;
    static char line[8192];
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "flags", 5) != 0) continue;
        for (char *word = strtok(line, " \t\n"); word != NULL; word = strtok(NULL, " \t\n")) {
            found |= strcmp(word, flag) == 0;
        }
        break;
    }
    fclose(f);
    return found;
#endif
}

static bool has_all(const char *const *flags, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!has_flag(flags[i])) return false;
    }
    return true;
}

static cpu_level machine_level(void) {
    static const char *const avx2[] = {"avx2", "bmi2", "adx"};
    static const char *const ifma[] = {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma"};
    if (!has_all(avx2, 3)) return CPU_PORTABLE;
    return has_all(ifma, 5) ? CPU_IFMA : CPU_AVX2;
}

static cpu_level limit(void) {
    const char *text = getenv("CUZK_CPU");
    if (text != NULL && strcmp(text, "portable") == 0) return CPU_PORTABLE;
    if (text != NULL && strcmp(text, "avx2") == 0) return CPU_AVX2;
    return CPU_IFMA;
}

static void test_level(void **state) {
    (void)state;
    cpu_level expected = machine_level() < limit() ? machine_level() : limit();
    printf("# machine %s, limit %s, level %s, sha %d\n", cpu_level_name(machine_level()), cpu_level_name(limit()),
           cpu_level_name(cpu_current()), cpu_has_sha());
    assert_int_equal(cpu_current(), expected);
    assert_int_equal(cpu_has_sha(), has_flag("sha_ni") && limit() != CPU_PORTABLE);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(cpu_level_name(CPU_PORTABLE), "portable");
    assert_string_equal(cpu_level_name(CPU_AVX2), "avx2");
    assert_string_equal(cpu_level_name(CPU_IFMA), "ifma");
    assert_non_null(cpu_level_name((cpu_level)77));
}

// Last: the mask cannot be raised again.
static void test_mask_only_lowers(void **state) {
    (void)state;
    cpu_level before = cpu_current();
    cpu_set_mask(CPU_IFMA);
    assert_int_equal(cpu_current(), before);
    cpu_set_mask(CPU_AVX2);
    assert_int_equal(cpu_current(), before < CPU_AVX2 ? before : CPU_AVX2);
    cpu_set_mask(CPU_PORTABLE);
    assert_int_equal(cpu_current(), CPU_PORTABLE);
    assert_false(cpu_has_sha());
    cpu_set_mask(CPU_IFMA);
    assert_int_equal(cpu_current(), CPU_PORTABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_mask_only_lowers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
