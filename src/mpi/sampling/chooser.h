// Chooses the messages that are sampled. The random choice is a function of seed, channel and number. So sender and
// receiver make the same choice without communication, and a run can be repeated. Only the sender knows the choice by
// counter or timer.
#pragma once

#include <cmath>

#include "format/sample_spec.h"
#include "mpi/sampling/message.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

using Spec = format::SampleSpec;
using Strategy = format::SampleStrategy;
using Method = format::SampleMethod;

class Chooser {
 public:
  // `rank` makes processes choose differently. `ticks_per_ns` is the rate of recorder::now().
  void use(const Spec& spec, std::int32_t rank, double ticks_per_ns) noexcept {
    strategy_ = spec.strategy;
    salt_ = mix(spec.seed + 0x9e3779b97f4a7c15U);
    // The largest threshold must accept every hash.
    below_ = strategy_ != Strategy::random ? 0
             : spec.threshold >= 1         ? UINT64_MAX
                                           : static_cast<std::uint64_t>(std::ldexp(spec.threshold, 64));
    const bool all = strategy_ == Strategy::counter && spec.period == 1 && spec.variance == 0;
    weight_ = strategy_ == Strategy::random ? static_cast<float>(1 / spec.threshold) : all ? 1.0F : 0.0F;
    const double unit = strategy_ == Strategy::timer ? ticks_per_ns : 1;
    period_ = static_cast<std::uint64_t>(static_cast<double>(spec.period) * unit);
    variance_ = static_cast<std::uint64_t>(static_cast<double>(spec.variance) * unit);
    random_ = mix(salt_ + static_cast<std::uint32_t>(rank));
    passed_ = 0;
    due_ = (strategy_ == Strategy::timer ? recorder::now() : 0) + interval();
  }

  // The sender's choice. To be called once for each message.
  [[gnu::always_inline]] bool choose(std::uint64_t channel, std::uint64_t number) noexcept {
    if (strategy_ == Strategy::random) [[likely]]
      return coordinated(channel, number);
    return strategy_ == Strategy::counter ? count() : strategy_ == Strategy::timer && time();
  }
  // The number of messages that a chosen one represents: 1 / the probability of its choice. 0: this is not known. A
  // counter or a timer follows the rhythm of the program, so it may always find messages of the same call.
  float weight() const noexcept { return weight_; }

  // Whether the user's code chooses (user_code.h). Then choose() must not be called.
  bool is_user() const noexcept { return strategy_ == Strategy::user; }
  // Uniform in [0, 1).
  double random_of(std::uint64_t channel, std::uint64_t number) const noexcept {
    return std::ldexp(static_cast<double>(hash(channel, number) >> 11), -53);
  }

  // Whether the receiver can compute which messages are chosen.
  bool is_coordinated() const noexcept { return strategy_ == Strategy::random; }
  bool coordinated(std::uint64_t channel, std::uint64_t number) const noexcept {
    return hash(channel, number) <= below_;
  }

 private:
  std::uint64_t hash(std::uint64_t channel, std::uint64_t number) const noexcept {
    return mix((channel ^ salt_) + number * 0x9e3779b97f4a7c15U);
  }
  // Uniform in PERIOD +- VARIANCE.
  std::uint64_t interval() noexcept {
    random_ += 0x9e3779b97f4a7c15U;
    const std::uint64_t spread = variance_ == 0 ? 0 : mix(random_) % (2 * variance_ + 1);
    return period_ - variance_ + spread;
  }
  [[gnu::noinline]] bool count() noexcept {
    if (++passed_ < due_) return false;
    passed_ = 0;
    due_ = interval();
    return true;
  }
  [[gnu::noinline]] bool time() noexcept {
    const std::uint64_t now = recorder::now();
    if (now < due_) return false;
    due_ = now + interval();
    return true;
  }

  Strategy strategy_ = Strategy::none;
  std::uint64_t salt_ = 0;
  std::uint64_t below_ = 0;
  std::uint64_t period_ = 0;
  std::uint64_t variance_ = 0;
  std::uint64_t random_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t passed_ = 0;  // messages since the last choice
  float weight_ = 0;
};

}  // namespace tare::mpi::sampling
