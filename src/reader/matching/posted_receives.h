// The receives of a process in the order in which they were posted, as far as it is not known yet which channel they
// take their message from.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::reader {

// What a receive takes: any_source and any_tag (format/record.h) match all.
struct Pattern {
  std::int32_t communicator, source, tag;  // source: rank of the world
};

// A receive with a wildcard may take the message that a later one would else take. So messages of a channel are
// numbered in the order of the receives that take them once all that could have taken them before are known.
// Holds receives with wildcards that are under way, and those behind them that have to wait.
class PostedReceives {
 public:
  using Receive = std::uint32_t;  // the caller's number for it

  // True if it is known which channel the receive is of, and that it is the next of this channel: nothing is kept of
  // it.
  bool post(Receive receive, const Pattern& pattern) {
    const bool is_open = is_wild(pattern);
    if (!is_open && open_.empty()) return true;
    if (!is_open && !is_behind_open(open_.size(), pattern)) return true;
    open_.push_back({receive, pattern, !is_open, false});
    return false;
  }
  // What it has received is known. `next` is called for every receive that is now the next of its channel, in their
  // order: with the receive and its pattern without wildcards.
  template <class Next>
  void resolve(Receive receive, std::int32_t source, std::int32_t tag, const Next& next) {
    for (Open& open : open_)
      if (open.receive == receive) {
        open.pattern.source = source;
        open.pattern.tag = tag;
        open.is_known = true;
      }
    release(next);
  }
  // It takes no message: it was cancelled.
  template <class Next>
  void drop(Receive receive, const Next& next) {
    std::erase_if(open_, [receive](const Open& open) { return open.receive == receive; });
    release(next);
  }
  // No more is to come: those that wait are released, those that are not known are forgotten.
  template <class Next>
  void finish(const Next& next) {
    std::erase_if(open_, [](const Open& open) { return !open.is_known; });
    release(next);
  }

 private:
  struct Open {
    Receive receive;
    Pattern pattern;
    bool is_known, is_gone;
  };

  static bool is_wild(const Pattern& pattern) { return pattern.source < 0 || pattern.tag < 0; }
  bool is_behind_open(std::size_t count, const Pattern& pattern) const {
    for (std::size_t i = 0; i < count; ++i) {
      const Pattern& other = open_[i].pattern;
      if (open_[i].is_known && !open_[i].is_gone) {
        // Waits itself: the order within a channel is that of posting.
        if (other.communicator == pattern.communicator && other.source == pattern.source && other.tag == pattern.tag)
          return true;
        continue;
      }
      if (!open_[i].is_gone && other.communicator == pattern.communicator &&
          (other.source < 0 || other.source == pattern.source) && (other.tag < 0 || other.tag == pattern.tag))
        return true;
    }
    return false;
  }
  template <class Next>
  void release(const Next& next) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      Open& open = open_[i];
      if (!open.is_known || is_behind_open(i, open.pattern)) continue;
      open.is_gone = true;
      next(open.receive, open.pattern);
    }
    std::erase_if(open_, [](const Open& open) { return open.is_gone; });
  }

  std::vector<Open> open_;
};

}  // namespace tare::reader
