#include "replay/ir/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "replay/ir/literals.h"
#include "replay/ir/operators.h"
#include "rewriter/base/dicts.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {
namespace {

// A short text of one line, with balanced angle brackets (`f.<locals>.<lambda>` is kept).
std::string description(PyObject* object) {
  std::string text;
  if (PyFunction_Check(object)) {
    text = "function " + cpython::readable(reinterpret_cast<PyFunctionObject*>(object)->func_qualname);
  } else if (PyCode_Check(object)) {
    text = "code " + cpython::readable(reinterpret_cast<PyCodeObject*>(object)->co_qualname);
  } else if (PyModule_Check(object)) {
    const char* name = PyModule_GetName(object);
    PyErr_Clear();
    text = fmt::format("module {}", name == nullptr ? "?" : name);
  } else if (PyType_Check(object)) {
    text = fmt::format("class {}", reinterpret_cast<PyTypeObject*>(object)->tp_name);
  } else if (PyCFunction_Check(object)) {
    text = fmt::format("built-in {}", reinterpret_cast<PyCFunctionObject*>(object)->m_ml->ml_name);
  } else {
    text = fmt::format("{} object", Py_TYPE(object)->tp_name);
  }
  int depth = 0;
  bool balanced = true;
  for (const char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    balanced = balanced && depth >= 0;
  }
  for (char& c : text) {
    const bool bracket = c == '<' || c == '>';
    if (c == '\n' || c == '\r' || (bracket && (!balanced || depth != 0))) {
      c = '?';
    }
  }
  return text;
}

// `<class 'float'>` for a type that the builtins module has under its own name.
std::optional<std::string> builtin_type(PyObject* object) {
  if (!PyType_Check(object)) {
    return std::nullopt;
  }
  const char* name = reinterpret_cast<PyTypeObject*>(object)->tp_name;
  PyObject* builtins = PyEval_GetBuiltins();
  if (builtins == nullptr || item_of(builtins, name) != object) {
    return std::nullopt;
  }
  return fmt::format("<class '{}'>", name);
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options) : graph_(graph), options_(options) {}

  std::string print() {
    header();
    for (std::size_t i = 0; i < graph_.frames.size(); ++i) {
      frame(i);
    }
    for (const Node& each : graph_.nodes) {
      node(each);
      out_ += '\n';
    }
    if (options_.snapshots) {
      for (std::size_t i = 0; i < graph_.snapshots.size(); ++i) {
        snapshot(i);
      }
    }
    if (options_.objects) {
      for (std::size_t i = 0; i < objects_.size(); ++i) {
        put("object {}: {}\n", i, description(objects_[i].get()));
      }
    }
    return std::move(out_);
  }

  std::string print_node(std::size_t index) {
    node(graph_.nodes.at(index));
    return std::move(out_);
  }

  std::vector<Ref> take_objects() { return std::move(objects_); }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void header() {
    Value values = 0;
    for (const Node& each : graph_.nodes) {
      values = std::max(values, each.result_count > 0 ? each.first_result + each.result_count : 0);
    }
    if (!graph_.name.empty() || values != graph_.value_count) {
      const Ref name = Ref::steal(
          PyUnicode_DecodeUTF8(graph_.name.data(), static_cast<Py_ssize_t>(graph_.name.size()), "surrogateescape"));
      put("graph {}", literal(name.get()).value_or("''"));
      if (values != graph_.value_count) {
        put(", values {}", graph_.value_count);
      }
      out_ += '\n';
    }
  }

  void frame(std::size_t index) {
    const FrameInfo& info = graph_.frames[index];
    put("frame {}: ", index);
    info.code ? object(info.code.get()) : out_.push_back('-');
    if (info.function != kNoValue) {
      put(", function %{}", info.function);
    }
    if (info.parent != -1) {
      put(", parent {}", info.parent);
    }
    if (info.return_kind != ReturnKind::kPlain) {
      put(", returns {}", kReturnKindNames.at(static_cast<std::size_t>(info.return_kind)));
    }
    if (info.instance != kNoValue) {
      put(", instance %{}", info.instance);
    }
    if (info.pops != 0) {
      put(", pops {}", info.pops);
    }
    if (info.operation != 0) {
      put(", operation {}", info.operation);
    }
    out_ += '\n';
  }

