// The user's code that samples: a chooser and an analysis in shared objects (include/tare/sampling.h).
//
// It may take long, and may wait. So it is called while the sampler is not locked, and the sampled messages wait for it
// in a queue. Its time is measured, and is no time of the wrapper that calls it (ProcessRecord::chooser_ticks).
//
// errno stays as it is, and the thread cannot be cancelled meanwhile. An exception that leaves the user's code ends the
// process, as one that leaves a function that is noexcept. If it is left by a jump, no lock is held.
#pragma once

#include <atomic>

#include "format/sample_spec.h"
#include "recorder/system.h"
#include "tare/sampling.h"

namespace tare::mpi::sampling {

class UserCode {
 public:
  // A hash of the call path of a call site, by its number (tare_message::site_key).
  using KeyOfSite = std::uint64_t(std::uint64_t site) noexcept;
  void set_keys(KeyOfSite* key_of_site) noexcept { key_of_site_ = key_of_site; }

  // Loads the objects that a spec names. nullptr, or an error message; then none of them is used. To be called once,
  // by a thread whose calls of MPI are not the program's.
  const char* load(const format::SampleSpec& spec) noexcept;
  // Whether a spec names no other objects than those that were loaded.
  bool has(const format::SampleSpec& spec) const noexcept;

  // Whether the chooser chooses the message. If so, `weight` is 1 / the probability of that, or 0 if it is not known.
  bool choose(const tare_message& message, float& weight) noexcept;

  bool analyses() const noexcept { return analysis_.functions != nullptr; }
  // Adds a message to those that wait for the analysis.
  void keep(const tare_sampled_message& message) noexcept;
  // Passes the messages that wait to the analysis, unless another thread is doing that.
  void analyse() noexcept;

  // Stores the result of the analysis, and ends both.
  void finish() noexcept;

  std::uint64_t key_of(std::uint32_t site) noexcept;

 private:
  template <class Functions>
  struct Loaded {
    const Functions* functions = nullptr;  // of an object that stays loaded
    void* state = nullptr;
    char text[format::SampleSpec::object_bytes] = "";  // FILE.so[:ARGUMENTS]
  };
  template <class Functions>
  const char* load(const char* text, const char* kind, Loaded<Functions>& loaded) noexcept;
  bool waits() noexcept;
  bool take(tare_sampled_message& message) noexcept;
  bool grow() noexcept;
  void write_result() noexcept;

  Loaded<tare_message_chooser> chooser_;
  Loaded<tare_message_analysis> analysis_;
  char reason_[512] = "";
  KeyOfSite* key_of_site_ = nullptr;
  struct SiteKey {
    std::atomic<std::uint32_t> site;
    std::atomic<std::uint64_t> key;
  };
  static constexpr unsigned keys = 1024;
  SiteKey keys_[keys] = {};

  recorder::SpinLock lock_;  // of the queue
  tare_sampled_message* queue_ = nullptr;
  std::uint32_t capacity_ = 0;  // a power of two
  std::uint32_t first_ = 0;     // number of the message that waits longest
  std::uint32_t count_ = 0;
  std::atomic<bool> analysing_{false};
};

}  // namespace tare::mpi::sampling
