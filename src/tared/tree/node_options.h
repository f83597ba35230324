// The options of a node of the tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tared/tree/round_table.h"

namespace tare::tared {

struct NodeOptions {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> ancestors;  // the parent, its parent, ... the root; empty for the root
  std::uint32_t planned_children = 0;    // nodes that will say hello
  // If it is not known which nodes will come: the root waits for the ranks of the program, at most so long after the
  // first of them. 0: it waits for planned children.
  std::int64_t world_patience_ns = 0;
  std::string directory;  // where nodes meet (rendezvous.h), with the run's key
  std::string filter = "statistics";
  std::string listen;  // an address to bind TCP to; empty: a unix socket, for nodes of this machine
  RoundLimits limits;
  std::int64_t interval_ns = 0;                    // between rounds, as far as it is known
  std::int64_t beat_ns = 500'000'000;              // between two signs of life
  std::int64_t dead_after_ns = 5'000'000'000;      // after such a time without one, a node counts as dead
  std::int64_t form_patience_ns = 30'000'000'000;  // for planned children to come
};

// The shape of a tree: node 0 is the root, and nodes are numbered level by level.
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
