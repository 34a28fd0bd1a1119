// The entries of a code object: the places where executors are attached, and the stubs in the replay code that ask for
// them. The table owns the executors. It grows by the targets of side exits and never shrinks, so references to its
// entries stay valid.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/code/decoded_code.h"
#include "replay/executor/executor.h"

namespace tagalong::runtime {

// What recordings from one entry came to (policy/recording_policy.h).
struct Attempts {
  int failures = 0;     // recordings in a row that gave no executor, or only a part of one
  int short_lived = 0;  // executors that an object's death has removed before they were of use
  int loss = 0;         // ns that a round would take longer; not 0: for that reason no executor is attached
  int over_budget = 0;  // calls that were not recorded because the recording budget was used up
  int heat = 0;         // arrivals since the last recording that were not replayed

  void reset() { failures = loss = over_budget = 0; }
};

// The instructions of an entry in the replay code. Positions are code units.
struct Stub {
  int first = 0;     // the stub's first instruction
  int before = 0;    // the instruction in front of it
  int original = 0;  // the original instruction behind it
  bool is_closed = false;

  // The first instruction becomes a jump to the original one. False: the jump is too long, the stub stays open.
  bool close(PyCodeObject* replay_code);
  void open(PyCodeObject* replay_code);

 private:
  std::uint16_t first_unit_ = 0;  // what was at `first` before the stub was closed
};

struct Entry : replay::Attached {
  using Kind = recorder::DecodedCode::Place;

  explicit Entry(const recorder::DecodedCode::Entry& entry_place) : place(entry_place) {}

  recorder::DecodedCode::Entry place;
  Stub stub;
  Attempts attempts;

  [[nodiscard]] bool is(Kind kind) const { return place.place == kind; }
  // False: executors are reached from other executors only.
  [[nodiscard]] bool has_stub() const { return !is(Kind::kExit); }
};

class EntryTable {
 public:
  // `decoded` must outlive the table.
  explicit EntryTable(const recorder::DecodedCode& decoded);

  // In the order of DecodedCode::entries: the call comes first. Entries of side exits follow.
  Entry& operator[](std::size_t index) { return entries_[index]; }
  const Entry& operator[](std::size_t index) const { return entries_[index]; }
  Entry& front() { return entries_.front(); }
  [[nodiscard]] const Entry& front() const { return entries_.front(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  // The entry where a frame continues with this instruction and a stack of this depth; it is added if it is missing.
  // None: executors cannot start there.
  std::optional<std::size_t> at(int instruction, std::size_t depth);

  [[nodiscard]] std::size_t executor_count() const;
  [[nodiscard]] std::vector<replay::Executor*> executors() const;

  // Where an executor is attached; false: it is attached no longer.
  struct Position {
    EntryTable* table = nullptr;
    std::size_t entry = 0;
    std::size_t executor = 0;
    explicit operator bool() const { return table != nullptr; }
    [[nodiscard]] std::shared_ptr<replay::Executor>& get() const { return (*table)[entry].executors[executor]; }
  };
  Position find(const replay::Executor& wanted);
  std::shared_ptr<replay::Executor> remove(const Position& position);

 private:
  const recorder::DecodedCode& decoded_;
  std::deque<Entry> entries_;
  std::unordered_map<int, std::size_t> by_instruction_;  // loop headers and targets of side exits
};

}  // namespace tagalong::runtime
