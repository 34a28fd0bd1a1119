// Finds an earlier node that says the same: operation, immediates, operands and an epoch that the caller chooses (nodes
// of different epochs are different). A flat hash table of places in a list of nodes that the caller keeps; it refuses
// more than the number of nodes it was made for.
//
//   NodeTable table(graph.nodes.size());
//   if (const Node* twin = table.find_or_add(kept, count, node, epoch)) ...  // else: kept[count++] = node
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

class NodeTable {
 public:
  explicit NodeTable(std::size_t nodes);

  // The earlier node among the first `count` of `kept`, or null; then the node is remembered as the one that the caller
  // puts in the place `count`.
  [[nodiscard]] const Node* find_or_add(const std::vector<Node>& kept, std::size_t count, const Node& node,
                                        std::uint32_t epoch);

 private:
  struct Entry {
    std::uint32_t place = kFree;
    std::uint32_t epoch = 0;
    std::size_t hash = 0;
  };
  static constexpr std::uint32_t kFree = UINT32_MAX;

  std::vector<Entry> entries_;
  std::size_t mask_;
};

}  // namespace tagalong::replay
