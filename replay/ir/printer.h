// A graph as text, one node a line, that parse() (replay/ir/parser.h) reads back as the same graph. Never runs code of
// the user's: objects that are no literals print as `<#k short description>`, k being their place in
// object_table(graph), which parse() wants back; types of the builtins module print as `<class 'float'>`.
//
//   fmt::print("{}", print(graph));
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

struct PrintOptions {
  bool lines = true;      // the source line behind each node
  bool snapshots = true;  // the snapshots, behind the nodes
  bool objects = true;    // the table of objects at the end
};

[[nodiscard]] std::string print(const Graph& graph, const PrintOptions& options = {});
// One node, as print() writes it, without the end of line.
[[nodiscard]] std::string print_node(const Graph& graph, std::size_t index);
// `float_binary[*]{object}`: an operation with its immediates, without operands. Objects have no numbers here.
[[nodiscard]] std::string print_operation(Op op, std::int64_t immediate, PyObject* object);
// A literal, or `<short description>`; of a watch, the object that it watches.
[[nodiscard]] std::string print_object(PyObject* object);
// The objects that print as <#0>, <#1>, ..., in the order of their first appearance.
[[nodiscard]] std::vector<Ref> object_table(const Graph& graph);
// Equal but for the addresses of literals.
[[nodiscard]] bool same_graph(const Graph& left, const Graph& right);

}  // namespace tagalong::replay
