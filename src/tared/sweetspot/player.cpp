#include "tared/sweetspot/player.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "monitor/cadence.h"
#include "tared/filters/clock.h"

namespace tare::tared {

namespace {

void sleep_until(std::int64_t realtime) {
  const timespec until{realtime / 1'000'000'000, realtime % 1'000'000'000};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Waits for room in a ring, by sleeping long compared with an offload and short compared with an interval. So the
// reader keeps its processor.
void pause_shortly(const Play& play) {
  const timespec pause{0, std::clamp<long>(play.interval_ns / 4, 20'000, 1'000'000)};
  nanosleep(&pause, nullptr);
}

}  // namespace

Player::Player(Stage& stage, std::uint32_t number, std::uint32_t first, std::uint32_t count)
    : stage_(stage), number_(number), first_(first), count_(count), dropped_(count), held_(count) {
  if (count > 0) thread_ = std::thread([this] { work(); });
}

Player::~Player() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::size_t Player::poll(SnapshotTaker& taker) {
  std::size_t count = 0;
  for (std::uint32_t rank = first_; rank < first_ + count_; ++rank) {
    Stage::Ring& ring = stage_.ring(rank);
    const std::uint64_t head = ring.head.load(std::memory_order_acquire);
    std::uint64_t tail = ring.tail.load(std::memory_order_relaxed);
    for (; tail < head && taker.wants(rank); ++count) {
      const Stage::Slot& slot = stage_.slot(rank, tail);
      const auto events = static_cast<std::uint32_t>(slot.events);
      taker.snapshot({slot.round,
                      rank,
                      slot.offloaded_ns,
                      stage_.keys(events),
                      {stage_.values(rank, tail), events},
                      slot.dropped});
      ring.tail.store(++tail, std::memory_order_release);
    }
  }
  return count;
}

void Player::command(std::span<const std::byte> command) {
  if (count_ == 0) return;
  Reader in(command);
  const auto play = in.get<Play>();
  if (!in.at_end() || play.events > stage_.shape().max_events || play.rounds > stage_.shape().max_rounds) return;
  cadence_.store(0, std::memory_order_release);  // the value of the previous play must not be used
  const std::lock_guard lock(mutex_);
  plays_.push_back(play);
  changed_.notify_all();
}

void Player::set_pace(const Pace& pace) {
  cadence_.store(monitor::Cadence::word(pace.from_round, std::max<std::uint64_t>(pace.every, 1)),
                 std::memory_order_release);
}

void Player::work() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_ended_ || !plays_.empty(); });
    if (is_ended_) return;
    const Play play = plays_.front();
    plays_.pop_front();
    lock.unlock();
    this->play(play);
    lock.lock();
  }
}

void Player::play(const Play& play) {
  values_.resize(play.events);
  sleep_until(play.start_ns);
  const std::int64_t began_ns = realtime_ns();
  if (play.every != 0) offload_as_decided(play);
  for (std::uint32_t round = 0; round < play.rounds; ++round) {
    if (play.in_step == 0) {
      const std::int64_t after_ns =
          play.irregular != 0 ? irregular_offset_ns(round, play.interval_ns) : round * play.interval_ns;
      sleep_until(play.start_ns + after_ns);
    } else {
      sleep_until(realtime_ns() + play.interval_ns);
      pthread_barrier_wait(&stage_.barrier());
    }
    for (std::uint32_t rank = 0; rank < count_ && play.offloads != 0; ++rank) offload(play, rank, round);
  }
  // If a rank dropped its last rounds, one more round shows that nobody needs to wait for them.
  const std::uint64_t number = play.every != 0 ? stage_.last_point() + 1 : play.first_round + play.rounds;
  if (play.policy == Policy::lossy && play.offloads != 0)
    for (std::uint32_t rank = 0; rank < count_; ++rank) offload_last(play, rank, number);
  stage_.played_ns(number_).store(std::max<std::int64_t>(realtime_ns() - began_ns, 1), std::memory_order_release);
  // The ranks take turns, because a round frees its room only after its last rank has arrived.
  while (std::ranges::any_of(held_, [](const auto& held) { return !held.empty(); })) {
    for (std::uint32_t rank = 0; rank < count_; ++rank) hand_over_held(rank);
    pause_shortly(play);
  }
}

// Plays a program that reaches offload points. A decision is known long before the point from which it applies.
void Player::offload_as_decided(const Play& play) {
  constexpr std::int64_t max_ahead_ns = 1'000'000;  // sleeping at each point would take the tree's processors
  monitor::Cadence cadence(play.every);
  std::int64_t slept_ns = play.start_ns;
  for (std::uint64_t point = play.first_round; point <= stage_.last_point().load(std::memory_order_acquire); ++point) {
    const bool is_taken = cadence.takes(point, cadence_.load(std::memory_order_acquire));
    const std::int64_t at_ns = play.start_ns + static_cast<std::int64_t>(point - play.first_round) * play.interval_ns;
    if (!is_taken && at_ns - slept_ns < max_ahead_ns) continue;
    sleep_until(at_ns);
    slept_ns = at_ns;
    const auto round = static_cast<std::uint32_t>(point - play.first_round);
    for (std::uint32_t rank = 0; rank < count_ && is_taken; ++rank) offload(play, rank, round);
  }
}

void Player::put(std::uint32_t rank, std::uint64_t round, std::int64_t offloaded_ns, std::span<const Metrics> values) {
  stage_.put(first_ + rank, {round, offloaded_ns, values.size(), std::exchange(dropped_[rank], 0)}, values);
}

void Player::offload_last(const Play& play, std::uint32_t rank, std::uint64_t number) {
  while (!stage_.has_room(first_ + rank)) pause_shortly(play);
  put(rank, number, realtime_ns(), values_);
}

void Player::hand_over_held(std::uint32_t rank) {
  while (!held_[rank].empty() && stage_.has_room(first_ + rank)) {
    const Held& held = held_[rank].front();
    put(rank, held.round, held.offloaded_ns, held.values);
    held_[rank].pop_front();
  }
}

void Player::offload(const Play& play, std::uint32_t rank, std::uint32_t round) {
  // Makes the values, which are the work of the rank since the last round and not part of the offload.
  for (std::uint32_t event = 0; event < play.events; ++event)
    values_[event] = {static_cast<double>(round + 1), 1e6 * (round + 1) + 1e3 * (first_ + rank) + event, 8.0 * round};
  const std::uint64_t number = play.first_round + round;
  auto fate = Stage::Fate::offloaded;
  hand_over_held(rank);
  const std::int64_t begin_ns = realtime_ns();
  if (play.policy == Policy::block)
    while (!stage_.has_room(first_ + rank)) pause_shortly(play);
  if (held_[rank].empty() && stage_.has_room(first_ + rank)) {
    put(rank, number, begin_ns, values_);
  } else if (play.policy == Policy::unbound) {
    held_[rank].push_back({number, begin_ns, values_});
  } else {
    fate = Stage::Fate::dropped;
    ++dropped_[rank];
  }
  const std::int64_t cost_ns = realtime_ns() - begin_ns;
  Stage::Offload& told = stage_.offload(first_ + rank, round % stage_.shape().max_rounds);
  told.cost_ns.store(static_cast<std::uint32_t>(std::min<std::int64_t>(cost_ns, UINT32_MAX)),
                     std::memory_order_relaxed);
  told.fate.store(fate, std::memory_order_release);
}

}  // namespace tare::tared
