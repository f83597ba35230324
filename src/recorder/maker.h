// This process, as the maker of its segment (format/maker.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/maker.h"

namespace tare::recorder {

// When this process started, in clock ticks after the machine did (starttime in /proc/PID/stat); 0 if that is not
// known.
std::uint64_t start_ticks() noexcept;

// Takes the mark of the segment in the file `path`, which it holds until it dies or calls exec, and says who it is.
format::Maker become_maker(const char* path) noexcept;

// What `tare run` says of itself in TARE_COLLECTOR: a list of "<kind>=<16 hexadecimal digits>", in which "memory" names
// directories whose files it sees (shared_memory_name), "pids" its PID namespace, and "machine" its machine. If there
// is none, or no such name in it, the result is false.
bool collector_has(const char* collector, const char* kind, std::uint64_t name) noexcept;

// The name under which data of this node lie in the run directory: its host's. If there is a collector, and it does not
// have `name`, this is another node, which may have the same host name; so digits of `name` are added.
inline constexpr std::size_t node_label_bytes = 80;
void label_node(char (&label)[node_label_bytes], const char* host, const char* collector, const char* kind,
                std::uint64_t name) noexcept;

}  // namespace tare::recorder
