// Something about each rank of each world. Memory follows the ranks that are there: a damaged number of one rank costs
// a page, not all the numbers below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tare::reader {

// A larger number of a rank, or a negative one, means damage.
inline constexpr std::int32_t rank_limit = 1 << 24;
inline bool can_be_rank(std::int32_t world, std::int32_t rank) { return world >= 0 && rank >= 0 && rank < rank_limit; }

template <class T>
class ByRank {
 public:
  // Made if it is not there. can_be_rank(world, rank) holds.
  T& at(std::int32_t world, std::int32_t rank) {
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    if (w >= worlds_.size()) worlds_.resize(w + 1);
    Pages& pages = worlds_[w];
    if (r / page_ranks >= pages.size()) pages.resize(r / page_ranks + 1);
    std::unique_ptr<Page>& page = pages[r / page_ranks];
    if (!page) page = std::make_unique<Page>();
    return (*page)[r % page_ranks];
  }
  // Null if its page is not there; a rank beside one that is there is found as T{}.
  T* find(std::int32_t world, std::int32_t rank) {
    return const_cast<T*>(static_cast<const ByRank*>(this)->find(world, rank));
  }
  const T* find(std::int32_t world, std::int32_t rank) const {
    if (!can_be_rank(world, rank)) return nullptr;
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    if (w >= worlds_.size() || r / page_ranks >= worlds_[w].size()) return nullptr;
    const Page* page = worlds_[w][r / page_ranks].get();
    return page == nullptr ? nullptr : &(*page)[r % page_ranks];
  }
  bool empty() const { return worlds_.empty(); }
  // In their order, with those that are beside one that is there.
  template <class Visit>
  void each(const Visit& visit) {
    for (Pages& pages : worlds_)
      for (std::unique_ptr<Page>& page : pages)
        if (page)
          for (T& of_rank : *page) visit(of_rank);
  }

 private:
  static constexpr std::size_t page_ranks = 64;
  using Page = std::array<T, page_ranks>;
  using Pages = std::vector<std::unique_ptr<Page>>;

  std::vector<Pages> worlds_;
};

}  // namespace tare::reader
