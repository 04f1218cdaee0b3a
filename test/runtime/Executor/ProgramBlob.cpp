// The program file of an executable, as `hocket compile` links it: HOCKET_BLOB in the section .hocket.program.
asm(".section .hocket.program,\"a\",@progbits\n"
    ".balign 64\n"
    ".globl hocket_program_begin, hocket_program_end\n"
    "hocket_program_begin:\n"
    ".incbin \"" HOCKET_BLOB "\"\n"
    "hocket_program_end:\n");
