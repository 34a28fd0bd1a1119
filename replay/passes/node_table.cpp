#include "replay/passes/node_table.h"

#include <bit>

namespace tagalong::replay {
namespace {

std::size_t hash_of(const Node& node, std::uint32_t epoch) {
  std::size_t hash = static_cast<std::size_t>(node.op) + (static_cast<std::size_t>(epoch) << 8U);
  const auto mix = [&hash](std::size_t more) { hash = (std::rotl(hash, 5) ^ more) * 0x9E3779B97F4A7C15U; };
  mix(static_cast<std::size_t>(node.immediate));
  mix(reinterpret_cast<std::size_t>(node.object.get()));
  for (const Value operand : node.operands) {
    mix(static_cast<std::size_t>(operand));
  }
  return hash ^ (hash >> 32U);
}

bool says_the_same(const Node& left, const Node& right) {
  return left.op == right.op && left.immediate == right.immediate && left.object.get() == right.object.get() &&
         left.operands == right.operands;
}

}  // namespace

NodeTable::NodeTable(std::size_t nodes) : entries_(std::bit_ceil(2 * nodes + 1)), mask_(entries_.size() - 1) {}

const Node* NodeTable::find_or_add(const std::vector<Node>& kept, std::size_t count, const Node& node,
                                   std::uint32_t epoch) {
  const std::size_t hash = hash_of(node, epoch);
  std::size_t slot = hash & mask_;
  for (; entries_[slot].place != kFree; slot = (slot + 1) & mask_) {
    const Entry& entry = entries_[slot];
    if (entry.hash == hash && entry.epoch == epoch && says_the_same(kept[entry.place], node)) {
      return &kept[entry.place];
    }
  }
  entries_[slot] = {static_cast<std::uint32_t>(count), epoch, hash};
  return nullptr;
}

}  // namespace tagalong::replay
