// Calls a function on another stack (src/arch/*/call_on.S).
#pragma once

extern "C" {

// `end`: one past the last byte of the stack, a multiple of 16. Takes some 40 bytes of the stack that is left.
[[gnu::visibility("hidden")]] void tare_call_on(void* argument, void (*function)(void*), void* end) noexcept;
}
