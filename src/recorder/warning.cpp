#include "recorder/warning.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

namespace tare::recorder {

void warn(const char* text) noexcept {
  iovec parts[] = {
      {const_cast<char*>("tare: "), 6}, {const_cast<char*>(text), std::strlen(text)}, {const_cast<char*>("\n"), 1}};
  syscall(SYS_writev, 2, parts, 3);
}

}  // namespace tare::recorder
