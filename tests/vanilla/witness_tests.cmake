# SPDX-License-Identifier: MIT OR Apache-2.0
cuzk_test(test_witness SOURCES test_witness.c DEPS vanilla LIBS jansson TIMEOUT 300)
cuzk_test(test_witness_all SOURCES test_witness.c DEPS vanilla LIBS jansson ARGS all LABEL long TIMEOUT 600)
