#pragma once

namespace tare::processor {

// The code to which a signal handler returns, as unwinders of other projects recognise it, too.
// mov $15, %rax; syscall: rt_sigreturn.
inline constexpr unsigned char signal_return[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

}  // namespace tare::processor
