// tare_call_on (call_on.h): argument in rdi, function in rsi, end of the stack in rdx.
        .text
        .globl  tare_call_on
        .hidden tare_call_on
        .type   tare_call_on, @function
        .p2align 4
tare_call_on:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdx, %rsp
        callq   *%rsi
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   tare_call_on, .-tare_call_on

        .section .note.GNU-stack, "", @progbits
