#include "mpi/sampling/user_code.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>

#include "recorder/clock.h"
#include "recorder/locations.h"
#include "recorder/node_file.h"
#include "recorder/segment.h"
#include "recorder/warning.h"

extern "C" {
// The personality routine of frames that call the user's code. An exception finds no handler beyond them, so the
// runtime of the language that has thrown it ends the process.
[[gnu::visibility("hidden")]] _Unwind_Reason_Code tare_stops_exceptions(int, _Unwind_Action actions,
                                                                        _Unwind_Exception_Class, _Unwind_Exception*,
                                                                        _Unwind_Context*) noexcept {
  return (actions & _UA_SEARCH_PHASE) != 0 ? _URC_FATAL_PHASE1_ERROR : _URC_CONTINUE_UNWIND;
}
}

namespace tare::mpi::sampling {
namespace {

// Lives while a function calls the user's code. That function must not be inlined.
class InUserCode {
 public:
  [[gnu::always_inline]] explicit InUserCode(std::uint64_t format::ProcessRecord::*account) noexcept
      : account_(account), start_(recorder::now()) {
    // Of the function into which this is inlined, as in mpi/interposition/inside.h.
    __asm__ volatile(".cfi_personality 0x1b, tare_stops_exceptions");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
  }
  [[gnu::always_inline]] ~InUserCode() {
    pthread_setcancelstate(cancelling_, nullptr);
    note(account_, recorder::now() - start_);
  }
  InUserCode(const InUserCode&) = delete;
  InUserCode& operator=(const InUserCode&) = delete;

 private:
  static void note(std::uint64_t format::ProcessRecord::*account, std::uint64_t ticks) noexcept {
    if (recorder::Location* location = recorder::this_location) location->weighing.leave_out(ticks);
    if (auto* segment = recorder::segment())
      std::atomic_ref(segment->process.*account).fetch_add(ticks, std::memory_order_relaxed);
  }

