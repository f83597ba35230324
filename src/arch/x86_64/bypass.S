// What calls that are only counted go through (bypass.h). r11 is free at a call; all argument registers pass through.
#include "mpi/interposition/bypass.h"

        .hidden _ZN4tare8recorder13this_locationE
        .hidden tare_wrappers

        .macro TARE_STUB name, number
        .p2align 4
tare_bypass_\number:
        .cfi_startproc
        endbr64
        movq    _ZN4tare8recorder13this_locationE@gottpoff(%rip), %r11
        movq    %fs:(%r11), %r11
        testq   %r11, %r11
        je      1f
        cmpb    $0, TARE_COUNTS_ONLY(%r11)
        je      1f
        subq    $1, TARE_UNTIL_CHECK(%r11)
        js      1f
        incq    TARE_COUNTED_CALLS(%r11)
        movq    TARE_BLOCK(%r11), %r11
        incq    TARE_LOOKUPS+8*\number(%r11)
        jmpq    *tare_next+8*\number(%rip)
1:      jmpq    *tare_wrappers+8*\number(%rip)
        .cfi_endproc
        .size   tare_bypass_\number, .-tare_bypass_\number
        .type   tare_bypass_\number, @function
        .endm

#include "mpi/interposition/bypass_table.inc"

        .section .note.GNU-stack, "", @progbits
