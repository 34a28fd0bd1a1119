// Finds an earlier node that is equal: operation, immediates, operands, and an epoch that the caller chooses (nodes of
// different epochs are never equal). A flat hash table of indices into a list of nodes that the caller owns; it cannot
// hold more nodes than it was made for.
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

  // An equal node among the first `count` of `kept`, or null. If it is null the table remembers the node under the
  // index `count`, where the caller must put it.
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
