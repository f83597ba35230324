// Exported MPI_X and PMPI_X for x86-64. r11 is free at a call; al (number of vector registers of a variadic
// call) and all argument registers pass through.
//
// The symbols carry a version that is not the default one: the dynamic linker binds the program's references
// to them all the same, while dlsym goes on finding the MPI library. Programs that look around with dlsym to
// learn which MPI is loaded (mpi4py does) would else mistake this library for one.

        .macro TARE_ENTRY name, number, slots, next
        .globl  tare_stub_\name
        .type   tare_stub_\name, @function
        .p2align 4
tare_stub_\name:
        .cfi_startproc
        endbr64
        movq    tare_depth@gottpoff(%rip), %r11
        cmpl    $0, %fs:(%r11)
        jne     1f
        jmpq    *\slots+8*\number(%rip)
1:      jmpq    *\next+8*\number(%rip)
        .cfi_endproc
        .size   tare_stub_\name, .-tare_stub_\name
        .symver tare_stub_\name, \name@TARE_1, remove
        .endm

        .macro TARE_STUB name, number
        TARE_ENTRY \name, \number, tare_slots, tare_next
        TARE_ENTRY P\name, \number, tare_profiling_slots, tare_profiling_next
tare_first_\number:
        endbr64
        movl    $\number, %r11d
        jmp     tare_first
        .endm

        .text
#include "stubs.inc"

// First call of a function: finds out where it goes (tare_resolve), then goes there.
tare_first:
        .cfi_startproc
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        pushq   %rax
        .cfi_adjust_cfa_offset 56
        subq    $128, %rsp
        .cfi_adjust_cfa_offset 128
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        movl    %r11d, %edi
        call    tare_resolve
        movq    %rax, %r11
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        addq    $128, %rsp
        .cfi_adjust_cfa_offset -128
        popq    %rax
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -56
        jmpq    *%r11
        .cfi_endproc

        .purgem TARE_STUB
        .macro TARE_STUB name, number
        .quad   tare_first_\number
        .endm

        .section .data.rel.local, "aw"
        .macro TARE_TABLE table
        .globl  \table
        .hidden \table
        .p2align 6
\table:
        .quad   0
        .endm

        TARE_TABLE tare_slots
#include "stubs.inc"
        TARE_TABLE tare_profiling_slots
#include "stubs.inc"
        TARE_TABLE tare_next
#include "stubs.inc"
        TARE_TABLE tare_profiling_next
#include "stubs.inc"

        .section .note.GNU-stack, "", @progbits
