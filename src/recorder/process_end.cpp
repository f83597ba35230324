#include "recorder/process_end.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "recorder/clock.h"
#include "recorder/errno_guard.h"
#include "recorder/inside.h"
#include "recorder/kept_results.h"
#include "recorder/last_write.h"
#include "recorder/locations.h"
#include "recorder/node_words.h"
#include "recorder/process_chunks.h"
#include "recorder/segment.h"
#include "recorder/sources.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

using format::ProcessState;
using format::SegmentHeader;

constinit bool is_collected = false;

// Writes all of it. False if something could not be written, after saying so.
bool write_all(SegmentHeader& header) noexcept {
  errno = 0;
  if (write_everything(header, block_at)) return true;
  tell_kept(header, errno);
  return false;
}

// Registered at the first MPI call. So it runs before handlers that were registered earlier. What they and later
// destructors record still reaches the segment.
void at_exit(int status, void*) noexcept {
  SegmentHeader* header = segment();
  if (header == nullptr || header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  header->process.exit_code = status & 0xff;
  if (this_location != nullptr) {
    tell_sources<&Source::exiting>(*this_location);
    const OwnCode own;
    this_location->name.note(this_location->shared().summary.number);
  }
  header->process.end = now();
  note_clock();
  if (header->process.state != ProcessState::aborted) header->process.state = ProcessState::exited;
}

// quick_exit runs no other handlers and passes no status.
void at_quick_exit() noexcept { note_exit(format::exit_code_unknown); }

// On a host without a collector the process writes its data itself, after its exit handlers.
[[gnu::destructor]] void at_unload() noexcept {
  SegmentHeader* header = segment();
  if (header == nullptr || is_collected) return;
  if (header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  const OwnCode own;
  begin_last_write();
  if (write_all(*header)) remove_segment_file();
  if (!has_keeper()) remove_node_words();
  end_last_write();
}

}  // namespace

void watch_end() noexcept {
  on_exit(at_exit, nullptr);
  ::at_quick_exit(at_quick_exit);
}

void set_collected(bool collected) noexcept { is_collected = collected; }

void note_place() noexcept {
  const ErrnoGuard guard;
  const SegmentHeader* header = segment();
  if (header == nullptr || is_collected) return;
  errno = 0;
  if (!write_process(*header)) tell_kept(*header, errno);
}

void note_exit(int status) noexcept {
  SegmentHeader* header = segment();
  // The child of vfork shares this memory, but is another process.
  if (header == nullptr || header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  format::ProcessRecord& process = header->process;
  if (process.state == ProcessState::exited) return;  // exit() ends with _exit(), too
  process.exit_code = status == format::exit_code_unknown ? status : status & 0xff;
  process.end = now();
  if (process.state != ProcessState::aborted) process.state = ProcessState::exited;
}

void note_abort() noexcept {
  SegmentHeader* header = segment();
  if (header == nullptr) return;
  const ErrnoGuard guard;
  header->process.state = ProcessState::aborted;
  header->process.end = now();
  note_clock();
  if (!is_collected) write_all(*header);
}

}  // namespace tare::recorder
