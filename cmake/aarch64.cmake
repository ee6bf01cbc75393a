# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Cross building for 64-bit Arm with Debian's compiler; tests run under qemu. CUZK_SYSROOT: the folder that
# scripts/arm-sysroot.sh filled.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUZK_SYSROOT)
set(root ${CUZK_SYSROOT}/root/usr)
include_directories(SYSTEM ${root}/include ${root}/include/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${root}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${root}/lib/aarch64-linux-gnu)
