// When one spell ends and the next begins, and which tool it is for.
//
// All ranks must decide alike, and no message is sent for that. So a spell is named by its place in the run of its
// rank: the number of anchors before it (collective operations in which all ranks wait for all others), and its number
// since the last of them. A hash of the name decides. Between anchors, progress is counted in ticks: calls that wait or
// move data, but no polls, whose number is not that of the program's work.
//
// How many ticks a spell has, one rank of the node finds out from the pace of the program: those of `spell_ns`. Where
// anchors are more frequent, a spell is a number of them. Otherwise it is a number of the program's repetitions, or
// such a part of one that all parts make up the whole (recorder/rhythm.h).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "mpi/referee/pending.h"
#include "mpi/referee/spell_file.h"
#include "mpi/referee/tools.h"
#include "recorder/rhythm.h"

namespace tare::mpi::referee {

class Turns {
 public:
  // Makes the file of the process in `directory`. False if there is none, so that no spell begins. `seed`: what the
  // ranks have in common and two runs have not.
  bool begin(const char* directory, const char* seed, const Tools& tools) noexcept;
  SpellFileHeader* header() noexcept { return file_ == nullptr ? nullptr : &file_->header; }
  bool is_recording() const noexcept { return file_ != nullptr; }

  // To be called at each call before it is counted.
  void arrive(const void* caller) noexcept {
    if (ticks_ >= next_ || after_anchor_) [[unlikely]]
      pass(caller);
  }
  void tick() noexcept { ++ticks_; }
  void anchor(const void* caller) noexcept;

  // No spell begins any more, and all calls go to the MPI library.
  void stop(std::uint32_t flags) noexcept;
  // The same in a forked child, which is no rank.
  void forget() noexcept {
    file_ = nullptr;
    stop(0);
  }

  Pending pending;
  unsigned route = 0;

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  const Length& length() const noexcept { return agreement_->lengths[length_]; }
  bool leads() const noexcept { return agreement_->leader.load(std::memory_order_relaxed) == process_; }
  struct Name {
    std::uint64_t anchor;
    std::uint64_t begin;  // the tick of the anchor, or where the present length began to hold
    std::uint32_t first;  // the number of the spell that began there
    std::uint32_t number;
    std::uint16_t site;
  };
  std::uint64_t end_of(const Name& name) const noexcept;  // the tick, unless an anchor comes before
  void catch_up() noexcept;                               // what is due is the spell of the present tick
  std::uint64_t parts() const noexcept;                   // spells of a repetition

  void pass(const void* caller) noexcept;
  void observe(const void* caller) noexcept;
  // Agrees upon the length of spells from the pace since the last time, if it has changed.
  void publish(std::uint64_t now) noexcept;
  void turn() noexcept;

  SpellFile* file_ = nullptr;
  Agreement* agreement_ = nullptr;
  pid_t process_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t ticks_ = 0, anchors_ = 0;
  std::uint64_t next_ = never;  // the tick at which pass() is to be called
  bool after_anchor_ = false;   // an anchor was the last call
  std::uint16_t site_ = 0;      // its site
  bool is_active_ = false;
  // Where the leader looked last:
  std::uint64_t looked_ns_ = 0, looked_ticks_ = 0, looked_anchors_ = 0;
  std::uint32_t length_ = 0;  // the number of the present one
  bool is_due_ = false;
  Name due_{};      // the spell that is to begin as soon as no request is under way
  Name present_{};  // the spell that goes on, if is_open_
  bool is_open_ = false;
  std::uint64_t begin_ns_ = 0, begin_ticks_ = 0, begin_waited_ = 0;
  unsigned routes_ = 1;
  recorder::Rhythm rhythm_{};
};

}  // namespace tare::mpi::referee
