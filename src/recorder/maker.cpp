#include "recorder/maker.h"

#include <cstdio>
#include <cstring>

#include "format/machine.h"
#include "format/number.h"
#include "recorder/system.h"

namespace tare::recorder {
std::uint64_t start_ticks() noexcept {
  char line[1024];
  // proc(5): field 22.
  const long bytes = read_file("/proc/self/stat", line, sizeof line - 1);
  if (bytes <= 0) return 0;
  line[bytes] = '\0';
  const char* at = std::strrchr(line, ')');  // field 2, the name, may hold anything
  for (int field = 2; field < 22 && at != nullptr; ++field) at = std::strchr(at + 1, ' ');
  std::uint64_t ticks = 0;
  if (at == nullptr || !format::parse_count({at + 1, std::strcspn(at + 1, " ")}, ticks)) return 0;
  return ticks;
}

format::Maker become_maker(const char* path) noexcept {
  format::Maker maker{};
  maker.is_marked = mark_file(path) ? 1 : 0;
  maker.machine = format::machine_name();
  maker.pid_namespace = format::pid_namespace_name();
  maker.start_ticks = start_ticks();
  return maker;
}

bool collector_has(const char* collector, const char* kind, std::uint64_t name) noexcept {
  char entry[32];
  std::snprintf(entry, sizeof entry, "%s=%016llx", kind, static_cast<unsigned long long>(name));
  return collector != nullptr && name != 0 && std::strstr(collector, entry) != nullptr;
}

void label_node(char (&label)[node_label_bytes], const char* host, const char* collector, const char* kind,
                std::uint64_t name) noexcept {
  if (collector == nullptr || collector_has(collector, kind, name))
    std::snprintf(label, sizeof label, "%.63s", host);
  else
    std::snprintf(label, sizeof label, "%.63s-%08x", host, static_cast<unsigned>(name));
}

}  // namespace tare::recorder
