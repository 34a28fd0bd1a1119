#include "rewriter/tables.h"

#include <limits>

namespace tagalong::rewriter {

namespace {

constexpr std::uint8_t kStartOfEntry = 0x80;
constexpr std::uint8_t kContinued = 0x40;
constexpr std::uint8_t kPayload = 0x3F;
constexpr int kMaximum = 1 << 30;  // largest number in a table; the compiler has the same limit

// Kinds of line-table entries. The smaller kinds contain the upper bits of a column.
constexpr int kOneLine0 = 10;
constexpr int kOneLine2 = 12;
constexpr int kNoColumns = 13;
constexpr int kLong = 14;
constexpr int kNone = 15;
constexpr int kUnitsPerEntry = 8;

}  // namespace

std::uint8_t LineTableReader::byte() {
  if (next_ >= table_.size()) {
    refuse("line table: the entry at byte {} is cut off", table_.size());
  }
  return table_[next_++];
}

std::int64_t LineTableReader::varint() {
  std::int64_t value = 0;
  for (int shift = 0;; shift += 6) {
    const std::uint8_t next = byte();
    if ((next & kStartOfEntry) != 0 || shift > 30) {
      refuse("line table: malformed number at byte {}", next_ - 1);
    }
    value |= static_cast<std::int64_t>(next & kPayload) << shift;
    if ((next & kContinued) == 0) {
      return value;
    }
  }
}

std::int64_t LineTableReader::signed_varint() {
  const std::int64_t value = varint();
  return (value & 1) != 0 ? -(value >> 1) : value >> 1;
}

void LineTableReader::move_line(std::int64_t delta) {
  const std::int64_t line = line_ + delta;
  if (line < 0 || line > kMaximum) {
    refuse("line table: line {} is out of range", line);
  }
  line_ = static_cast<int>(line);
}

void LineTableReader::read_entry() {
  const std::size_t where = next_;
  const std::uint8_t head = byte();
  if ((head & kStartOfEntry) == 0) {
    refuse("line table: no entry starts at byte {}", where);
  }
  const int kind = (head >> 3) & 15;
  end_ += (head & 7) + 1;
  if (kind == kNone) {
    position_ = kNoPosition;
    return;
  }
  if (kind == kNoColumns) {
    move_line(signed_varint());
    position_ = {line_, line_, -1, -1};
  } else if (kind == kLong) {
    move_line(signed_varint());
    const std::int64_t end_line = line_ + varint();
    const std::int64_t column = varint() - 1;
    const std::int64_t end_column = varint() - 1;
    if (end_line > kMaximum || column > kMaximum || end_column > kMaximum) {
      refuse("line table: a number of the entry at byte {} is out of range", where);
    }
    position_ = {line_, static_cast<int>(end_line), static_cast<int>(column), static_cast<int>(end_column)};
  } else if (kind >= kOneLine0) {
    move_line(kind - kOneLine0);
    const int column = byte();
    position_ = {line_, line_, column, byte()};
  } else {
    move_line(0);
    const int second = byte();
    const int column = kind << 3 | second >> 4;
    position_ = {line_, line_, column, column + (second & 15)};
  }
}

inline void LineTableWriter::start(int kind, int units) { byte(kStartOfEntry | kind << 3 | (units - 1)); }

inline void LineTableWriter::varint(std::uint32_t value) {
  while (value >= kContinued) {
    byte(kContinued | static_cast<int>(value & kPayload));
    value >>= 6;
  }
  byte(static_cast<int>(value));
}

inline void LineTableWriter::signed_varint(int value) {
  varint(value < 0 ? static_cast<std::uint32_t>(-value) << 1 | 1U : static_cast<std::uint32_t>(value) << 1);
}

inline void LineTableWriter::add_entry(const Position& position, int units) {
  if (bytes_.size() - size_ < kLongestEntry) {
    bytes_.resize(2 * bytes_.size());
  }
  const auto& [line, end_line, column, end_column] = position;
  if (line < 0) {
    start(kNone, units);
    return;
  }
  if (line > kMaximum || end_line > kMaximum || column >= kMaximum || end_column >= kMaximum) {
    refuse("position {}:{} to {}:{} is out of range", line, column, end_line, end_column);
  }
  const int delta = line - line_;
  line_ = line;
  if (column < 0 || end_column < 0) {
    if (end_line == line || end_line < 0) {
      start(kNoColumns, units);
      signed_varint(delta);
      return;
    }
  } else if (end_line == line) {
    if (delta == 0 && column < 80 && end_column >= column && end_column - column < 16) {
      start(column >> 3, units);
      byte((column & 7) << 4 | (end_column - column));
      return;
    }
    if (delta >= 0 && delta <= kOneLine2 - kOneLine0 && column < 128 && end_column < 128) {
      start(kOneLine0 + delta, units);
      byte(column);
      byte(end_column);
      return;
    }
  }
  if (end_line < line) {
    refuse("position {}:{} to {}:{} ends before it begins", line, column, end_line, end_column);
  }
  start(kLong, units);
  signed_varint(delta);
  varint(static_cast<std::uint32_t>(end_line - line));
  varint(static_cast<std::uint32_t>(column < 0 ? 0 : column + 1));
  varint(static_cast<std::uint32_t>(end_column < 0 ? 0 : end_column + 1));
}

void LineTableWriter::add(const Position& position, int units) {
  while (units > kUnitsPerEntry) {
    add_entry(position, kUnitsPerEntry);
    units -= kUnitsPerEntry;
  }
  add_entry(position, units);
}

namespace {

class ExceptionTableReader {
 public:
  explicit ExceptionTableReader(Bytes table) : table_(table) {}

