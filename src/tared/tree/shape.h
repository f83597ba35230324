// The shape of a tree: node 0 is the root, and nodes are numbered level by level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tare::tared {

class TreeShape {
 public:
  TreeShape(std::uint32_t nodes, std::uint32_t fan_out) : nodes_(nodes), fan_out_(std::max(fan_out, 1U)) {}
  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t parent(std::uint32_t node) const { return (node - 1) / fan_out_; }
  std::uint32_t children(std::uint32_t node) const {
    const std::uint64_t first = std::uint64_t{node} * fan_out_ + 1;
    return first >= nodes_ ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(fan_out_, nodes_ - first));
  }
  bool is_leaf(std::uint32_t node) const { return children(node) == 0; }
  // The nearest first; empty for the root.
  std::vector<std::uint32_t> ancestors(std::uint32_t node) const {
    std::vector<std::uint32_t> chain;
    while (node != 0) chain.push_back(node = parent(node));
    return chain;
  }
  std::uint32_t depth() const { return nodes_ == 0 ? 0 : static_cast<std::uint32_t>(ancestors(nodes_ - 1).size()); }

 private:
  std::uint32_t nodes_;
  std::uint32_t fan_out_;
};

}  // namespace tare::tared
