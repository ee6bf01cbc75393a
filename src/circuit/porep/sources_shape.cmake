# SPDX-License-Identifier: MIT OR Apache-2.0
set(POREP_SHAPE_SOURCES porep/shape.c porep/public_inputs.c porep/graph.c porep/challenges.c)
