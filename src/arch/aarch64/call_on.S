// tare_call_on (call_on.h): argument in x0, function in x1, end of the stack in x2.
        .text
        .globl  tare_call_on
        .hidden tare_call_on
        .type   tare_call_on, %function
        .p2align 4
tare_call_on:
        .cfi_startproc
        hint    #34     // bti c
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x2
        blr     x1
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   tare_call_on, .-tare_call_on

        .section .note.GNU-stack, "", %progbits
