// The mailboxes of a node: one file in shared memory, mapped by its ranks and then removed, so that nothing is left
// behind however they end. A pair of ranks is given a mailbox when the first message between them is told of.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/sampling/mailbox.h"

namespace tare::mpi::sampling {

// The memory that the ranks of a node share. A rank is named by its place on the node.
class Node {
 public:
  static std::uint64_t bytes(std::uint32_t size) noexcept;
  // By the first rank, in zeroed memory for `size` ranks.
  static void prepare(void* memory, std::uint32_t size) noexcept;

  // `rank`, in the world, has that place.
  void join(void* memory, std::uint32_t place, std::int32_t rank) noexcept;
  bool joined() const noexcept { return head_ != nullptr; }
  std::uint32_t size() const noexcept { return head_->size; }
  // Rank in the world; negative if that rank has not joined.
  std::int32_t rank(std::uint32_t place) const noexcept {
    return std::atomic_ref(ranks()[place]).load(std::memory_order_acquire) - 1;
  }

  // What this rank tells another; nullptr if there is no mailbox left.
  Mailbox* to(std::uint32_t place) noexcept;
  // What another tells this one; nullptr as long as it has told nothing.
  Mailbox* from(std::uint32_t place) const noexcept {
    return mailbox(std::atomic_ref(told_by_[place]).load(std::memory_order_acquire));
  }

  // Says that what a rank was told before may be wrong; where there is no room to retract it.
  void distrust(std::uint32_t place) noexcept {
    std::atomic_ref(doubts()[place]).fetch_add(1, std::memory_order_release);
    tell_news(place);
  }
  // How often that was said to this rank.
  std::uint32_t doubted() const noexcept { return std::atomic_ref(*doubted_).load(std::memory_order_acquire); }

  // Whether no other rank of the node has seen this version of the file by which the user says what is sampled.
  bool is_first_to_see(std::uint64_t version) noexcept {
    return std::atomic_ref(head_->seen).exchange(version, std::memory_order_relaxed) != version;
  }

  // Changes when this rank is given a mailbox more, or doubts.
  std::uint32_t* news_word() const noexcept { return &news()[own_]; }

 private:
  struct alignas(64) Head {
    std::uint32_t size;       // ranks
    std::uint32_t mailboxes;  // behind the directory
    std::uint32_t slots;      // of each
    std::uint32_t used;       // mailboxes given to pairs of ranks
    std::uint64_t seen;       // last by is_first_to_see()
  };
  static std::uint64_t mailboxes_at(std::uint32_t size) noexcept;
  void tell_news(std::uint32_t place) noexcept {
    std::atomic_ref(news()[place]).fetch_add(1, std::memory_order_release);
  }

  std::int32_t* ranks() const noexcept { return reinterpret_cast<std::int32_t*>(head_ + 1); }  // + 1; 0: not here
  std::uint32_t* doubts() const noexcept { return reinterpret_cast<std::uint32_t*>(ranks() + head_->size); }
  std::uint32_t* news() const noexcept { return doubts() + head_->size; }
  // 1 + number of the mailbox in which a rank is told; 0: none yet.
  std::uint32_t& directory(std::uint32_t reader, std::uint32_t writer) const noexcept {
    return news()[head_->size + std::uint64_t{reader} * head_->size + writer];
  }
  Mailbox* mailbox(std::uint32_t number) const noexcept {
    if (number == 0) return nullptr;
    return reinterpret_cast<Mailbox*>(reinterpret_cast<char*>(head_) + mailboxes_at(head_->size) +
                                      (number - 1) * Mailbox::bytes(head_->slots));
  }

  Head* head_ = nullptr;
  std::uint32_t* doubted_ = nullptr;  // of this rank
  std::uint32_t* told_by_ = nullptr;  // its part of the directory
  std::uint32_t own_ = 0;
};

// Makes the file for `size` ranks; called by the first of them, with a `name` that nobody else takes. False if there
// is no room.
bool make_node_file(std::uint64_t name, std::uint32_t size) noexcept;
// Maps the file that the first rank has made: the `place`-th rank of the node, `rank` in the world, is there.
void open_node_file(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
// Once all have: the sampler uses it. The first rank removes its name.
void use_node_file(std::uint64_t name, std::uint32_t place) noexcept;

}  // namespace tare::mpi::sampling
