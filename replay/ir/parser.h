// Parses the text of a graph (replay/ir/printer.h). Malformed text is refused with a ParseError, which has the line and
// column; well-formed graphs that are wrong (a use before the definition, ...) are left to verify(). Blank lines and
// lines that start with # are skipped; frames and snapshots may be anywhere, each in ascending order.
//
//   Graph graph = parse("%0 = param[0]\nreturn_value %0\n");
//   Graph again = parse(print(graph), object_table(graph));
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

class ParseError : public std::runtime_error {
 public:
  ParseError(const std::string& message, int line, int column);
  [[nodiscard]] int line() const { return line_; }      // from 1
  [[nodiscard]] int column() const { return column_; }  // from 1, in bytes

 private:
  int line_;
  int column_;
};

[[nodiscard]] Graph parse(std::string_view text, const std::vector<Ref>& objects = {});

}  // namespace tagalong::replay
