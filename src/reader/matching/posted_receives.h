// The receives of a process in the order of posting, until it is known which channel each takes its message from.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::reader {

// What a receive takes: any_source and any_tag (format/record.h) match all.
struct Pattern {
  std::int32_t communicator, source, tag;  // source: rank of the world
};

// A receive with a wildcard may take a message that a later receive would otherwise take. So a receive gets its place
// on a channel when all earlier receives that could take messages of the channel are known. Holds receives with
// wildcards that are under way, and later ones that must wait for them.
class PostedReceives {
 public:
  using Receive = std::uint32_t;  // the caller's number for it

  // True if the channel of the receive is known, and the receive is the next of this channel. Then nothing is kept of
  // it.
  bool post(Receive receive, const Pattern& pattern) {
    const bool is_open = is_wild(pattern);
    if (!is_open && open_.empty()) return true;
    if (!is_open && !is_behind_open(open_.size(), pattern)) return true;
    open_.push_back({receive, pattern, !is_open, false});
    return false;
  }
  // The message of the receive is known. Calls `next` for each receive that is now the next of its channel, in order,
  // with its pattern without wildcards.
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
  // The receive was cancelled, and takes no message.
  template <class Next>
  void drop(Receive receive, const Next& next) {
    std::erase_if(open_, [receive](const Open& open) { return open.receive == receive; });
    release(next);
  }
  // The trace has ended: waiting receives are released, those with unknown channels are removed.
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
        // It waits, too, because the order within a channel is that of posting.
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
