// What messages are to be sampled and how, as the user writes it (docs/samples.md):
//
//   STRATEGY[,METHOD][,KEY=VALUE]...
//
//   random:THRESHOLD         0 < THRESHOLD <= 1
//   counter:PERIOD,VARIANCE  every PERIOD +- VARIANCE messages that a process sends
//   timer:PERIOD,VARIANCE    the first message after PERIOD +- VARIANCE (like 1ms,0.2ms)
//   FILE.so[:ARGUMENTS]      what the user's chooser chooses (include/tare/sampling.h)
//   none                     no message
//   stat | freq | write | off
//   seed=N  size=FROM-TO  communicator=NAME  function=MPI_X  phase=NAME
//   analysis=FILE.so[:ARGUMENTS]
//   site=OBJECT+OFFSET  site=OBJECT+LOW-HIGH  site=FILE.py:LINE
//
// `tare run` writes lines of compiled code as ranges of addresses, so that no measured process reads debug information.
#pragma once

#include <cstdint>

namespace tare::format {

enum class SampleStrategy : std::uint8_t { none, random, counter, timer, user };
enum class SampleMethod : std::uint8_t { stat, freq, write, off };

struct SampleSpec {
  static constexpr unsigned name_bytes = 96;
  static constexpr unsigned object_bytes = 512;
  static constexpr unsigned max_sites = 64;
  static constexpr unsigned max_site_files = 8;
  // Calls whose last byte lies in [low, high) of an object; in Python, the line `low`.
  struct Site {
    std::uint64_t low;
    std::uint64_t high;
    std::uint32_t file;  // of site_files
    bool python;
  };

  SampleStrategy strategy = SampleStrategy::none;
  SampleMethod method = SampleMethod::freq;
  double threshold = 0;        // random
  std::uint64_t period = 0;    // messages, or nanoseconds
  std::uint64_t variance = 0;  // the same
  std::uint64_t seed = 0;
  std::uint64_t size_from = 0;
  std::uint64_t size_to = UINT64_MAX;
  std::uint16_t function = 0;  // number; 0: any
  char communicator[name_bytes] = "";
  char phase[name_bytes] = "";
  char site_files[max_site_files][name_bytes] = {};  // names of objects and Python files, without folders
  unsigned site_file_count = 0;
  Site sites[max_sites] = {};
  unsigned site_count = 0;
  // FILE.so[:ARGUMENTS]; empty: none.
  char chooser[object_bytes] = "";
  char analysis[object_bytes] = "";

  // Whether only some of the messages that the strategy chooses are wanted.
  bool narrowed() const noexcept {
    return size_from != 0 || size_to != UINT64_MAX || function != 0 || communicator[0] != '\0' || phase[0] != '\0' ||
           site_count != 0;
  }
};

// nullptr if the text is a spec, else what it ought to be, and `spec` is as it was. A text without a seed or an
// analysis keeps that of `spec`. Allocates nothing.
const char* parse_sample_spec(const char* text, SampleSpec& spec) noexcept;

}  // namespace tare::format
