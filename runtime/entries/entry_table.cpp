#include "runtime/entries/entry_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "rewriter/cpython/code_object.h"

namespace tagalong::runtime {

using recorder::DecodedCode;

namespace {

// At these instructions the frame is suspended or looks up what it delegates to.
bool suspends(rewriter::Opcode opcode) {
  return opcode == rewriter::op::kYIELD_VALUE || opcode == rewriter::op::kRESUME || opcode == rewriter::op::kSEND ||
         opcode == rewriter::op::kJUMP_BACKWARD_NO_INTERRUPT;
}

}  // namespace

bool Stub::close(PyCodeObject* replay_code) {
  if (!is_closed) {
    first_unit_ = cpython::code_units(replay_code)[static_cast<std::size_t>(first)];
    is_closed = cpython::jump_over(replay_code, first, original, before);
  }
  return is_closed;
}

void Stub::open(PyCodeObject* replay_code) {
  if (std::exchange(is_closed, false)) {
    cpython::write_unit(replay_code, first, first_unit_);
  }
}

EntryTable::EntryTable(const DecodedCode& decoded) : decoded_(decoded) {
  for (const DecodedCode::Entry& place : decoded.entries) {
    if (place.place == DecodedCode::Place::kHeader) {
      by_instruction_.emplace(place.first, entries_.size());
    }
    entries_.emplace_back(place);
  }
}

std::optional<std::size_t> EntryTable::at(int instruction, std::size_t depth) {
  const auto index = static_cast<std::size_t>(instruction);
  if (!decoded_.is_joined || !decoded_.regular[index] || suspends(decoded_.assembly.instructions[index].opcode) ||
      std::cmp_not_equal(decoded_.shape->depths[index], depth)) {
    return std::nullopt;
  }
  const auto [known, is_new] = by_instruction_.emplace(instruction, entries_.size());
  if (is_new) {
    entries_.emplace_back(
        DecodedCode::Entry{instruction, instruction, static_cast<int>(depth), DecodedCode::Place::kExit});
  }
  return known->second;
}

std::size_t EntryTable::executor_count() const {
  return std::accumulate(begin(), end(), std::size_t{0},
                         [](std::size_t sum, const Entry& entry) { return sum + entry.executors.size(); });
}

std::vector<replay::Executor*> EntryTable::executors() const {
  std::vector<replay::Executor*> all;
  for (const Entry& entry : entries_) {
    std::ranges::transform(entry.executors, std::back_inserter(all), &std::shared_ptr<replay::Executor>::get);
  }
  return all;
}

EntryTable::Position EntryTable::find(const replay::Executor& wanted) {
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const auto& executors = entries_[index].executors;
    const auto found = std::ranges::find(executors, &wanted, &std::shared_ptr<replay::Executor>::get);
    if (found != executors.end()) {
      return {this, index, static_cast<std::size_t>(found - executors.begin())};
    }
  }
  return {};
}

std::shared_ptr<replay::Executor> EntryTable::remove(const Position& position) {
  auto& executors = entries_[position.entry].executors;
  const auto place = executors.begin() + static_cast<std::ptrdiff_t>(position.executor);
  std::shared_ptr<replay::Executor> removed = std::move(*place);
  executors.erase(place);
  return removed;
}

}  // namespace tagalong::runtime
