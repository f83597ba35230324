#include "files/counting.h"

#include <algorithm>
#include <atomic>

#include "recorder/segment.h"

namespace tare::files {
namespace {

using format::FileAccess;
using format::FileInterface;
using format::FileTransfers;
using format::FileUse;

template <Direction direction>
FileTransfers& transfers_of(FileUse& use) noexcept {
  return direction == Direction::read ? use.reads : use.writes;
}

// How an access follows those before it.
template <Direction direction>
[[gnu::always_inline]] inline void add_place(FileUse& use, OpenFile& file, std::uint64_t begin,
                                             std::uint64_t bytes) noexcept {
  constexpr bool writes = direction == Direction::write;
  FileTransfers& to = transfers_of<direction>(use);
  LastAccess& last = file.last[static_cast<unsigned>(direction)];
  ++to.located;
  to.end = std::max(to.end, begin + bytes);
  if (file.was_written != writes || !file.has_access) [[unlikely]] {
    use.switches += static_cast<std::uint64_t>(file.has_access);
    file.has_access = true;
    file.was_written = writes;
  }
  const std::uint64_t distance = begin - last.offset;
  if (begin == last.end) {
    ++to.consecutive;
    ++to.sequential;
  } else if (last.end != not_known) {
    to.sequential += static_cast<std::uint64_t>(begin > last.end);
    to.strided += static_cast<std::uint64_t>(distance != 0 && distance == last.distance);
  }
  last = {begin, begin + bytes, last.end == not_known ? 0 : distance};
}

template <Direction direction>
[[gnu::always_inline]] inline void add_access(const stack::Thread& thread, const Span& span, OpenFile* file,
                                              ssize_t result, std::uint64_t begin) noexcept {
  thread.shared().others.call.object = entry_of(file);
  FileUse* use = use_of(file, FileInterface::posix, thread.block);
  if (use == nullptr) return;
  recorder::count_in(
      *use, [&](FileUse & to) __attribute__((always_inline)) {
        recorder::add_transfer(transfers_of<direction>(to), result, span.leave - span.enter);
        if (begin != not_known) add_place<direction>(to, *file, begin, static_cast<std::uint64_t>(result));
      });
}

}  // namespace

template <Direction direction>
void count_access(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result) noexcept {
  OpenFile* file = open_file(descriptor, span.leave);
  std::uint64_t begin = not_known;
  if (file != nullptr && result >= 0)
    begin = begin_of(*file, descriptor, static_cast<std::uint64_t>(result), direction == Direction::write);
  add_access<direction>(thread, span, file, result, begin);
}
template void count_access<Direction::read>(const stack::Thread&, const Span&, int, ssize_t) noexcept;
template void count_access<Direction::write>(const stack::Thread&, const Span&, int, ssize_t) noexcept;

template <Direction direction>
void count_access_at(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result,
                     std::uint64_t offset) noexcept {
  OpenFile* file = open_file(descriptor, span.leave);
  // A file that appends does so whatever the offset (Linux, pwrite(2)).
  const bool is_there = file != nullptr && !(direction == Direction::write && file->appends);
  const bool has_place = is_there && file->has_offsets && result >= 0;
  add_access<direction>(thread, span, file, result, has_place ? offset : not_known);
}
template void count_access_at<Direction::read>(const stack::Thread&, const Span&, int, ssize_t, std::uint64_t) noexcept;
template void count_access_at<Direction::write>(const stack::Thread&, const Span&, int, ssize_t,
                                                std::uint64_t) noexcept;

template <Direction direction>
void count_stream(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result) noexcept {
  if (descriptor < 0) return;
  OpenFile* file = open_file(descriptor, span.leave);
  if (file != nullptr) file->position = not_known;  // of calls that do not go through the stream
  thread.shared().others.call.object = entry_of(file);
  FileUse* use = use_of(file, FileInterface::stdio, thread.block);
  if (use == nullptr) return;
  recorder::count_in(
      *use, [&](FileUse& to) { recorder::add_transfer(transfers_of<direction>(to), result, span.leave - span.enter); });
}

template void count_stream<Direction::read>(const stack::Thread&, const Span&, int, ssize_t) noexcept;
template void count_stream<Direction::write>(const stack::Thread&, const Span&, int, ssize_t) noexcept;

void count_other(const stack::Thread& thread, const Span& span, FileAccess kind, FileInterface interface,
                 OpenFile* file, bool has_failed) noexcept {
  thread.shared().others.call.object = entry_of(file);
  FileUse* use = use_of(file, interface, thread.block);
  if (use == nullptr) return;
  recorder::count_in(*use, [&](FileUse& to) { recorder::add_other(to, kind, span.leave - span.enter, has_failed); });
}

}  // namespace tare::files
