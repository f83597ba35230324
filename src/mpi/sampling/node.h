// The mailboxes of a node: one file in shared memory that its ranks map. The last rank to join removes its name, so
// nothing is left behind however the ranks end. A pair of ranks gets a mailbox when the first sampled message is sent
// between them. The first rank that comes creates the file; zeroed memory is a node without ranks. Each rank checks
// what others have written there against the size of the memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/sampling/mailbox.h"

namespace tare::mpi::sampling {

// The difference of a clock to that of the first node.
struct ClockOffset {
  std::int64_t ahead_ns = 0;  // by so much the first node's clock is ahead
  std::uint64_t uncertainty_ns = 0;
};

// The memory that the ranks of a node share. A rank is identified by its place on the node.
class Node {
 public:
  static std::uint64_t bytes(std::uint32_t size) noexcept;

  // Joins the memory, which was zeroed before the first of the `size` ranks joined. `rank` is this rank in the world,
  // `place` its place. True for the last rank to join.
  bool join(void* memory, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
  bool joined() const noexcept { return head_ != nullptr; }
  std::uint32_t size() const noexcept { return size_; }
  // Rank in the world; negative if the rank has not joined.
  std::int32_t rank(std::uint32_t place) const noexcept {
    const auto written = static_cast<std::uint32_t>(std::atomic_ref(ranks()[place]).load(std::memory_order_acquire));
    return static_cast<std::int32_t>(written - 1);
  }
  // The number of slots of a mailbox, less 1.
  std::uint64_t mask() const noexcept { return std::uint64_t{slots_} - 1; }

  // The mailbox from this rank to another; nullptr if no mailbox is left.
  Mailbox* to(std::uint32_t place) noexcept;
  // The mailbox from another rank to this one; nullptr while there is none.
  Mailbox* from(std::uint32_t place) const noexcept {
    return mailbox(std::atomic_ref(reported_by_[place]).load(std::memory_order_acquire));
  }

  // Retracts all records that a rank was sent before. For messages that cannot be retracted one by one.
  void retract_all(std::uint32_t place) noexcept {
    std::atomic_ref(retractions()[place]).fetch_add(1, std::memory_order_release);
    note_change(place);
  }
  // How often records to this rank were retracted.
  std::uint32_t retracted() const noexcept { return std::atomic_ref(*retracted_).load(std::memory_order_acquire); }

  // One rank of the node at a time looks at the control file. True for the rank that is to look now, because none has
  // done so for `interval_ns`.
  bool is_to_look(std::uint64_t now_ns, std::uint64_t interval_ns) noexcept {
    const std::atomic_ref looked(head_->looked_ns);
    std::uint64_t last = looked.load(std::memory_order_relaxed);
    return now_ns - last >= interval_ns && looked.compare_exchange_strong(last, now_ns, std::memory_order_relaxed);
  }
  // The version of the file that any rank of the node has seen last; 0: none.
  void note_version(std::uint64_t version) noexcept {
    std::atomic_ref(head_->version).store(version, std::memory_order_release);
  }
  std::uint64_t version() const noexcept { return std::atomic_ref(head_->version).load(std::memory_order_acquire); }
  // True for the first rank of the node that sees this version.
  bool is_first_to_see(std::uint64_t version) noexcept {
    return std::atomic_ref(head_->seen).exchange(version, std::memory_order_relaxed) != version;
  }

  // The clock offset of the node. The first rank stores it. The others read it after they have learnt, by a message,
  // that it is there.
  void set_clock(const ClockOffset& clock) noexcept { head_->clock = clock; }
  ClockOffset clock() const noexcept { return head_->clock; }

  // Changes when this rank gets another mailbox, or its records are retracted.
  std::uint32_t* change_word() const noexcept { return &changes()[own_]; }

 private:
  struct alignas(64) Head {
    std::uint32_t joined;     // number of ranks
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
  // 1 + number of the mailbox from one rank to another; 0: none yet.
  std::uint32_t& directory(std::uint32_t reader, std::uint32_t writer) const noexcept {
    return changes()[size_ + std::uint64_t{reader} * size_ + writer];
  }
  Mailbox* mailbox(std::uint32_t number) const noexcept {
    if (number == 0 || number > mailboxes_) return nullptr;
    return reinterpret_cast<Mailbox*>(reinterpret_cast<char*>(head_) + mailboxes_at(size_) +
                                      (number - 1) * Mailbox::bytes(slots_));
  }

  Head* head_ = nullptr;
  std::uint32_t* retracted_ = nullptr;    // of this rank
  std::uint32_t* reported_by_ = nullptr;  // its row of the directory
  std::uint32_t own_ = 0;
  std::uint32_t size_ = 0;  // ranks
  std::uint32_t mailboxes_ = 0;
  std::uint32_t slots_ = 0;  // of each
};

// Joins the `size` ranks of a node in a file with this unique name. `rank` is this rank in the world, `place` its place
// on the node. nullptr if there is no room.
Node* join_node(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
// Removes the name of the file if not all ranks have joined. From now on none can join.
void close_node() noexcept;

}  // namespace tare::mpi::sampling
