// Exported MPI_X and PMPI_X for aarch64. x16 and x17 are free at a call; all argument registers pass through.
// About the version of the symbols see src/arch/x86_64/stubs.S.

        .macro TARE_JUMP table, number
        adrp    x16, \table + 8*\number
        ldr     x16, [x16, :lo12:\table + 8*\number]
        br      x16
        .endm

        .macro TARE_ENTRY name, number, slots, profiling
        .globl  tare_stub_\name
        .type   tare_stub_\name, %function
        .p2align 4
tare_stub_\name:
.Ltare_stub_\name:
        .cfi_startproc
        hint    #34     // bti c
        adrp    x16, :gottprel:tare_inside
        ldr     x16, [x16, :gottprel_lo12:tare_inside]
        mrs     x17, tpidr_el0
        ldr     x16, [x17, x16]
        cbnz    x16, 1f
        TARE_JUMP \slots, \number
1:      mov     w17, #(2*\number+\profiling)
        b       tare_inner
        .cfi_endproc
        .size   tare_stub_\name, .-tare_stub_\name
        .symver tare_stub_\name, \name@TARE_1, remove
        .endm

        .macro TARE_FIRST number, profiling
tare_first_\number\()_\profiling:
        hint    #34
        mov     w17, #(2*\number+\profiling)
        b       tare_first
        .endm

#include "mpi/interposition/stub_entries.inc"
#include "processor/decide.inc"

        TARE_DECIDE tare_first, tare_resolve  // the first call of a function
        TARE_DECIDE tare_inner, tare_nested   // a call that is made while tare_inside is set

        .globl  tare_asked_first
        .hidden tare_asked_first
        TARE_DECIDE tare_asked_first, tare_resolve_asked

// dlsym: see src/arch/x86_64/stubs.S.
        .globl  dlsym
        .type   dlsym, %function
        .p2align 4
dlsym:
        .cfi_startproc
        hint    #34
        cbz     x1, 1f
        ldrb    w16, [x1]
        cmp     w16, #'M'
        b.eq    2f
        cmp     w16, #'P'
        b.eq    2f
1:      adrp    x16, tare_dlsym_below
        ldr     x16, [x16, :lo12:tare_dlsym_below]
        br      x16
2:      stp     x29, x30, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x0, x1, [sp, #16]
        mov     x2, x30
        bl      tare_find
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x29, x30, [sp], #32
        .cfi_adjust_cfa_offset -32
        .cfi_restore x29
        .cfi_restore x30
        cbz     x16, 1b
        mov     x0, x16
        ret
        .cfi_endproc
        .size   dlsym, .-dlsym

        .globl  tare_dlsym_first
        .hidden tare_dlsym_first
        .p2align 4
tare_dlsym_first:
        .cfi_startproc
        hint    #34
        stp     x29, x30, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x0, x1, [sp, #16]
        bl      tare_find_dlsym
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x29, x30, [sp], #32
        .cfi_adjust_cfa_offset -32
        .cfi_restore x29
        .cfi_restore x30
        br      x16
        .cfi_endproc

// Functions handed out by dlsym before it is known which MPI library will be called (dlsym.h), 32 bytes each: four times
// the pairs of MPI_X and PMPI_X, by number, after a pair for the number 0.
        .purgem TARE_STUB
        .macro TARE_ASKED
        .p2align 5
        hint    #34
        mov     w17, #asked
        TARE_JUMP tare_asked, asked
        .set    asked, asked+1
        .endm
#include "mpi/interposition/asked_stubs.inc"

#include "mpi/interposition/stub_tables.inc"

        .section .note.GNU-stack, "", %progbits
