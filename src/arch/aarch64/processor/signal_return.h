#pragma once

namespace tare::processor {

// The code to which a signal handler returns, as unwinders of other projects recognise it, too.
// mov x8, #139; svc #0: rt_sigreturn.
inline constexpr unsigned char signal_return[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

}  // namespace tare::processor
