// Texts of exported traces: names of the objects of a run, parameters of events, and what is safe in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/timeline.h"
#include "reader/events/program_event.h"
#include "reader/run/run.h"

namespace tare::exporters {

// Names of the objects of a run in exported traces.
// A place in the program.
struct CodePlace {
  std::string caller, file;  // plain text; empty if not known
  std::uint32_t line = 0;
};

// All names are plain text. They are computed once for each call site, communicator, window and file.
class Names {
 public:
  // Finds the source lines of call sites. The run must outlive it.
  explicit Names(reader::Run& run);

  // "rank 3"; "world 1 rank 3" if there are several worlds; "process 4711" for a process without a rank.
  std::string process(std::uint32_t number) const;
  // The name that the program gave it, else "thread 2"; "tared" for the drains of tared.
  std::string thread(const Track& track) const;
  // "MPI_Send", "tare:flush", or the name of the program's event.
  std::string event(const reader::EventRow& row) const;

  // By index in the run; empty for -1.
  const CodePlace& site(std::int32_t number) const { return of(sites_, number); }
  const std::string& communicator(std::int32_t number) const { return of(communicators_, number); }
  // For a window or file.
  const std::string& scope(std::int32_t number) const { return of(scopes_, number); }

 private:
  template <typename T>
  static const T& of(const std::vector<T>& all, std::int32_t number) {
    static const T nothing{};
    return number < 0 || static_cast<std::size_t>(number) >= all.size() ? nothing
                                                                        : all[static_cast<std::size_t>(number)];
  }

  const reader::Run& run_;
  bool has_worlds_ = false;
  std::vector<CodePlace> sites_;
  std::vector<std::string> communicators_, scopes_;
};

// "solver.c:17", "solve" or "".
std::string place_text(const CodePlace& place);

// All parameters of an event: "-1, 4294967295, 3.25".
std::string parameters_text(const reader::Run& run, const reader::EventRow& row);

// Text that is safe in every format, from names of programs, files and events.
// Valid UTF-8 without control characters. Other bytes are written as \xNN.
std::string plain_text(std::string_view bytes);

}  // namespace tare::exporters
