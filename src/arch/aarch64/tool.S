// The entries for functions of another tool (tool.h). x16 and x17 are free at a call, and so are x9 to x15; all argument
// registers pass through.

        .macro TARE_STUB name, number
        .p2align 4
tare_profiling_entry_\number:
        hint    #34     // bti c
        mov     w17, #\number
        b       tare_profiling_entry
        .p2align 4
tare_tool_entry_\number:
        hint    #34
        mov     w17, #\number
        b       tare_tool_entry
        .endm

        .text
#include "stubs.inc"

        .macro TARE_JUMP_IN table
        adrp    x16, \table
        add     x16, x16, :lo12:\table
        ldr     x16, [x16, x17, lsl #3]
        br      x16
        .endm

// The address of a variable of this thread, in x16. Changes x9.
        .macro TARE_OF_THREAD variable
        adrp    x16, :gottprel:\variable
        ldr     x16, [x16, :gottprel_lo12:\variable]
        mrs     x9, tpidr_el0
        add     x16, x16, x9
        .endm

        .type   tare_profiling_entry, %function
        .p2align 4
tare_profiling_entry:
        .cfi_startproc
        TARE_OF_THREAD tare_profiling_call
        str     w17, [x16]
        TARE_JUMP_IN tare_profiling_wrappers
        .cfi_endproc
        .size   tare_profiling_entry, .-tare_profiling_entry

        .type   tare_tool_entry, %function
        .p2align 4
tare_tool_entry:
        .cfi_startproc
        TARE_OF_THREAD tare_profiling_call
        ldr     w9, [x16]
        cmp     w9, w17
        b.eq    1f
        TARE_OF_THREAD tare_tool_depth
        str     wzr, [x16]
        TARE_JUMP_IN tare_tools
1:      str     wzr, [x16]
        TARE_JUMP_IN tare_library
        .cfi_endproc
        .size   tare_tool_entry, .-tare_tool_entry

#include "mpi/interposition/tool_tables.inc"

        .section .note.GNU-stack, "", %progbits
