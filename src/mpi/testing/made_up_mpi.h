// What tests of roles (src/mpi/roles/) use instead of an MPI library and a measured process: a made-up ABI page, and a
// thread that records into memory of the test.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/abi/mpich.h"
#include "mpi/calls/measure.h"
#include "mpi/objects/requests.h"
#include "mpi/roles/failure.h"
#include "recorder/locations.h"
#include "recorder/segment.h"

namespace tare::mpi::testing {

// An ABI without a library: all of its values are constants.
struct MadeUpPage : abi::Mpich {
  static constexpr const char* name = "made up";

  static Status received(int source, int tag, unsigned bytes) noexcept { return {bytes, 0, source, tag, success}; }
};

}  // namespace tare::mpi::testing

namespace tare::mpi {

// Errors are their own classes.
template <>
inline int error_class_of<testing::MadeUpPage>(int error) noexcept {
  return error;
}

}  // namespace tare::mpi

namespace tare::mpi::testing {

// The request table of the process (made_up_process.cpp).
inline format::RequestTable* request_table = nullptr;
// Calls of recorder::Spells::complete_unknown.
inline int unknown_completions = 0;

// A thread with its profile and trace. call() makes calls, at times that follow one another.
class RecordingThread {
 public:
  static constexpr std::uint32_t row_capacity = 64;
  static constexpr std::uint32_t all_rows = row_capacity + format::request_capacity;
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

  explicit RecordingThread(std::uint32_t block = 0) {
    // Rows after the end, to find out whether they are written.
    for (std::uint32_t number = 0; number < all_rows; ++number) rows_[number].ticks_min = UINT64_MAX;
    shared_->block = block;
    thread_->begin(*shared_, row_capacity, nullptr, {});
    threads[block] = this;
  }
  ~RecordingThread() { threads[shared_->block] = nullptr; }
  RecordingThread(const RecordingThread&) = delete;
  RecordingThread& operator=(const RecordingThread&) = delete;

  // The thread of a block; nullptr if there is none.
  static const RecordingThread* of_block(std::uint32_t block) noexcept {
    return block < max_threads ? threads[block] : nullptr;
  }
  const format::ProfileRow* rows() const noexcept { return rows_; }

  // Records a trace as well.
  void trace() {
    buffer_.resize(buffer_bytes);
    thread_->events.base = buffer_.data();
    thread_->events.limit = buffer_bytes;
  }

  Thread& thread() noexcept { return *thread_; }
  void pause() noexcept { thread_->pause(); }
  void resume() noexcept { thread_->resume(); }

  // Makes a call of the function from a site, which takes `ticks`; real() is what MPI does. Does the same as measure(),
  // but with times and sites that the test knows. Returns the row.
  template <class Real, class... Roles>
  format::ProfileRow& call(Function function, std::uint32_t site, std::uint64_t ticks, Real real, Roles&&... roles) {
    recorder::Call call;
    call.function = static_cast<std::uint16_t>(function);
    call.site = site;
    begin_call(*thread_, call, roles...);
    call.enter = shared_->current.enter = time_ += 10;
    const int result = real();
    call.leave = shared_->current.leave = time_ += ticks;
    return end_call(*thread_, call, thread_->any_rows, result, roles...);
  }

  // The row of a site; the test ends if there is none.
  const format::ProfileRow& row(std::uint32_t site) const {
    for (std::uint32_t number = 1; number < shared_->summary.rows; ++number)
      if (rows_[number].site == site) return rows_[number];
    std::abort();
  }
  // The sum of the time that is credited to requests, over all rows of calls. It must be 0 in the other rows.
  std::uint64_t waited() const {
    std::uint64_t sum = 0;
    for (std::uint32_t number = 0; number < all_rows; ++number) sum += rows_[number].waited_ticks;
    return sum;
  }
  // Whether row 0, which has no calls, and the rows after the end are unchanged.
  bool is_clean_behind() const {
    static const format::ProfileRow untouched = [] {
      format::ProfileRow row{};
      row.ticks_min = UINT64_MAX;
      return row;
    }();
    if (std::memcmp(&rows_[0], &untouched, sizeof untouched) != 0) return false;
    for (std::uint32_t number = shared_->summary.rows; number < all_rows; ++number)
      if (std::memcmp(&rows_[number], &untouched, sizeof untouched) != 0) return false;
    return true;
  }
  // The completions in the trace, in order.
  std::vector<format::CompletionRecord> completions() const {
    std::vector<format::CompletionRecord> found;
    for (std::uint64_t at = 0; at < thread_->events.head;) {
      format::RecordHead head;
      std::memcpy(&head, buffer_.data() + at, sizeof head);
      if (head.kind == format::completion || head.kind == format::foreign_completion)
        std::memcpy(&found.emplace_back(), buffer_.data() + at, sizeof(format::CompletionRecord));
      at += head.words * 8U;
    }
    return found;
  }

 private:
  static constexpr std::uint32_t max_threads = 4;
  static inline const RecordingThread* threads[max_threads] = {};  // by block

  struct Block {
    format::LocationHeader header;
    format::ProfileRow rows[all_rows];
  };
  static_assert(offsetof(Block, rows) == format::rows_at);

  std::unique_ptr<Block> block_ = std::make_unique<Block>();
  format::LocationHeader* const shared_ = &block_->header;
  format::ProfileRow* const rows_ = block_->rows;
  std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
  std::vector<char> buffer_;
  std::uint64_t time_ = 1000;
};

}  // namespace tare::mpi::testing
