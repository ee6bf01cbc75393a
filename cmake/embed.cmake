# SPDX-License-Identifier: MIT OR Apache-2.0
#
# cmake -DFROM=file -DTO=file.c -DNAME=symbol -P embed.cmake: the bytes of a file as a C array and its length.
file(READ ${FROM} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
set(ten "0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,")
string(REGEX REPLACE "(${ten}${ten})" "\\1\n" bytes "${bytes}")
file(WRITE ${TO}
     "#include <stddef.h>\nextern const char ${NAME}[];\nextern const size_t ${NAME}_len;\n"
     "const char ${NAME}[] = {\n${bytes}0};\nconst size_t ${NAME}_len = ${length};\n")
