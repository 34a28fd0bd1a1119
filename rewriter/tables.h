// Readers and writers of a code object's two byte tables: positions (line table) and exception ranges. Both work in
// code units; code.h has the same data in instruction indices. Damaged tables are refused with a RewriteError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

using Bytes = std::span<const std::uint8_t>;

// Goes through the entries of a line table in order.
class LineTableReader {
 public:
  LineTableReader(Bytes table, int first_line) : table_(table), line_(first_line) {}

  // Moves to the entry that covers this code unit; the units of successive calls must not decrease. Units behind the
  // last entry have no position.
  const Position& at(int unit) {
    while (unit >= end_ && next_ < table_.size()) {
      read_entry();
    }
    return unit < end_ ? position_ : kNoPosition;
  }

 private:
  void read_entry();
  std::uint8_t byte();
  std::int64_t varint();
  std::int64_t signed_varint();
  void move_line(std::int64_t delta);

  Bytes table_;
  std::size_t next_ = 0;
  int end_ = 0;  // first unit behind the current entry
  int line_;
  Position position_;
};

// Writes the same entries as CPython's compiler: one for each instruction, in the shortest form that can express it.
class LineTableWriter {
 public:
  LineTableWriter(int first_line, std::size_t expected_entries) : line_(first_line) {
    bytes_.resize(expected_entries * 4 + kLongestEntry);
  }
  void add(const Position& position, int units);
  [[nodiscard]] Bytes bytes() const { return Bytes(bytes_).first(size_); }

 private:
  static constexpr std::size_t kLongestEntry = 32;  // one byte and four numbers of at most six bytes

  void add_entry(const Position& position, int units);
  void start(int kind, int units);
  void byte(int value) { bytes_[size_++] = static_cast<std::uint8_t>(value); }
  void varint(std::uint32_t value);
  void signed_varint(int value);

  std::vector<std::uint8_t> bytes_;  // larger than the written part, so that writing needs no bounds checks
  std::size_t size_ = 0;
  int line_;
};

struct UnitRange {
  int start = 0;
  int end = 0;
  int target = 0;
  int depth = 0;
  bool lasti = false;
};

std::vector<UnitRange> read_exception_table(Bytes table);
void write_exception_entry(std::vector<std::uint8_t>& table, const UnitRange& range);

}  // namespace tagalong::rewriter
