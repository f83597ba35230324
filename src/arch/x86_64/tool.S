// The entries for functions of another tool (tool.h). r10 and r11 are free at a call; al and all argument registers pass
// through.

        .macro TARE_STUB name, number
        .p2align 4
tare_profiling_entry_\number:
        endbr64
        movl    $\number, %r11d
        jmp     tare_profiling_entry
        .p2align 4
tare_tool_entry_\number:
        endbr64
        movl    $\number, %r11d
        jmp     tare_tool_entry
        .endm

        .text
#include "stubs.inc"

        .macro TARE_JUMP_IN table
        leaq    \table(%rip), %r10
        jmpq    *(%r10,%r11,8)
        .endm

        .type   tare_profiling_entry, @function
        .p2align 4
tare_profiling_entry:
        .cfi_startproc
        movq    tare_profiling_call@gottpoff(%rip), %r10
        movl    %r11d, %fs:(%r10)
        TARE_JUMP_IN tare_profiling_wrappers
        .cfi_endproc
        .size   tare_profiling_entry, .-tare_profiling_entry

        .type   tare_tool_entry, @function
        .p2align 4
tare_tool_entry:
        .cfi_startproc
        movq    tare_profiling_call@gottpoff(%rip), %r10
        cmpl    %r11d, %fs:(%r10)
        je      1f
        movq    tare_tool_depth@gottpoff(%rip), %r10
        movl    $0, %fs:(%r10)
        TARE_JUMP_IN tare_tools
1:      movl    $0, %fs:(%r10)
        TARE_JUMP_IN tare_library
        .cfi_endproc
        .size   tare_tool_entry, .-tare_tool_entry

#include "mpi/interposition/tool_tables.inc"

        .section .note.GNU-stack, "", @progbits
