// The mailboxes of a node: one file in shared memory, mapped by its ranks, of which the last one removes its name, so
// that nothing is left behind however they end. A pair of ranks is given a mailbox when the first message between them
// is told of. Nobody makes the file for the others: whoever comes first does, and zeroed memory is a node without
// ranks. What others have written there is bounded by what this rank knows of the memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/sampling/mailbox.h"

namespace tare::mpi::sampling {

// A clock against the first node's.
struct ClockOffset {
  std::int64_t ahead_ns = 0;  // the first node's is so far ahead
  std::uint64_t uncertainty_ns = 0;
};

// The memory that the ranks of a node share. A rank is named by its place on the node.
class Node {
 public:
  static std::uint64_t bytes(std::uint32_t size) noexcept;

  // `memory`, zeroed before the first of `size` ranks has joined; `rank`, in the world, has that place. True for the
  // last one to join.
  bool join(void* memory, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
  bool joined() const noexcept { return head_ != nullptr; }
  std::uint32_t size() const noexcept { return size_; }
  // Rank in the world; negative if that rank has not joined.
  std::int32_t rank(std::uint32_t place) const noexcept {
    const auto written = static_cast<std::uint32_t>(std::atomic_ref(ranks()[place]).load(std::memory_order_acquire));
    return static_cast<std::int32_t>(written - 1);
  }
  // How many slots a mailbox has, less 1.
  std::uint64_t mask() const noexcept { return std::uint64_t{slots_} - 1; }

  // What this rank tells another; nullptr if there is no mailbox left.
  Mailbox* to(std::uint32_t place) noexcept;
  // What another tells this one; nullptr as long as it has told nothing.
  Mailbox* from(std::uint32_t place) const noexcept {
    return mailbox(std::atomic_ref(told_by_[place]).load(std::memory_order_acquire));
  }

  // Retracts all that a rank was told before; where messages cannot be retracted one by one.
  void retract_all(std::uint32_t place) noexcept {
    std::atomic_ref(retractions()[place]).fetch_add(1, std::memory_order_release);
    note_change(place);
  }
  // How often that was done to this rank.
  std::uint32_t retracted() const noexcept { return std::atomic_ref(*retracted_).load(std::memory_order_acquire); }

  // The file by which the user says what is sampled is looked at by one rank of the node at a time: true for the one
  // that is to do so now, because nobody has for `interval_ns`.
  bool is_to_look(std::uint64_t now_ns, std::uint64_t interval_ns) noexcept {
    const std::atomic_ref looked(head_->looked_ns);
    std::uint64_t last = looked.load(std::memory_order_relaxed);
    return now_ns - last >= interval_ns && looked.compare_exchange_strong(last, now_ns, std::memory_order_relaxed);
  }
  // The version of it that was seen last, for all to see; 0: none.
  void note_version(std::uint64_t version) noexcept {
    std::atomic_ref(head_->version).store(version, std::memory_order_release);
  }
  std::uint64_t version() const noexcept { return std::atomic_ref(head_->version).load(std::memory_order_acquire); }
  // Whether no other rank of the node has seen this version.
  bool is_first_to_see(std::uint64_t version) noexcept {
    return std::atomic_ref(head_->seen).exchange(version, std::memory_order_relaxed) != version;
  }

  // What the first rank of the node has found out about its clock; for the others, who know in another way that it has.
  void set_clock(const ClockOffset& clock) noexcept { head_->clock = clock; }
  ClockOffset clock() const noexcept { return head_->clock; }

  // Changes when this rank is given another mailbox, or what it was told is retracted.
  std::uint32_t* change_word() const noexcept { return &changes()[own_]; }

 private:
  struct alignas(64) Head {
    std::uint32_t joined;     // ranks
    std::uint32_t used;       // mailboxes given to pairs of ranks
    std::uint64_t looked_ns;  // this and the next two: see is_to_look()
    std::uint64_t version;
    std::uint64_t seen;
    ClockOffset clock;
  };
  static std::uint64_t mailboxes_at(std::uint32_t size) noexcept;
  void note_change(std::uint32_t place) noexcept {
    std::atomic_ref(changes()[place]).fetch_add(1, std::memory_order_release);
  }

  std::int32_t* ranks() const noexcept { return reinterpret_cast<std::int32_t*>(head_ + 1); }  // + 1; 0: not here
  std::uint32_t* retractions() const noexcept { return reinterpret_cast<std::uint32_t*>(ranks() + size_); }
  std::uint32_t* changes() const noexcept { return retractions() + size_; }
  // 1 + number of the mailbox in which a rank is told; 0: none yet.
  std::uint32_t& directory(std::uint32_t reader, std::uint32_t writer) const noexcept {
    return changes()[size_ + std::uint64_t{reader} * size_ + writer];
  }
  Mailbox* mailbox(std::uint32_t number) const noexcept {
    if (number == 0 || number > mailboxes_) return nullptr;
    return reinterpret_cast<Mailbox*>(reinterpret_cast<char*>(head_) + mailboxes_at(size_) +
                                      (number - 1) * Mailbox::bytes(slots_));
  }

  Head* head_ = nullptr;
  std::uint32_t* retracted_ = nullptr;  // of this rank
  std::uint32_t* told_by_ = nullptr;    // its part of the directory
  std::uint32_t own_ = 0;
  std::uint32_t size_ = 0;  // ranks
  std::uint32_t mailboxes_ = 0;
  std::uint32_t slots_ = 0;  // of each
};

// Joins the `size` ranks of a node in a file whose `name` nobody else takes: `rank`, in the world, has that place.
// nullptr if there is no room.
Node* join_node(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
// No rank joins any more: the file loses its name, if the last one has not come.
void close_node() noexcept;

}  // namespace tare::mpi::sampling
