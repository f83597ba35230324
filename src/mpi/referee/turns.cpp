#include "mpi/referee/turns.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "format/mix.h"
#include "mpi/referee/routes.h"
#include "recorder/clock.h"
#include "recorder/system.h"

namespace tare::mpi::referee {
namespace {

constexpr std::uint64_t spell_ns = 2'000'000;
constexpr std::uint64_t shared_spell_ns = 20'000'000;  // where ranks share processors, and are farther apart
constexpr std::uint64_t observed_ns = 250'000'000;     // at least, before the length of spells is decided;
constexpr std::uint64_t alone_ns = 750'000'000;        // without anchors, to see the program repeat;
constexpr std::uint64_t passed_ns = 1'000'000'000;     // and before it is looked at again
constexpr double changed = 2;                          // as a factor: the pace is another one
constexpr std::uint64_t observed_ticks = 32;
constexpr std::uint64_t longest = 4;  // spells, that a repetition is not divided
constexpr std::uint64_t most_parts = 1024;
constexpr std::uint64_t ahead = 32;  // spells; no rank is so far ahead of the leader

// Of the processor, because other programs may make this one wait.
std::uint64_t processor_ns() noexcept { return recorder::read_ns(CLOCK_PROCESS_CPUTIME_ID); }

// The number after `value` in the sequence of SplitMix64.
std::uint64_t mixed(std::uint64_t value) noexcept { return format::mix(value + format::golden_gamma); }

}  // namespace

bool Turns::begin(const char* directory, const char* seed, const Tools& tools) noexcept {
  char host[HOST_NAME_MAX + 1] = "localhost";
  gethostname(host, sizeof host - 1);
  char path[PATH_MAX];
  process_ = getpid();
  if (std::snprintf(path, sizeof path, "%s/%s", directory, agreement_name) >= PATH_MAX) return false;
  agreement_ = static_cast<Agreement*>(recorder::map_file(path, 0, sizeof(Agreement)));
  const int length = std::snprintf(path, sizeof path, "%s/%s.%d%s", directory, host, process_, spells_suffix);
  if (agreement_ == nullptr || length >= PATH_MAX || !recorder::create_file(path)) return false;
  file_ = static_cast<SpellFile*>(recorder::map_file(path, 0, sizeof(SpellFile)));
  if (file_ == nullptr) return false;
  for (; *seed != '\0'; ++seed) seed_ = mixed(seed_ ^ static_cast<unsigned char>(*seed));
  routes_ = tools.count() + 1;
  SpellFileHeader& header = file_->header;
  std::memcpy(header.magic, "tareref", sizeof header.magic);
  header.version = 3;
  header.rank = -1;
  header.tools = tools.count();
  next_ = 0;
  return true;
}

void Turns::anchor(const void* caller) noexcept {
  ++anchors_;
  after_anchor_ = true;
  site_ = static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(caller) & 0xfffU);
}

void Turns::stop(std::uint32_t flags) noexcept {
  next_ = never;
  after_anchor_ = is_active_ = is_due_ = is_open_ = false;
  if (file_ != nullptr) {
    file_->header.flags |= flags;
    file_->header.ticks = ticks_;
  }
  file_ = nullptr;
  if (route != 0) routes.use(0);
  route = 0;
}

std::uint64_t Turns::parts() const noexcept {
  const auto& [ticks, anchors, period, from] = length();
  return period <= longest * ticks ? 1 : std::min((period + ticks / 2) / ticks, most_parts);
}

std::uint64_t Turns::end_of(const Name& name) const noexcept {
  const auto& [ticks, anchors, period, from] = length();
  const std::uint64_t number = name.number - name.first + 1;
  if (anchors != 0) return name.begin + 2 * ticks * number;  // only a spell without any anchor is divided
  if (period == 0) return name.begin + ticks * number;
  if (period > ticks) return name.begin + number / parts() * period + number % parts() * period / parts();
  return name.begin + (ticks + period / 2) / period * period * number;
}

void Turns::catch_up() noexcept {
  while (end_of(due_) <= ticks_) ++due_.number;
}

void Turns::pass(const void* caller) noexcept {
  if (!is_active_) observe(caller);
  if (!is_active_) {
    after_anchor_ = false;
    return;
  }
  if (after_anchor_) {
    after_anchor_ = false;
    if (anchors_ % std::max<std::uint64_t>(length().anchors, 1) == 0) {
      due_ = {anchors_, ticks_, 0, 0, site_};
      is_due_ = true;
    }
  } else if (ticks_ >= next_ && !is_due_) {
    // Ranks that had to wait for requests for different times are together again at the next spell.
    due_ = is_open_ ? present_ : Name{anchors_, length().from, 0, 0, site_};
    if (is_open_) ++due_.number;
    catch_up();
    is_due_ = true;
  }
  if (!is_due_) return;
  if (pending.none()) {
    turn();
  } else {
    next_ = ticks_ + 1;
    ++file_->header.hindered;
  }
}

