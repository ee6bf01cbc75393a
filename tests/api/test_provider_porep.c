// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Keys of PoRep by name: which names there are, and what is said when a file is missing or was replaced.
#include "testing.h"

#include "api/params.h"
#include "api/provider_porep.h"
#include "base/scratch.h"

static void keys_have_names(void **state) {
    (void)state;
    scratch tmp;
    scratch_make(&tmp);
    const char *dir = tmp.dir;
    const provider_porep_options o = {.params_dir = dir, .check = KEY_CHECK_CURVE};
    provider *p = NULL;
    porep_shape shape;
    params_files files;
    provider_plan plan, other;
    cuzk_error err = {0};
    assert_int_equal(provider_porep_create(&p, &o, &err), CUZK_OK);
    static const char *const NAMES[] = {"porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) { // known, but there is no file, and the error names it
        assert_int_equal(p->ops->find_key(p, &plan, NAMES[i], &err), CUZK_ERR_IO);
        assert_non_null(strstr(err.text, dir));
        assert_non_null(strstr(err.text, ".params"));
    }
    static const char *const NO_NAMES[] = {"porep-2K", "porep-", "porep", "", "toy-10", "porep-2kib", "snap-32g"};
    for (size_t i = 0; i < sizeof NO_NAMES / sizeof *NO_NAMES; i++)
        assert_int_equal(p->ops->find_key(p, &plan, NO_NAMES[i], &err), CUZK_ERR_INPUT);

    assert_int_equal(porep_shape_by_size(&shape, 2048, POREP_API_1_1, POREP_INTERACTIVE, NULL), CUZK_OK);
    assert_int_equal(params_locate(&files, dir, &shape, NULL), CUZK_OK);
    scratch_put(&tmp, files.params + strlen(dir) + 1, "1234567890", 10);
    assert_int_equal(p->ops->find_key(p, &plan, "porep-2k", &err), CUZK_OK);
    assert_string_equal(plan.key_name, "porep-2k");
    assert_true(plan.key != 0 && plan.key_bytes >= 10);
    assert_int_equal(p->ops->find_key(p, &other, "porep-2k", &err), CUZK_OK);
    assert_true(other.key == plan.key); // found twice, the same
    scratch_put(&tmp, files.params + strlen(dir) + 1, "1234567890+",
                11); // another file under the same name: another key
    assert_int_equal(p->ops->find_key(p, &other, "porep-2k", &err), CUZK_OK);
    assert_true(other.key != plan.key);
    groth16_pk *pk = NULL;
    assert_int_equal(p->ops->load_key(p, &pk, plan.key, NULL, NULL, &err), CUZK_ERR_MISMATCH);
    assert_non_null(strstr(err.text, "replaced"));
    assert_null(pk);
    provider_porep_destroy(&p);
    scratch_remove(&tmp);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
