// Parallel regions and tasks of GNU's runtime: the functions that the compiler has made of them, each of which the
// runtime calls in its threads, are replaced by functions of this library that call them.
#pragma once

#include <cstddef>
#include <utility>

#include "openmp/constructs.h"

namespace tare::openmp {

using Outlined = void(void* data);
using CopyData = void(void* to, void* from);

// A region that is under way; on the stack of the thread that has encountered it. The runtime ends the region when all
// threads have come out of their functions.
struct Team {
  void* first_word;  // of `data`, if the runtime reads it
  Outlined* function;
  void* data;
  int (*thread_number)();
  int (*threads)();
  Region region;

  // In the thread that encounters the region, which is known afterwards if it is recorded.
  void begin(const stack::Frame& caller) noexcept;
  static void end(const stack::Frame& caller) noexcept;
  // What each thread runs. `data`: the Team.
  static void run_part(void* data);
};

// An explicit task as it is made: the runtime copies its data, and behind them what this library has to know.
class MadeTask {
 public:
  // `copy`: nullptr if memcpy does it. Not is_recorded() if the data are more than 1 GiB, or in a thread that does not
  // record.
  MadeTask(const stack::Frame& caller, Outlined* function, CopyData* copy, long bytes, long alignment) noexcept;
  ~MadeTask();
  MadeTask(const MadeTask&) = delete;
  MadeTask& operator=(const MadeTask&) = delete;

  bool is_recorded() const noexcept { return run_ != nullptr; }
  // What the runtime is given instead.
  Outlined* function() const noexcept { return run_; }
  CopyData* copy() const noexcept { return &copy_with_tail; }
  long bytes() const noexcept;
  long alignment() const noexcept;

 private:
  static void copy_with_tail(void* to, void* from);

  Outlined* const function_;
  CopyData* const copy_;
  const long bytes_;
  const long alignment_;
  Outlined* run_ = nullptr;
  std::size_t place_ = 0;  // of what lies behind the data, in bytes
  Region task_;
  const MadeTask* const outer_;
};

}  // namespace tare::openmp
