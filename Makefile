# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Thin: CMake and ctest do the work, this names the ways to call them. `make help` lists them.

GCC ?= gcc
CLANG ?= clang
GXX ?= g++
CLANGXX ?= clang++
JOBS ?= $(shell nproc)
# Test parameters are made once and kept here, for the tests and for the demo.
CUZK_PARAMS_DIR ?= $(CURDIR)/.cache/params
export CUZK_PARAMS_DIR
# Given on the command line: SAN=address,undefined.
SAN ?=
# Jobs in the storm of tests/engine; empty: what the test thinks fit.
CUZK_RUNTIME_JOBS ?=
export CUZK_RUNTIME_JOBS
FUZZ_SECONDS ?= 60

CONFIGURE := cmake -S . -G Ninja -Wno-dev --log-level=WARNING
CTEST := ctest --output-on-failure --no-tests=error --no-label-summary -j $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help bootstrap build build-clang build-san layers check check-tsan check-arm check-long demo bench bench-scaling bench-profile bench-tables interop fuzz format clean

help: ## this list
	@echo "cuzk: a Groth16 prover for Filecoin. Targets:"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "Variables: SAN=$(SAN) JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) CUZK_PARAMS_DIR=$(CUZK_PARAMS_DIR)"

bootstrap: ## install the Debian packages that are missing
	@scripts/bootstrap.sh

build: bootstrap ## optimised build with gcc, in build/
	@$(CONFIGURE) -B build -DCMAKE_C_COMPILER=$(GCC) -DCMAKE_CXX_COMPILER=$(GXX) -DCMAKE_BUILD_TYPE=Release
	@cmake --build build -j $(JOBS)

build-clang: bootstrap ## the same with clang, in build-clang/; a warning is an error
	@$(CONFIGURE) -B build-clang -DCMAKE_C_COMPILER=$(CLANG) -DCMAKE_CXX_COMPILER=$(CLANGXX) -DCMAKE_BUILD_TYPE=Release
	@cmake --build build-clang -j $(JOBS)

build-san: bootstrap ## build with the sanitizers of SAN, asserts on, in build-san/
	@$(CONFIGURE) -B build-san -DCMAKE_C_COMPILER=$(GCC) -DCMAKE_CXX_COMPILER=$(GXX) -DCMAKE_BUILD_TYPE=Debug "-DSAN=$(if $(SAN),$(SAN),address,undefined)"
	@cmake --build build-san -j $(JOBS)

layers: ## the rules of the source tree: layers, lengths, licences
	@scripts/check-layers.sh

# The tests come last, so that their verdict is what one sees.
ifeq ($(SAN),)
check: layers build build-clang ## all tests but the long ones; with SAN=address,undefined the unit tests under sanitizers
	@$(CTEST) --test-dir build -LE long
else
check: build-san
	@$(CTEST) --test-dir build-san -L unit
endif

check-tsan: bootstrap ## the tests about threads, under ThreadSanitizer; CUZK_RUNTIME_JOBS=N for a longer storm
	@$(CONFIGURE) -B build-tsan -DCMAKE_C_COMPILER=$(GCC) -DCMAKE_BUILD_TYPE=Debug -DSAN=thread
	@cmake --build build-tsan -j $(JOBS) --target threads
	@$(CTEST) --test-dir build-tsan -L threads

# The layers up to vanilla: what computes. Circuits of whole sectors take too long under an emulator, and there is one level.
check-arm: ## build for 64-bit Arm and run the unit tests up to a toy proof under qemu
	@scripts/arm-sysroot.sh .cache/arm
	@$(CONFIGURE) -B build-arm -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake \
	  -DCUZK_SYSROOT=$(CURDIR)/.cache/arm -DCUZK_UP_TO=vanilla
	@cmake --build build-arm -j $(JOBS)
	@$(CTEST) --test-dir build-arm -LE long -E 'porep|witness|_portable'

check-long: build ## the tests that take minutes, and check-tsan with a thousand jobs
	@$(CTEST) --test-dir build -L long
	@$(MAKE) check-tsan CUZK_RUNTIME_JOBS=1000

demo: ## prove and verify the bundled sector
	@scripts/demo.sh

bench: build ## the whole proof and all kernels, blst beside them; ORACLE=PATH: the official prover in turn, RUNS=N times
	@bench/run.sh proof kernels
	@scripts/bench-tables.py build/bench/rows/* --ratios

bench-scaling: build ## time against size from 2^12 to 2^22, drawn in docs/images/kernels.svg
	@bench/run.sh scaling
	@scripts/plot-bench.py build/bench/rows/scaling.jsonl \
	  --panels ntt_forward ntt_quotient msm_g1 msm_g2 msm_g1_sum_bits msm_g1_bits > build/bench/kernels.svg
	@cp build/bench/kernels.svg docs/images/kernels.svg

bench-profile: build ## where the time of a whole proof goes, by function (perf)
	@bench/profile.py

bench-tables: ## the tables of docs/performance.md from the rows that the targets above left in build/bench/rows
	@scripts/bench-tables.py build/bench/rows/* --write docs/performance.md

check-browser: build ## the live page in Chromium (node 20 and npm; screenshots in build/browser)
	@cd tests/browser && npm ci --no-audit --no-fund --silent
	@cd tests/browser && CUZK_BIN=$(CURDIR)/build/cuzk CUZK_SHOTS=$(CURDIR)/build/browser node --test

interop: build ## the official implementation, a Go client and grpcurl against ours (docs/interop.md)
	@scripts/interop.sh

fuzz: bootstrap ## each fuzzer for FUZZ_SECONDS (clang, libFuzzer)
	@$(CONFIGURE) -B build-fuzz -DCMAKE_C_COMPILER=$(CLANG) -DCMAKE_CXX_COMPILER=$(CLANGXX) -DCMAKE_BUILD_TYPE=Debug -DCUZK_FUZZ=ON -DSAN=address,undefined
	@cmake --build build-fuzz -j $(JOBS) --target fuzz/all
	@found=; for f in build-fuzz/fuzz/fuzz_*; do \
	  if [ -f "$$f" ] && [ -x "$$f" ]; then found=1; n=$${f##*/}; mkdir -p ".cache/corpus/$$n"; \
	    seeds=; [ ! -d "fuzz/corpus/$$n" ] || seeds="fuzz/corpus/$$n"; \
	    echo "== $$n"; "$$f" -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 ".cache/corpus/$$n" $$seeds || exit 1; fi; \
	done; [ -n "$$found" ] || { echo "no fuzzer in build-fuzz/fuzz"; exit 1; }

format: ## clang-format on every C file
	@command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 1; }
	@find src include tests bench fuzz examples -name '*.[ch]' -print0 | xargs -0 -r clang-format -i

clean: ## remove the build folders; the parameters in .cache stay
	@rm -rf build build-arm build-clang build-san build-tsan build-fuzz