  [[nodiscard]] bool at_end() const { return next_ == table_.size(); }

  UnitRange entry() {
    UnitRange range;
    range.start = number(true);
    const int length = number(false);
    range.target = number(false);
    const int depth_and_lasti = number(false);
    range.end = range.start + length;  // both numbers are smaller than kMaximum
    range.depth = depth_and_lasti >> 1;
    range.lasti = (depth_and_lasti & 1) != 0;
    return range;
  }

 private:
  int number(bool first) {
    std::int64_t value = 0;
    bool marked = first;
    while (true) {
      if (next_ >= table_.size()) {
        refuse("exception table: the entry at byte {} is cut off", table_.size());
      }
      const std::uint8_t next = table_[next_++];
      if (((next & kStartOfEntry) != 0) != marked) {
        refuse("exception table: {} at byte {}", marked ? "no entry starts" : "an entry starts too early", next_ - 1);
      }
      marked = false;
      value = value << 6 | (next & kPayload);
      if (value >= kMaximum) {
        refuse("exception table: the number at byte {} is out of range", next_ - 1);
      }
      if ((next & kContinued) == 0) {
        return static_cast<int>(value);
      }
    }
  }

  Bytes table_;
  std::size_t next_ = 0;
};

void write_number(std::vector<std::uint8_t>& table, int value, std::uint8_t mark) {
  for (int shift = 24; shift > 0; shift -= 6) {
    if (value >= 1 << shift) {
      table.push_back(static_cast<std::uint8_t>(mark | kContinued | (value >> shift & kPayload)));
      mark = 0;
    }
  }
  table.push_back(static_cast<std::uint8_t>(mark | (value & kPayload)));
}

}  // namespace

std::vector<UnitRange> read_exception_table(Bytes table) {
  std::vector<UnitRange> ranges;
  ExceptionTableReader reader(table);
  while (!reader.at_end()) {
    const UnitRange range = reader.entry();
    if (!ranges.empty() && range.start < ranges.back().end) {
      refuse("exception table: the range {} to {} is not behind the one before", range.start, range.end);
    }
    if (range.start == range.end) {
      refuse("exception table: the range at {} is empty", range.start);
    }
    ranges.push_back(range);
  }
  return ranges;
}

void write_exception_entry(std::vector<std::uint8_t>& table, const UnitRange& range) {
  write_number(table, range.start, kStartOfEntry);
  write_number(table, range.end - range.start, 0);
  write_number(table, range.target, 0);
  write_number(table, range.depth << 1 | (range.lasti ? 1 : 0), 0);
}

}  // namespace tagalong::rewriter