void Turns::observe(const void* caller) noexcept {
  next_ = ticks_ + 1;
  if (looked_ns_ == 0) {
    looked_ns_ = processor_ns();
    std::int32_t none = 0;
    agreement_->leader.compare_exchange_strong(none, process_);
  }
  if (agreement_->count.load(std::memory_order_acquire) == 0) {
    if (leads()) rhythm_.add(reinterpret_cast<std::uintptr_t>(caller), ticks_, recorder::read_ns(CLOCK_MONOTONIC));
    // A reading of the clock takes longer than some calls.
    const bool looks = ticks_ >= observed_ticks && (ticks_ < 1024 || ticks_ % 64 == 0);
    if (looks && leads()) publish(processor_ns());
    return;
  }
  if (ticks_ < length().from) {
    next_ = length().from;
    return;
  }
  is_active_ = true;
  next_ = ticks_;
}

void Turns::publish(std::uint64_t now) noexcept {
  const std::uint64_t ns = now - looked_ns_;
  const std::uint32_t count = agreement_->count.load(std::memory_order_relaxed);
  if (ns < (count != 0 ? passed_ns : anchors_ != 0 ? observed_ns : alone_ns)) return;
  const auto ticks = static_cast<double>(ticks_ - looked_ticks_),
             anchors = static_cast<double>(anchors_ - looked_anchors_);
  if (count == 0) world.describe(file_->header);
  const bool shares = file_->header.ranks > sysconf(_SC_NPROCESSORS_ONLN);
  const double share = static_cast<double>(shares ? shared_spell_ns : spell_ns) / static_cast<double>(ns);
  looked_ns_ = now;
  looked_ticks_ = ticks_;
  looked_anchors_ = anchors_;
  Length wanted{std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ticks * share)),
                static_cast<std::uint64_t>(anchors * share), 0, 0};
  wanted.from = ticks_ + ahead * wanted.ticks;
  if (count == 0) {
    wanted.period = rhythm_.period();
  } else {
    const Length& last = agreement_->lengths[count - 1];
    wanted.period = last.period;
    const double factor = static_cast<double>(wanted.ticks) / static_cast<double>(last.ticks);
    if (count == std::size(agreement_->lengths) || (factor < changed && factor > 1 / changed)) return;
  }
  agreement_->lengths[count] = wanted;
  agreement_->count.store(count + 1, std::memory_order_release);
}

void Turns::turn() noexcept {
  const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC);
  SpellFileHeader& header = file_->header;
  const std::uint64_t spells = header.spells.load(std::memory_order_relaxed);
  if (spells == max_spells) return stop(0);
  if (is_open_) {
    const bool is_part = length().anchors == 0 && length().period != 0;
    file_->spells[spells] = {
        begin_ns_,
        now,
        recorder::read_delay() - begin_waited_,
        present_.anchor,
        present_.number,
        static_cast<std::uint32_t>(ticks_ - begin_ticks_),
        present_.site,
        static_cast<std::uint16_t>(route),
        static_cast<std::uint32_t>((present_.number - present_.first) % (is_part ? parts() : UINT32_MAX))};
    header.spells.store(spells + 1, std::memory_order_release);
    header.ticks = ticks_;
  } else {
    world.describe(header);
  }
  if (leads()) publish(processor_ns());
  while (length_ + 1 < agreement_->count.load(std::memory_order_acquire) &&
         ticks_ >= agreement_->lengths[length_ + 1].from) {
    ++length_;
    if (due_.begin < length().from) {
      due_.begin = length().from;
      due_.first = due_.number;
      catch_up();
    }
  }
  present_ = due_;
  is_due_ = false;
  is_open_ = true;
  begin_ticks_ = ticks_;
  next_ = end_of(present_);
  const unsigned chosen = mixed(seed_ ^ mixed(present_.anchor ^ std::uint64_t{present_.number} << 40U)) % routes_;
  if (chosen != route) routes.use(chosen);
  route = chosen;
  begin_waited_ = recorder::read_delay();
  begin_ns_ = recorder::read_ns(CLOCK_MONOTONIC);
}

}  // namespace tare::mpi::referee
