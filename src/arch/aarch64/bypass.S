// What calls that are only counted go through (bypass.h). x16 and x17 are free at a call; all argument registers pass
// through.
#include "mpi/interposition/bypass.h"

        .hidden _ZN4tare8recorder13this_locationE
        .hidden tare_wrappers

        .macro TARE_JUMP table, number
        adrp    x16, \table + 8*\number
        ldr     x16, [x16, :lo12:\table + 8*\number]
        br      x16
        .endm

        .macro TARE_STUB name, number
        .p2align 4
tare_bypass_\number:
        .cfi_startproc
        hint    #34     // bti c
        adrp    x16, :gottprel:_ZN4tare8recorder13this_locationE
        ldr     x16, [x16, :gottprel_lo12:_ZN4tare8recorder13this_locationE]
        mrs     x17, tpidr_el0
        ldr     x16, [x17, x16]
        cbz     x16, 1f
        ldrb    w17, [x16, #TARE_COUNTS_ONLY]
        cbz     w17, 1f
        ldr     x17, [x16, #TARE_UNTIL_CHECK]
        sub     x17, x17, #1
        str     x17, [x16, #TARE_UNTIL_CHECK]
        tbnz    x17, #63, 1f
        ldr     x17, [x16, #TARE_COUNTED_CALLS]
        add     x17, x17, #1
        str     x17, [x16, #TARE_COUNTED_CALLS]
        ldr     x16, [x16, #TARE_BLOCK]
        ldr     x17, [x16, #TARE_LOOKUPS+8*\number]
        add     x17, x17, #1
        str     x17, [x16, #TARE_LOOKUPS+8*\number]
        TARE_JUMP tare_next, \number
1:      TARE_JUMP tare_wrappers, \number
        .cfi_endproc
        .size   tare_bypass_\number, .-tare_bypass_\number
        .type   tare_bypass_\number, %function
        .endm

#include "mpi/interposition/bypass_table.inc"

        .section .note.GNU-stack, "", %progbits
