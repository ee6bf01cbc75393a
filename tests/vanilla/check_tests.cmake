# SPDX-License-Identifier: MIT OR Apache-2.0
cuzk_test(test_porep_check SOURCES test_porep_check.c DEPS vanilla TIMEOUT 300)
