// A trace file of LiTL, or several that litl_merge has joined. Read here as bytes, because liblitl's reader ends the
// process if it cannot read a file, and reads outside of its memory if a file is damaged.
//
//   file      version char[8] · system char[128] · processes u16 · a header for each process · the rest
//   header    name char[256] · threads u16 · threads in the first slot u16 · buffer u32 · size u64 · origin u64
//   at origin slots of pairs: thread u64 · offset u64. A thread has the first of its chunks there; {0, n}: the next
//             slot is there; {0, 0}: the end. Offsets count from the origin
//   chunk     events, the last of which is a link
//   event     time u64 (ns) · code u32 · type u8; regular: parameters u8 · that many u64; raw and packed: bytes u32 ·
//             that many bytes
//   link      time 0, code 13, a regular event with one parameter: the offset of the next chunk; 0: the end
//
// All is little-endian and without padding. The header's number of threads is too small where threads began after the
// first chunk was written, so it is not read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/result.h"

namespace tare::importers::litl {

enum class EventKind : std::uint8_t { regular = 0, raw = 1, packed = 2 };

struct Event {
  std::uint64_t time_ns = 0;
  std::uint32_t code = 0;
  EventKind kind = EventKind::regular;
  std::string_view data;  // regular: parameters of 8 bytes
};

struct Thread {
  std::uint64_t id = 0;
  std::uint64_t first = 0;  // where in the file its first chunk lies; 0: it has none
};

struct Process {
  std::string name;
  std::uint64_t origin = 0;
  std::vector<Thread> threads;
};

class TraceFile {
 public:
  // Whether a file that begins with these bytes is a trace.
  static bool is_one(std::string_view begin);

  // The bytes must outlive it. An error is the rest of the sentence "TRACE cannot be imported: …".
  static reader::Result<TraceFile> read(std::string_view bytes);

  const std::vector<Process>& processes() const { return processes_; }
  std::string host() const;

  // In order, until `take` returns false. Returns what is wrong with the file, or nothing. `left`: how many bytes may
  // still be read for all threads together, at most the size of the file, because threads share no chunks.
  using Take = std::function<bool(const Event&)>;
  std::string read_events(const Process& process, const Thread& thread, std::uint64_t& left, const Take& take) const;
  std::uint64_t size() const { return bytes_.size(); }

 private:
  explicit TraceFile(std::string_view bytes) : bytes_(bytes) {}

  std::string read_threads(Process& process) const;

  std::string_view bytes_;
  std::vector<Process> processes_;
};

}  // namespace tare::importers::litl
