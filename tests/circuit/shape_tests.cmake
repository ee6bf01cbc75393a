# SPDX-License-Identifier: MIT OR Apache-2.0
cuzk_test(test_porep_shape SOURCES test_porep_shape.c DEPS circuit)
cuzk_test(test_porep_public_inputs SOURCES test_porep_public_inputs.c DEPS circuit)
