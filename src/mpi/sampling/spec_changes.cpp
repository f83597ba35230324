// Changes of the spec while the program runs, by the program or by the control file; and other work that is done now
// and then.
#include <cstdio>

#include "mpi/sampling/sampler.h"
#include "recorder/clock.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {

namespace {

constexpr std::uint64_t join_interval_ns = 1'000'000;

}  // namespace

const char* Sampler::change(const char* text) noexcept {
  if (!active()) return "this process does not sample: start it with tare run --sample none, or with what you want";
  asked_lock_.lock();
  Spec spec = asked_;
  const char* wrong = format::parse_sample_spec(text, spec);
  if (wrong == nullptr && spec.method == Method::write && !recorder::traced()) wrong = "write needs a trace (--trace)";
  if (wrong == nullptr && !user_.has(spec))
    wrong = "a chooser or an analysis is loaded at the start: name it there, and here as `tare samples` shows it";
  if (wrong == nullptr) {
    asked_ = spec;
    asks_.store(true, std::memory_order_release);
    quick_sends_.store(false, std::memory_order_relaxed);
    look_at_.store(0, std::memory_order_relaxed);
    note_spec(text);
  }
  asked_lock_.unlock();
  return wrong;
}

// Puts the spec that was asked for last into force. The caller holds the lock if threads share MPI, else is the one
// thread in MPI.
void Sampler::use_asked() noexcept {
  asked_lock_.lock();
  asks_.store(false, std::memory_order_relaxed);
  spec_ = asked_;
  asked_lock_.unlock();
  changed_ = true;
  use_spec();
  filter_.reset();
}

void Sampler::note_spec(const char* text) noexcept { std::snprintf(summary_->spec, sizeof summary_->spec, "%s", text); }

void Sampler::look_for_changes(std::uint64_t ticks) noexcept {
  std::uint64_t due = look_at_.load(std::memory_order_relaxed);
  if (!active() || ticks < due) return;
  const auto join = join_.load(std::memory_order_acquire);
  const std::uint64_t interval_ns = join == nullptr ? look_interval_ns : join_interval_ns;
  if (!look_at_.compare_exchange_strong(due, ticks + clock_.ticks_of(interval_ns))) return;
  const recorder::ErrnoGuard guard;
  if (join != nullptr && join()) join_.store(nullptr, std::memory_order_relaxed);
  if (control_file_.is_due(node_)) control_file_.look(node_, [this](const char* text) { return change(text); });
  if (!asks_.load(std::memory_order_acquire)) return;
  const Locked locked(*this);
  use_asked();
}

}  // namespace tare::mpi::sampling
