// A graph as text, one node a line; parse() (replay/ir/parser.h) reads it back as the same graph. Never runs user code:
// objects without a literal print as `<#k short description>`, where k is the index in object_table(graph), which
// parse() needs; types of the builtins module print as `<class 'float'>`.
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
// One node as print() writes it, without the newline.
[[nodiscard]] std::string print_node(const Graph& graph, std::size_t index);
// `float_binary[*]{object}`: an operation with its immediates, without operands. Objects are not numbered here.
[[nodiscard]] std::string print_operation(Op op, std::int64_t immediate, PyObject* object);
// A literal, or `<short description>`; for a watch, the watched object.
[[nodiscard]] std::string print_object(PyObject* object);
// The objects that print as <#0>, <#1>, ..., in the order of their first appearance.
[[nodiscard]] std::vector<Ref> object_table(const Graph& graph);
// Compares two graphs, ignoring the addresses in literals.
[[nodiscard]] bool same_graph(const Graph& left, const Graph& right);

}  // namespace tagalong::replay
