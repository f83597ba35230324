// Whatever an OTF2 archive holds, importing it neither crashes nor reads outside its memory, and what it makes is read.
// Inputs are the files of an archive in a row (archive_files.h). libotf2 itself ends the process on some damage, or
// reads outside its own memory; that is its users' fate, and `tare import` reads in a child. So does this: an end
// inside libotf2 is no finding, one inside tare is.
#include <otf2/otf2.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "archive_files.h"
#include "directory.h"
#include "importers/otf2/import_otf2.h"
#include "read_all.h"
#include "shared_counters.h"

using namespace tare;

extern "C" void __asan_set_error_report_callback(void (*)(const char*));

// libotf2 takes as much memory as a damaged archive says.
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=2048"; }

namespace {

constexpr int found = 99, its_own = 98;  // exit codes of a child

// Of a report by ASan: whether the innermost frame that is no part of the sanitizer lies in libotf2.
bool is_of_libotf2(std::string_view report) {
  for (std::size_t at = report.find("    #"); at != std::string_view::npos; at = report.find("    #", at + 1)) {
    const std::string_view line = report.substr(at, report.find('\n', at) - at);
    for (const char* name : {"libotf2", "libopen-trace-format2"})  // Debian's name of it
      if (line.find(name) != std::string_view::npos) return true;
    if (line.find("compiler-rt") != std::string_view::npos || line.find("__interceptor_") != std::string_view::npos ||
        line.find("__asan") != std::string_view::npos || line.find("libc.so") != std::string_view::npos ||
        line.find("in operator new") != std::string_view::npos || line.find("in malloc") != std::string_view::npos ||
        line.find("in calloc") != std::string_view::npos || line.find("in mem") != std::string_view::npos ||
        line.find("in str") != std::string_view::npos)
      continue;
    return false;
  }
  return false;
}

void on_report(const char* report) {
  if (is_of_libotf2(report)) ::_exit(its_own);
  std::fputs(report, stderr);
  ::_exit(found);
}

[[noreturn]] void import_in_child(const std::string& anchor, const std::string& file,
                                  const fuzz::SharedCounters& counters) {
  std::freopen("/dev/null", "w", stdout);
  std::set_terminate([] { ::_exit(found); });
  __asan_set_error_report_callback(on_report);
  const auto done = importers::otf2::import_otf2(anchor, file, 1'700'000'000'000'000'000);
  counters.publish();
  ::_exit(done ? 0 : 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const fuzz::Directory directory;
  static const fuzz::SharedCounters counters;
  const std::string trace = directory.root + "/trace", file = directory.root + "/imported.tare";
  std::filesystem::remove_all(trace);
  std::filesystem::remove(file);
  if (!fuzz::unpack({reinterpret_cast<const char*>(data), bytes}, trace)) return 0;
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) import_in_child(trace + "/traces.otf2", file, counters);
  int status = 0;
  while (::waitpid(child, &status, 0) != child)
    if (errno != EINTR) std::abort();  // libFuzzer's timer interrupts it
  counters.take();
  if (WIFEXITED(status) && WEXITSTATUS(status) == found) std::abort();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 0;
  std::ifstream made(file, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(made), {}};
  auto run = reader::Run::of_memory(contents);
  if (!run) std::abort();
  fuzz::read_all(*run);
  return 0;
}
