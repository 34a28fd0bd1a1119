#include "replay/ir/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "replay/ir/literals.h"
#include "replay/ir/operators.h"
#include "rewriter/base/dicts.h"
#include "rewriter/base/errors.h"

namespace tagalong::replay {

ParseError::ParseError(const std::string& message, int line, int column)
    : std::runtime_error(fmt::format("line {}, column {}: {}", line, column, message)), line_(line), column_(column) {}

namespace {

bool is_name_part(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Ref>& objects) : text_(text), objects_(objects) {}

  Graph parse() {
    while (position_ < text_.size()) {
      skip_blanks();
      if (peek() != '#' && peek() != '\n' && peek() != '\0') {
        statement();
        skip_blanks();
      }
      if (peek() == '#') {
        skip_line();
      }
      if (position_ < text_.size() && peek() != '\n') {
        fail("expected the end of the line");
      }
      ++position_;
    }
    graph_.value_count = std::max(graph_.value_count, values_);
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at(message, position_); }
  [[noreturn]] void fail_at(const std::string& message, std::size_t position) const {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw ParseError(message, static_cast<int>(line), static_cast<int>(column));
  }

  // --- characters and words
  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') {
      ++position_;
    }
  }
  void skip_line() {
    while (position_ < text_.size() && peek() != '\n') {
      ++position_;
    }
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(position_, token.size()) != token) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) {
      fail(fmt::format("expected '{}'", token));
    }
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t start = position_;
    while (is_name_part(peek())) {
      ++position_;
    }
    if (position_ == start) {
      fail("expected a name");
    }
    return text_.substr(start, position_ - start);
  }
  void keyword(std::string_view wanted) {
    skip_blanks();
    const std::size_t start = position_;
    if (word() != wanted) {
      fail_at(fmt::format("expected '{}'", wanted), start);
    }
  }
  template <class Integer>
  Integer integer() {
    skip_blanks();
    Integer value{};
    const char* start = text_.data() + position_;
    const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail("expected an integer");
    }
    position_ += static_cast<std::size_t>(end - start);
    return value;
  }
  Value value() {
    expect("%");
    const std::size_t start = position_;
    const auto number = integer<Value>();
    if (number < 0 || number > kHighestValue) {
      fail_at("no value has this number", start);
    }
    return number;
  }
  Values values() {
    Values list;
    expect("[");
    if (accept("]")) {
      return list;
    }
    do {
      list.push_back(accept("-") ? kNoValue : value());
    } while (accept(","));
    expect("]");
    return list;
  }

  // --- objects
  Ref object() {
    skip_blanks();
    if (accept("<#")) {
      const std::size_t start = position_;
      const auto index = integer<std::size_t>();
      if (index >= objects_.size()) {
        fail_at(fmt::format("object {} is not in the table of {}", index, objects_.size()), start);
      }
      skip_description();
      return objects_[index];
    }
    if (accept("<class '")) {
      return builtin_type();
    }
    try {
      return parse_literal(text_, position_);
    } catch (const LiteralError& error) {
      fail_at(error.what(), error.position());
    }
  }
  void skip_description() {
    for (int depth = 1; depth > 0; ++position_) {
      if (peek() == '\n' || peek() == '\0') {
        fail("expected '>'");
      }
      depth += peek() == '<' ? 1 : peek() == '>' ? -1 : 0;
    }
  }
  Ref builtin_type() {
    const std::size_t start = position_;
    const std::size_t end = text_.find("'>", start);
    const std::string name(text_.substr(start, end == std::string_view::npos ? 0 : end - start));
    PyObject* type = item_of(PyEval_GetBuiltins(), name.c_str());
    if (type == nullptr || !PyType_Check(type)) {
      fail("expected the name of a built-in type");
    }
    position_ = end + 2;
    return Ref::create(type);
  }

  // --- lines
  void statement() {
    if (peek() == '%') {
      node();
      return;
    }
    const std::size_t start = position_;
    const std::string_view first = word();
    if (first == "graph") {
      header();
    } else if (first == "frame") {
      frame();
    } else if (first == "snapshot") {
      snapshot();
    } else if (first == "object") {
      static_cast<void>(integer<std::size_t>());
      expect(":");
      skip_line();
    } else {
      position_ = start;
      node();
    }
  }

  void header() {
    skip_blanks();
    const std::size_t start = position_;
    const Ref name = object();
    const Ref bytes = PyUnicode_CheckExact(name.get())
                          ? Ref::steal(PyUnicode_AsEncodedString(name.get(), "utf-8", "surrogateescape"))
                          : Ref();
    if (!bytes) {
      PyErr_Clear();
      fail_at("expected the name of the graph", start);
    }
    graph_.name.assign(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
    if (accept(",")) {
      keyword("values");
      graph_.value_count = integer<Value>();
    }
  }

  // The number of a frame or snapshot; numbers must be ascending.
  void number(std::size_t wanted) {
    skip_blanks();
    const std::size_t start = position_;
    if (integer<std::size_t>() != wanted) {
      fail_at(fmt::format("expected number {}", wanted), start);
    }
    expect(":");
  }

  ReturnKind return_kind() {
    skip_blanks();
    const std::size_t start = position_;
    const std::string_view text = word();
    for (std::size_t index = 1; index < kReturnKindNames.size(); ++index) {
      if (text == kReturnKindNames[index]) {
        return static_cast<ReturnKind>(index);
      }
    }
    fail_at("expected none, nothing, operator or attribute", start);
  }

  void frame() {
    number(graph_.frames.size());
    FrameInfo info;
    if (!accept("-")) {
      info.code = object();
    }
    while (accept(",")) {
      skip_blanks();
      const std::size_t start = position_;
      const std::string_view field = word();
      if (field == "function") {
        info.function = value();
      } else if (field == "parent") {
        info.parent = integer<std::int32_t>();
      } else if (field == "returns") {
        info.return_kind = return_kind();
      } else if (field == "instance") {
        info.instance = value();
      } else if (field == "pops") {
        info.pops = integer<std::int32_t>();
      } else if (field == "operation") {
        info.operation = integer<std::int32_t>();
      } else {
        fail_at("expected function, parent, returns, instance, pops or operation", start);
      }
    }
    graph_.frames.push_back(std::move(info));
  }

  void snapshot() {
    number(graph_.snapshots.size());
    Snapshot snapshot;
    keyword("frame");
    snapshot.frame = integer<std::int32_t>();
    expect(",");
    keyword("instruction");
    snapshot.instruction = integer<std::int32_t>();
    expect(",");
    if (accept("parent")) {
      snapshot.parent = integer<SnapshotId>();
      expect(",");
    }
    keyword("locals");
    snapshot.locals = values();
    expect(",");
    keyword("stack");
    snapshot.stack = values();
    if (accept(",")) {
      snapshot.consuming = consuming();
    }
    graph_.snapshots.push_back(std::move(snapshot));
  }

  Consuming consuming() {
    Consuming state;
    skip_blanks();
    const std::size_t start = position_;
    const auto name = std::find(kConsumerNames.begin() + 1, kConsumerNames.end(), word());
    if (name == kConsumerNames.end()) {
      fail_at("expected the name of a consumer", start);
    }
    state.consumer = static_cast<Consumer>(name - kConsumerNames.begin());
    keyword("values");
    state.values = integer<std::int32_t>();
    expect(",");
    keyword("items");
    state.items = integer<std::int32_t>();
    expect(",");
    keyword("pops");
    state.pops = integer<std::int32_t>();
    expect(",");
    keyword("results");
    state.results = integer<std::int32_t>();
    if (accept(",")) {
      keyword("next");
      state.has_item = true;
    }
    return state;
  }

  void results(Node& node) {
    do {
      skip_blanks();
      const std::size_t start = position_;
      const Value result = value();
      if (node.result_count == 0) {
        node.first_result = result;
      } else if (result != node.first_result + node.result_count) {
        fail_at("results of a node are numbered without gaps", start);
      }
      ++node.result_count;
    } while (accept(","));
    values_ = std::max(values_, node.first_result + node.result_count);
    expect("=");
  }

  void immediate(Node& node) {
    const std::size_t start = position_;
    const std::size_t end = text_.find(']', start);
    const std::string_view text = text_.substr(start, end == std::string_view::npos ? 0 : end - start);
    if (const auto number = operator_number(node.op, text)) {
      node.immediate = *number;
      position_ = end;
    } else {
      node.immediate = integer<std::int64_t>();
    }
    expect("]");
  }

  void node() {
    Node node;
    if (peek() == '%') {
      results(node);
    }
    skip_blanks();
    const std::size_t start = position_;
    const std::string_view name = word();
    const auto op = op_named(name);
    if (!op) {
      fail_at(fmt::format("no operation is named '{}'", name), start);
    }
    node.op = *op;
    if (peek() == '[') {
      ++position_;
      immediate(node);
    }
    if (peek() == '{') {
      ++position_;
      node.object = object();
      expect("}");
    }
    skip_blanks();
    if (peek() == '%' || peek() == '-') {
      do {
        node.operands.push_back(accept("-") ? kNoValue : value());
      } while (accept(","));
    }
    if (accept("@")) {
      node.snapshot = integer<SnapshotId>();
    }
    if (accept("in")) {
      keyword("group");
      node.group = integer<std::int32_t>();
    }
    if (accept(";")) {
      keyword("line");
      node.line = integer<std::int32_t>();
    }
    graph_.nodes.push_back(std::move(node));
  }

  // No graph has so many values; the limit keeps arithmetic on value numbers from overflowing.
  static constexpr Value kHighestValue = 1 << 24;

  std::string_view text_;
  const std::vector<Ref>& objects_;
  std::size_t position_ = 0;
  Graph graph_;
  Value values_ = 0;
};

}  // namespace

Graph parse(std::string_view text, const std::vector<Ref>& objects) { return Parser(text, objects).parse(); }

}  // namespace tagalong::replay
