// The receives of a process in the order of posting, until the channel of each is known.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::reader {

// The messages that a receive matches. any_source and any_tag (format/record.h) match all.
struct Pattern {
  std::int32_t communicator, source, tag;  // source: rank of the world
};

// A receive with a wildcard may take a message that a later receive would otherwise take. So a receive gets its place
// on a channel only when the channels of all earlier receives are known that could take messages of this channel. This
// class keeps incomplete receives with wildcards, and the later ones that must wait for them.
class PostedReceives {
 public:
  using Receive = std::uint32_t;  // a number that the caller chooses

  // True if the channel of the receive is known, and the receive is the next one of this channel. Then it is not kept.
  bool post(Receive receive, const Pattern& pattern) {
    const bool is_open = is_wild(pattern);
    if (!is_open && open_.empty()) return true;
    if (!is_open && !is_behind_open(open_.size(), pattern)) return true;
    open_.push_back({receive, pattern, !is_open, false});
    return false;
  }
  // Source and tag of the message of the receive are known now. Calls `next` for each receive that becomes the next one
  // of its channel, in order, with its pattern without wildcards.
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
  // To be called at the end of the trace. Removes receives with unknown channels, and releases those that wait for
  // them.
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
        // A waiting receive of the same channel was posted earlier, and must get its place first.
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