  void node(const Node& node) {
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      put("{}%{}", i == 0 ? "" : ", ", node.first_result + i);
    }
    if (node.result_count > 0) {
      out_ += " = ";
    }
    const OpInfo& row = node.info();
    out_ += row.name;
    if (row.has_int() || node.immediate != 0) {
      const auto text = operator_text(node.op, node.immediate);
      text ? put("[{}]", *text) : put("[{}]", node.immediate);
    }
    if (node.object) {
      out_ += '{';
      object(node.object.get());
      out_ += '}';
    }
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      out_ += i == 0 ? " " : ", ";
      value(node.operands[i]);
    }
    if (node.snapshot != kNoSnapshot) {
      put(" @{}", node.snapshot);
    }
    if (node.group != 0) {
      put(" in group {}", node.group);
    }
    if (options_.lines && node.line != 0) {
      put("  ; line {}", node.line);
    }
  }

  void snapshot(std::size_t index) {
    const Snapshot& each = graph_.snapshots[index];
    put("snapshot {}: frame {}, instruction {}", index, each.frame, each.instruction);
    if (each.parent != kNoSnapshot) {
      put(", parent {}", each.parent);
    }
    out_ += ", locals ";
    values(each.locals);
    out_ += ", stack ";
    values(each.stack);
    if (each.consuming) {
      consuming(each.consuming);
    }
    out_ += '\n';
  }

  void consuming(const Consuming& state) {
    put(", {} values {}, items {}, pops {}, results {}", kConsumerNames.at(static_cast<std::size_t>(state.consumer)),
        state.values, state.items, state.pops, state.results);
    out_ += state.has_item ? ", next" : "";
  }

  void value(Value value) { value == kNoValue ? out_.push_back('-') : put("%{}", value); }

  void values(const Values& values) {
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      value(values[i]);
    }
    out_ += ']';
  }

  void object(PyObject* named) {
    PyObject* object = cpython::watched(named);
    if (object == nullptr) {
      out_ += "<dead>";
    } else if (auto text = literal(object)) {
      out_ += *text;
    } else if (auto type = builtin_type(object)) {
      out_ += *type;
    } else {
      const auto [place, is_new] = numbers_.try_emplace(object, objects_.size());
      if (is_new) {
        objects_.push_back(Ref::create(object));
      }
      put("<#{} {}>", place->second, description(object));
    }
  }

  const Graph& graph_;
  PrintOptions options_;
  std::string out_;
  std::vector<Ref> objects_;
  std::unordered_map<PyObject*, std::size_t> numbers_;
};

bool same_object(const Ref& left_name, const Ref& right_name) {
  PyObject* left = cpython::watched(left_name.get());
  PyObject* right = cpython::watched(right_name.get());
  if (left == right) {
    return left != nullptr || (!left_name && !right_name);
  }
  if (left == nullptr || right == nullptr) {
    return false;
  }
  const auto text = literal(left);
  return text && text == literal(right);
}

bool same_node(const Node& left, const Node& right) {
  return left.op == right.op && left.immediate == right.immediate && left.operands == right.operands &&
         left.first_result == right.first_result && left.result_count == right.result_count &&
         left.snapshot == right.snapshot && left.line == right.line && same_object(left.object, right.object);
}

bool same_frame(const FrameInfo& left, const FrameInfo& right) {
  return left.function == right.function && left.parent == right.parent && left.return_kind == right.return_kind &&
         left.instance == right.instance && left.pops == right.pops && left.operation == right.operation &&
         same_object(left.code, right.code);
}

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(graph, options).print(); }

std::string print_node(const Graph& graph, std::size_t index) { return Printer(graph, {}).print_node(index); }

std::string print_operation(Op op, std::int64_t immediate, PyObject* object) {
  const OpInfo& row = info(op);
  std::string text(row.name);
  if (row.has_int() || immediate != 0) {
    const auto sign = operator_text(op, immediate);
    text += sign ? fmt::format("[{}]", *sign) : fmt::format("[{}]", immediate);
  }
  return object == nullptr ? text : text + fmt::format("{{{}}}", print_object(object));
}

std::string print_object(PyObject* object) {
  PyObject* known = cpython::watched(object);
  if (known == nullptr) {
    return "<dead>";
  }
  const auto text = literal(known);
  return text ? *text : builtin_type(known).value_or(fmt::format("<{}>", description(known)));
}

std::vector<Ref> object_table(const Graph& graph) {
  Printer printer(graph, {});
  static_cast<void>(printer.print());
  return printer.take_objects();
}

bool same_graph(const Graph& left, const Graph& right) {
  return left.name == right.name && left.value_count == right.value_count && left.snapshots == right.snapshots &&
         std::ranges::equal(left.nodes, right.nodes, same_node) &&
         std::ranges::equal(left.frames, right.frames, same_frame);
}

}  // namespace tagalong::replay
