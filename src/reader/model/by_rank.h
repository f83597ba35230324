// One value for each rank of each world (MPI_COMM_WORLD). Values are stored in pages of 64 ranks, and a page is
// allocated at the first access to one of its ranks. So a damaged rank number costs one page, and not memory for all
// lower ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tare::reader {

// Ranks from this one on, and negative ranks, are taken for damaged data.
inline constexpr std::int32_t rank_limit = 1 << 24;
inline bool can_be_rank(std::int32_t world, std::int32_t rank) { return world >= 0 && rank >= 0 && rank < rank_limit; }

template <class T>
class ByRank {
 public:
  // The value of the rank; creates its page if needed. Requires can_be_rank(world, rank).
  T& at(std::int32_t world, std::int32_t rank) {
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    if (w >= worlds_.size()) worlds_.resize(w + 1);
    Pages& pages = worlds_[w];
    if (r / page_ranks >= pages.size()) pages.resize(r / page_ranks + 1);
    std::unique_ptr<Page>& page = pages[r / page_ranks];
    if (!page) page = std::make_unique<Page>();
    return (*page)[r % page_ranks];
  }
  // nullptr if the page of the rank does not exist. A rank that was never set, but whose page exists, has the value
  // T{}.
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
  // Calls `visit` with all values of all existing pages, by world and rank. Ranks that were never set are included, as
  // T{}.
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
