// Exported names by which Fortran calls MPI, for x86-64, in libtare-referee.so. About the version of the symbols see stubs.S.
#include "processor/decide.inc"

        .macro TARE_STUB name, number
        .globl  tare_fortran_\number
        .type   tare_fortran_\number, @function
        .p2align 4
tare_fortran_\number:
        .cfi_startproc
        endbr64
        jmpq    *tare_fortran_slots+8*\number(%rip)
        .cfi_endproc
        .size   tare_fortran_\number, .-tare_fortran_\number
        .symver tare_fortran_\number, \name@TARE_1, remove
tare_fortran_first_\number:
        endbr64
        movl    $\number, %r11d
        jmp     tare_fortran_first
        .endm

        .text
#include "fortran_stubs.inc"

        TARE_DECIDE tare_fortran_first, tare_resolve_fortran

#include "mpi/referee/fortran_table.inc"

        .section .note.GNU-stack, "", @progbits
