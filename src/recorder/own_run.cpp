#include "recorder/own_run.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "format/chunk.h"
#include "format/machine.h"
#include "recorder/clock.h"
#include "recorder/identity.h"
#include "recorder/maker.h"
#include "recorder/room.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

// The file name of the program.
void program_name(char* out, std::size_t bytes) noexcept {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n < 0 ? 0 : n] = '\0';
  const char* slash = std::strrchr(path, '/');
  std::snprintf(out, bytes, "%s", slash == nullptr ? "program" : slash + 1);
}

// Writes JSON text, as far as there is room.
class Json {
 public:
  Json& raw(const char* text) noexcept {
    for (; *text != '\0'; ++text) put(*text);
    return *this;
  }
  Json& string(const char* text) noexcept {
    put('"');
    while (*text != '\0') text += escaped(text);
    put('"');
    return *this;
  }
  const char* data() const noexcept { return text_; }
  std::size_t size() const noexcept { return size_; }
  bool is_whole() const noexcept { return size_ < sizeof text_; }

 private:
  void put(char c) noexcept {
    if (size_ < sizeof text_) text_[size_++] = c;
  }
  // Puts the character that begins here. Returns its length in bytes.
  int escaped(const char* text) noexcept {
    const auto c = static_cast<unsigned char>(*text);
    const int bytes = character_bytes(text);
    if (bytes == 0) {
      put('?');  // JSON must be valid UTF-8
      return 1;
    }
    if (c < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned{c});
      raw(code);
      return 1;
    }
    if (c == '"' || c == '\\') put('\\');
    for (int i = 0; i < bytes; ++i) put(text[i]);
    return bytes;
  }
  // The length of a UTF-8 character, or 0 if the bytes are not one.
  static int character_bytes(const char* text) noexcept {
    const auto c = static_cast<unsigned char>(*text);
    const int bytes = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    for (int i = 1; i < bytes; ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;  // also true at the end of the text
    const auto next = static_cast<unsigned char>(bytes > 1 ? text[1] : 0);
    // Rejects overlong forms, surrogates, and what lies beyond Unicode.
    if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next > 0x9f) || (c == 0xf0 && next < 0x90) ||
        (c == 0xf4 && next > 0x8f))
      return 0;
    return bytes;
  }

  char text_[4 * PATH_MAX];
  std::size_t size_ = 0;
};

bool write_meta(const OwnRun& run, const char* name, std::uint64_t start_ns) noexcept {
  char host[64] = "";
  char cwd[PATH_MAX] = "";
  char number[24];
  gethostname(host, sizeof host - 1);
  if (getcwd(cwd, sizeof cwd) == nullptr) cwd[0] = '\0';
  Json json;
  std::snprintf(number, sizeof number, "%d", int{format::format_version});
  json.raw(R"({"schema": "tare.meta/1", "format": )").raw(number).raw(R"(, "run_id": )").string(run.id);
  json.raw(R"(, "run_key": )").string(run.key);
  json.raw(R"(, "name": )").string(name).raw(R"(, "command": [)").string(name).raw("]");
  json.raw(R"(, "cwd": )").string(cwd).raw(R"(, "host": )").string(host);
  std::snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(start_ns));
  json.raw(R"(, "start_ns": )").raw(number).raw(R"(, "options": {"trace": true}, "segment_dir": )");
  char runner[160];
  std::snprintf(runner, sizeof runner,
                R"(, "runner": {"pid": %d, "start_ticks": %llu, "machine": "%016llx", "pid_namespace": %llu})",
                static_cast<int>(getpid()), static_cast<unsigned long long>(start_ticks()),
                static_cast<unsigned long long>(format::machine_name()),
                static_cast<unsigned long long>(format::pid_namespace_name()));
  json.string(shared_memory).raw(runner).raw(R"(, "state": "running", "environment": {}})").raw("\n");
  char path[PATH_MAX + 16];
  std::snprintf(path, sizeof path, "%s/meta.json", run.directory);
  return json.is_whole() && create_file(path) && append_file(path, json.data(), json.size());
}

void make_key(char (&key)[format::run_key_digits + 1]) noexcept {
  std::uint64_t words[2] = {};
  // Before the kernel has enough randomness: what the kernel gave this program, and the time.
  if (syscall(SYS_getrandom, words, sizeof words, GRND_NONBLOCK) != sizeof words)
    for (std::uint64_t& word : words) word = new_process_name();
  std::snprintf(key, sizeof key, "%016llx%016llx", static_cast<unsigned long long>(words[0]),
                static_cast<unsigned long long>(words[1]));
}

// In UTC, by the calendar alone: the C library's functions would obey the program's TZ, read files and allocate memory.
void write_time(std::uint64_t seconds, char* out, std::size_t bytes) noexcept {
  constexpr std::uint64_t day = 86400;
  const std::chrono::year_month_day date(std::chrono::sys_days(std::chrono::days(seconds / day)));
  const auto of_day = static_cast<unsigned>(seconds % day);
  std::snprintf(out, bytes, "%04d%02u%02u-%02u%02u%02uZ", int{date.year()}, unsigned{date.month()},
                unsigned{date.day()}, of_day / 3600, of_day / 60 % 60, of_day % 60);
}

}  // namespace

bool make_run(const char* wanted, OwnRun& run) noexcept {
  char name[256];
  char path[PATH_MAX];
  program_name(name, sizeof name);
  const std::uint64_t start_ns = read_ns(CLOCK_REALTIME);
  if (wanted != nullptr) {
    std::snprintf(path, sizeof path, "%s", wanted);
  } else {
    char stamp[32];
    write_time(start_ns / 1'000'000'000U, stamp, sizeof stamp);
    std::snprintf(path, sizeof path, "%s-%s", name, stamp);
  }
  if (mkdir(path, 0700) != 0 && !(errno == EEXIST && wanted != nullptr)) return false;
  if (realpath(path, run.directory) == nullptr) return false;
  std::snprintf(run.id, sizeof run.id, "%016llx",
                static_cast<unsigned long long>((start_ns << 16) ^ static_cast<std::uint64_t>(getpid())));
  make_key(run.key);
  return write_meta(run, name, start_ns);
}

}  // namespace tare::recorder
