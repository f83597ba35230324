// Exported MPI_X and PMPI_X for x86-64. r11 is free at a call; al (number of vector registers of a variadic
// call) and all argument registers pass through.
//
// The symbols carry a version that is not the default one: the dynamic linker binds the program's references
// to them all the same, while the C library's dlsym goes on finding the MPI library. Programs that look around with
// dlsym to learn which MPI is loaded (mpi4py does) would else mistake this library for one. Those that call what
// dlsym finds are given stubs by a dlsym of our own (dlsym.h).

        .macro TARE_ENTRY name, number, slots, profiling
        .globl  tare_stub_\name
        .type   tare_stub_\name, @function
        .p2align 4
tare_stub_\name:
.Ltare_stub_\name:
        .cfi_startproc
        endbr64
        movq    tare_inside@gottpoff(%rip), %r11
        cmpq    $0, %fs:(%r11)
        jne     1f
        jmpq    *\slots+8*\number(%rip)
1:      movl    $(2*\number+\profiling), %r11d
        jmp     tare_inner
        .cfi_endproc
        .size   tare_stub_\name, .-tare_stub_\name
        .symver tare_stub_\name, \name@TARE_1, remove
        .endm

        .macro TARE_FIRST number, profiling
tare_first_\number\()_\profiling:
        endbr64
        movl    $(2*\number+\profiling), %r11d
        jmp     tare_first
        .endm

#include "mpi/interposition/stub_entries.inc"
#include "processor/decide.inc"

        TARE_DECIDE tare_first, tare_resolve  // the first call of a function
        TARE_DECIDE tare_inner, tare_nested   // a call that is made while tare_inside is set

        .globl  tare_asked_first
        .hidden tare_asked_first
        TARE_DECIDE tare_asked_first, tare_resolve_asked

// dlsym: for a name that may be of a function of MPI, what tare_find says; for all others, and where that is null,
// the C library's, which sees the program's arguments and the program's return address.
        .globl  dlsym
        .type   dlsym, @function
        .p2align 4
dlsym:
        .cfi_startproc
        endbr64
        testq   %rsi, %rsi
        je      1f
        cmpb    $'M', (%rsi)
        je      2f
        cmpb    $'P', (%rsi)
        je      2f
1:      jmpq    *tare_dlsym_below(%rip)
2:      pushq   %rdi
        pushq   %rsi
        .cfi_adjust_cfa_offset 16
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    24(%rsp), %rdx
        call    tare_find
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -16
        testq   %rax, %rax
        je      1b
        ret
        .cfi_endproc
        .size   dlsym, .-dlsym

// What tare_dlsym_below is at first.
        .globl  tare_dlsym_first
        .hidden tare_dlsym_first
        .p2align 4
tare_dlsym_first:
        .cfi_startproc
        pushq   %rdi
        pushq   %rsi
        .cfi_adjust_cfa_offset 16
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    tare_find_dlsym
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -16
        jmpq    *%rax
        .cfi_endproc

// Functions handed out by dlsym before it is known which MPI library will be called (dlsym.h), 16 bytes each: four times
// the pairs of MPI_X and PMPI_X, by number, after a pair for the number 0.
        .purgem TARE_STUB
        .macro TARE_ASKED
        .p2align 4
        endbr64
        movl    $asked, %r11d
        jmpq    *tare_asked+8*asked(%rip)
        .set    asked, asked+1
        .endm
#include "mpi/interposition/asked_stubs.inc"

#include "mpi/interposition/stub_tables.inc"

        .section .note.GNU-stack, "", @progbits
