#include "mpi/sampling/sampler.h"

#include <cstdio>

#include "format/time_arithmetic.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

constinit Sampler sampler;

void Sampler::begin(const Spec& spec, const char* text, format::SampleSummary* summary,
                    format::SampleClass* classes) noexcept {
  summary_ = summary;
  summary_->seed = spec.seed;
  note_spec(text);
  classes_.use(summary, classes);
  spec_ = asked_ = spec;
  active_.store(true, std::memory_order_relaxed);
  use_spec();
}

// Puts spec_ into force.
void Sampler::use_spec() noexcept {
  narrowed_ = spec_.narrowed();
  asks_for_names_.store(spec_.communicator[0] != '\0', std::memory_order_relaxed);
  becomes_ = spec_.method == Method::off ? 0U
                                         : in_class | (spec_.method == Method::freq ? in_histogram : 0U) |
                                               (spec_.method == Method::write || user_.analyses() ? passed_on : 0U);
  chooser_.use(spec_, rank_, clock_.ticks_per_ns());
  settle();
}

// The quick paths are closed from a request for another spec until that is in force.
void Sampler::settle() noexcept {
  if (!active()) {  // without the lock, which nobody may be left to open in a forked child
    quick_ = false;
    quick_sends_.store(false, std::memory_order_relaxed);
    return;
  }
  asked_lock_.lock();
  quick_ = !shared_;
  const bool quick_sends = quick_ && (!narrowed_ || chooser_.is_coordinated()) && !chooser_.is_user() &&
                           !asks_.load(std::memory_order_relaxed);
  quick_sends_.store(quick_sends, std::memory_order_relaxed);
  asked_lock_.unlock();
}

void Sampler::set_rank(std::int32_t rank,
                       std::int32_t (*world_rank)(const void* peers, std::int32_t peer) noexcept) noexcept {
  rank_ = rank;
  world_rank_ = world_rank;
  chooser_.use(spec_, rank_, clock_.ticks_per_ns());
}

void Sampler::set_clock_rate(double ticks_per_ns) noexcept {
  clock_.set_rate(ticks_per_ns);
  chooser_.use(spec_, rank_, clock_.ticks_per_ns());
  look_at_.store(recorder::now() + clock_.ticks_of(look_interval_ns), std::memory_order_relaxed);
}

void Sampler::set_node(Node* node) noexcept {
  const Locked locked(*this);
  node_ = node;
  mask_ = node->mask();
  change_word_ = node->change_word();
  sends_.for_each([this](SendChannel& channel) {
    if (channel.destination >= 0) channel.place = place_of(channel.destination);
  });
  receives_.for_each_channel([this](ReceiveChannel& channel) {
    if (channel.origin >= 0) channel.place = place_of(channel.origin);
  });
  // Ranks that joined earlier may have sent records of messages that were received meanwhile.
  for (std::uint32_t place = 0; place < node_->size(); ++place) {
    Mailbox* mailbox = node_->from(place);
    if (mailbox == nullptr) continue;
    mailbox->take_all(mask_, [this](const MessageRecord& record) {
      if (is_past(record))
        ++summary_->unpaired;
      else
        apply(record);
    });
  }
  read_changes();
  settle_quiet();
}

void Sampler::set_joining(bool (*join)() noexcept) noexcept {
  join_.store(join, std::memory_order_release);
  look_at_.store(0, std::memory_order_relaxed);
}

void Sampler::set_clock_offset(std::int64_t ahead_ns, std::uint64_t uncertainty_ns, std::int32_t rank) noexcept {
  clock_.set_offset(ahead_ns, uncertainty_ns);
  summary_->clock_uncertainty_ns = uncertainty_ns;
  summary_->clock_rank = rank;
}

void Sampler::set_clock_at_end(std::int64_t ahead_ns, std::uint64_t uncertainty_ns) noexcept {
  summary_->clock_end_uncertainty_ns = uncertainty_ns;
  summary_->clock_drift_ns = format::difference(ahead_ns, clock_.ahead_ns());
  summary_->clock_span_ns = clock_.span_ns();
}

void Sampler::lose_numbers() noexcept {
  cancelling_send();
  const Locked locked(*this);
  receives_.lose_numbers();
}

void Sampler::remove_communicator(std::uint32_t communicator) noexcept {
  if (!active()) return;
  const Locked locked(*this);
  sends_.remove(communicator);
  receives_.remove(communicator, ring_);
}

void Sampler::finish() noexcept {
  if (!active()) return;
  listen();
  join_.store(nullptr, std::memory_order_relaxed);
  {
    const Locked locked(*this);
    for (std::uint32_t place = 0; node_ != nullptr && place < node_->size(); ++place)
      if (Mailbox* mailbox = node_->from(place)) drain(*mailbox);
    if (node_ != nullptr) remove_retracted();
    summary_->unpaired += records_.remove_all();
    summary_->recordless += ring_.expecting();
    stop();
  }
  user_.finish();
}

}  // namespace tare::mpi::sampling