  const recorder::ErrnoGuard guard_;
  std::uint64_t format::ProcessRecord::*account_;
  std::uint64_t start_;
  int cancelling_ = 0;
};

constexpr std::size_t max_result_bytes = 65536;  // include/tare/sampling.h

struct Result {
  char* bytes;
  std::size_t size;
};

void append(void* to, const void* bytes, std::size_t size) {
  auto& result = *static_cast<Result*>(to);
  const std::size_t room = max_result_bytes - result.size;
  if (size > room) size = room;
  std::memcpy(result.bytes + result.size, bytes, size);
  result.size += size;
}

bool is_complete(const tare_message_chooser& chooser) noexcept {
  return chooser.begin != nullptr && chooser.choose != nullptr && chooser.end != nullptr;
}
bool is_complete(const tare_message_analysis& analysis) noexcept {
  return analysis.begin != nullptr && analysis.add != nullptr && analysis.write != nullptr && analysis.end != nullptr;
}

}  // namespace

template <class Functions>
const char* UserCode::load(const char* text, const char* kind, Loaded<Functions>& loaded) noexcept {
  char file[format::SampleSpec::object_bytes];
  std::snprintf(file, sizeof file, "%s", text);
  char* arguments = std::strstr(file, ".so:");
  if (arguments != nullptr) {
    arguments += std::strlen(".so");
    *arguments++ = '\0';
  }
  void* object = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  char name[64];
  std::snprintf(name, sizeof name, "tare_message_%s_1", kind);
  const auto entry = object == nullptr ? nullptr : reinterpret_cast<const Functions* (*)()>(dlsym(object, name));
  const Functions* functions = entry == nullptr ? nullptr : entry();
  if (arguments == nullptr) arguments = file + std::strlen(file);
  if (object == nullptr)
    std::snprintf(reason_, sizeof reason_, "%s", dlerror());
  else if (functions == nullptr)
    std::snprintf(reason_, sizeof reason_, "%s does not export %s()", file, name);
  else if (functions->version == 0 || functions->version > TARE_SAMPLING_VERSION)
    std::snprintf(reason_, sizeof reason_, "%s has a %s of version %u; this tare knows versions up to %u", file, kind,
                  functions->version, TARE_SAMPLING_VERSION);
  else if (!is_complete(*functions))
    std::snprintf(reason_, sizeof reason_, "%s leaves out a function of its %s", file, kind);
  else if (void* state = functions->begin(arguments); state == nullptr)
    std::snprintf(reason_, sizeof reason_, "%s refuses its arguments '%s'", file, arguments);
  else
    loaded = {functions, state, {}};
  if (loaded.functions == nullptr) return reason_;
  std::memcpy(loaded.text, text, std::strlen(text) + 1);
  return nullptr;
}

const char* UserCode::load(const format::SampleSpec& spec) noexcept {
  const char* wrong = nullptr;
  if (spec.strategy == format::SampleStrategy::user) wrong = load(spec.chooser, "chooser", chooser_);
  if (wrong == nullptr && spec.analysis[0] != '\0') wrong = load(spec.analysis, "analysis", analysis_);
  return wrong;
}

bool UserCode::has(const format::SampleSpec& spec) const noexcept {
  return (spec.strategy != format::SampleStrategy::user || std::strcmp(spec.chooser, chooser_.text) == 0) &&
         (spec.analysis[0] == '\0' || std::strcmp(spec.analysis, analysis_.text) == 0);
}

[[gnu::noinline]] bool UserCode::choose(const tare_message& message, float& weight) noexcept {
  double probability = 0;
  {
    const InUserCode inside(&format::ProcessRecord::chooser_ticks);
    if (chooser_.functions->choose(chooser_.state, &message, &probability) == 0) return false;
  }
  weight = probability > 0 && probability <= 1 ? static_cast<float>(1 / probability) : 0;
  return true;
}

std::uint64_t UserCode::key_of(std::uint32_t site) noexcept {
  if (site == 0 || key_of_site_ == nullptr) return 0;
  SiteKey& known = keys_[site % keys];
  // Another thread may write the same entry: it writes the site last.
  const std::uint32_t before = known.site.load(std::memory_order_acquire);
  std::uint64_t key = known.key.load(std::memory_order_acquire);
  if (before == site && known.site.load(std::memory_order_relaxed) == site) return key;
  const recorder::ErrnoGuard guard;
  key = key_of_site_(site);
  known.site.store(0, std::memory_order_release);
  known.key.store(key, std::memory_order_release);
  known.site.store(site, std::memory_order_release);
  return key;
}

void UserCode::keep(const tare_sampled_message& message) noexcept {
  const recorder::Locked locked(lock_);
  if (count_ == capacity_ && !grow()) return;
  queue_[(first_ + count_++) & (capacity_ - 1)] = message;
}

bool UserCode::grow() noexcept {
  const recorder::ErrnoGuard guard;
  const std::uint32_t larger = capacity_ == 0 ? 64 : 2 * capacity_;
  auto* queue = static_cast<tare_sampled_message*>(recorder::map_memory(larger * sizeof *queue_));
  if (queue == nullptr) return false;
  for (std::uint32_t i = 0; i < count_; ++i) queue[i] = queue_[(first_ + i) & (capacity_ - 1)];
  if (queue_ != nullptr) recorder::unmap_memory(queue_, capacity_ * sizeof *queue_);
  queue_ = queue;
  capacity_ = larger;
  first_ = 0;
  return true;
}

bool UserCode::waits() noexcept {
  const recorder::Locked locked(lock_);
  return count_ != 0;
}

bool UserCode::take(tare_sampled_message& message) noexcept {
  const recorder::Locked locked(lock_);
  if (count_ == 0) return false;
  message = queue_[first_++ & (capacity_ - 1)];
  --count_;
  return true;
}

[[gnu::noinline]] void UserCode::analyse() noexcept {
  tare_sampled_message message;
  // Another thread leaves its messages to the one that is analysing, which therefore looks once more when it is not.
  while (waits() && !analysing_.exchange(true)) {
    while (take(message)) {
      const InUserCode inside(&format::ProcessRecord::analysis_ticks);
      analysis_.functions->add(analysis_.state, &message);
    }
    analysing_.store(false);
  }
}

[[gnu::noinline]] void UserCode::write_result() noexcept {
  auto* segment = recorder::segment();
  Result result{static_cast<char*>(recorder::map_memory(max_result_bytes)), 0};
  if (result.bytes == nullptr) return;
  {
    const InUserCode inside(&format::ProcessRecord::analysis_ticks);
    analysis_.functions->write(analysis_.state, append, &result);
    analysis_.functions->end(analysis_.state);
  }
  recorder::ChunkMemory memory(max_result_bytes);
  if (segment != nullptr && result.size != 0 &&
      (!memory || !memory.append(recorder::identity(*segment, format::ChunkType::analysis), result.bytes, result.size)))
    recorder::warn("the result of the analysis of --sample could not be written");
  recorder::unmap_memory(result.bytes, max_result_bytes);
}

void UserCode::finish() noexcept {
  analyse();
  // If it is left by a jump, it stays marked: its state is not known.
  if (analyses() && !analysing_.exchange(true)) write_result();
  analysis_.functions = nullptr;
  if (chooser_.functions != nullptr) chooser_.functions->end(chooser_.state);
  chooser_.functions = nullptr;
}

}  // namespace tare::mpi::sampling
