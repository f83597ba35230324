#include "recorder/environment.h"

#include <sys/auxv.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/number.h"
#include "recorder/errno_guard.h"
#include "recorder/warning.h"

namespace tare::recorder {
namespace {

// The variables that were warned of.
constinit std::atomic<const char*> reported[16] = {};

bool is_reported(const char* variable) noexcept {
  for (std::atomic<const char*>& each : reported) {
    const char* known = nullptr;
    if (each.compare_exchange_strong(known, variable)) return false;
    if (std::strcmp(known, variable) == 0) return true;
  }
  return true;
}

}  // namespace

bool may_record() noexcept { return getauxval(AT_SECURE) == 0; }

std::uint64_t count_of(const char* variable, std::uint64_t otherwise) noexcept {
  const char* text = secure_getenv(variable);
  if (text == nullptr || *text == '\0' || format::parse_count(text, otherwise)) return otherwise;
  warn_of(variable, text, "a whole number");
  return otherwise;
}

void warn_of(const char* variable, const char* value, const char* meaning) noexcept {
  if (is_reported(variable)) return;
  const ErrnoGuard guard;
  char text[512];
  std::snprintf(text, sizeof text, "%s=%.200s is ignored: its value is %s", variable, value, meaning);
  warn(text);
}

}  // namespace tare::recorder
