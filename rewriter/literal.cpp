#include "rewriter/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <vector>

#include "rewriter/base/errors.h"
#include "rewriter/code.h"

namespace tagalong::rewriter {

namespace {

constexpr int kDeepestNesting = 100;
constexpr std::uint64_t kUsualNan = 0x7FF8000000000000;

Ref checked(PyObject* object) {
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::steal(object);
}

std::string utf8(PyObject* string) {
  // repr() escapes lone surrogates, so only a str returned by a user-defined __repr__ can fail here.
  const Ref bytes = checked(PyUnicode_AsEncodedString(string, "utf-8", "backslashreplace"));
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

std::string repr(PyObject* object) { return utf8(checked(PyObject_Repr(object)).get()); }

std::string float_text(double value) {
  if (std::isnan(value)) {
    // A constant is identical only with the same sign and payload, so NaNs are compared by their bits.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return bits == kUsualNan ? "nan" : fmt::format("nan({:#x})", bits);
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return repr(checked(PyFloat_FromDouble(value)).get());
}

std::optional<std::string> items_text(PyObject* object, int nesting);

std::optional<std::string> nested_text(PyObject* object, int nesting) {
  if (nesting > kDeepestNesting) {
    return std::nullopt;
  }
  if (object == Py_None || object == Py_True || object == Py_False || object == Py_Ellipsis ||
      PyUnicode_CheckExact(object) != 0 || PyBytes_CheckExact(object) != 0) {
    return repr(object);
  }
  if (PyLong_CheckExact(object) != 0) {
    // The interpreter limits the length of decimal text, so large ints are written in hexadecimal.
    const bool large = _PyLong_NumBits(object) > 512;
    return large ? utf8(checked(PyNumber_ToBase(object, 16)).get()) : repr(object);
  }
  if (PyFloat_CheckExact(object) != 0) {
    return float_text(PyFloat_AS_DOUBLE(object));
  }
  if (PyComplex_CheckExact(object) != 0) {
    return fmt::format("complex({}, {})", float_text(PyComplex_RealAsDouble(object)),
                       float_text(PyComplex_ImagAsDouble(object)));
  }
  if (PyTuple_CheckExact(object) != 0 || PyFrozenSet_CheckExact(object) != 0) {
    return items_text(object, nesting);
  }
  return std::nullopt;
}

std::optional<std::string> items_text(PyObject* object, int nesting) {
  const bool tuple = PyTuple_CheckExact(object) != 0;
  const Ref items = checked(PySequence_List(object));
  std::string text = tuple ? "(" : "frozenset({";
  const Py_ssize_t size = PyList_GET_SIZE(items.get());
  for (Py_ssize_t i = 0; i < size; ++i) {
    const auto item = nested_text(PyList_GET_ITEM(items.get(), i), nesting + 1);
    if (!item) {
      return std::nullopt;
    }
    text += (i != 0 ? ", " : "") + *item;
  }
  return text + (!tuple ? "})" : size == 1 ? ",)" : ")");
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '<' || c == '>';
}

}  // namespace

std::optional<std::string> literal_text(PyObject* object) { return nested_text(object, 0); }

std::string word_text(PyObject* string) {
  if (PyUnicode_CheckExact(string) == 0) {
    refuse("a name is not a str but {}", shown(string, 60));
  }
  const std::string text = utf8(string);
  bool plain = !text.empty() && (text[0] < '0' || text[0] > '9');
  for (const char c : text) {
    plain = plain && is_word(c);
  }
  return plain ? text : repr(string);
}

std::string shown(PyObject* object, std::size_t limit) {
  std::string text;
  const Ref as_text = Ref::steal(PyObject_Repr(object));
  if (as_text) {
    text = utf8(as_text.get());
  } else {
    PyErr_Clear();
    text = fmt::format("<{} without repr>", Py_TYPE(object)->tp_name);
  }
  for (char& c : text) {
    c = c == '\n' || c == '\r' ? ' ' : c;
  }
  if (text.size() > limit) {
    text.resize(limit);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80) {
      text.pop_back();
    }
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) {
      text.pop_back();
    }
    text += "...";
  }
  return text;
}

void Cursor::fail(std::string_view problem) const { refuse("line {}: {}", line_, problem); }

void Cursor::blanks() {
  while (next_ < text_.size() && is_blank(text_[next_])) {
    ++next_;
  }
}

bool Cursor::done() {
  blanks();
  return next_ == text_.size();
}

bool Cursor::next_is(std::string_view text) {
  blanks();
  return rest().starts_with(text);
}

bool Cursor::skip(std::string_view text) {
  const bool there = next_is(text);
  next_ += there ? text.size() : 0;
  return there;
}

bool Cursor::skip_word(std::string_view word) {
  const bool there = next_is(word) && (rest().size() == word.size() || !is_word(rest()[word.size()]));
  next_ += there ? word.size() : 0;
  return there;
}

void Cursor::expect(std::string_view text) {
  if (!skip(text)) {
    const std::string_view found = rest().substr(0, 30);
    fail(fmt::format("expected {}, found {}", text, found.empty() ? "the end of the line" : found));
  }
}

std::string_view Cursor::word() {
  blanks();
  const std::size_t start = next_;
  while (next_ < text_.size() && !is_blank(text_[next_]) && text_[next_] != '(') {
    ++next_;
  }
  if (next_ == start) {
    fail("a word is missing");
  }
  return text_.substr(start, next_ - start);
}

std::int64_t Cursor::integer() {
  blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + next_, text_.data() + text_.size(), value);
  if (error != std::errc()) {
    fail(fmt::format("expected a number, found {}", rest().substr(0, 30)));
  }
  next_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

std::string_view Cursor::quoted() {
  const std::size_t start = next_;
  next_ += text_[next_] == 'b' ? 1 : 0;
  const char quote = text_[next_++];
  for (; next_ < text_.size() && text_[next_] != quote; ++next_) {
    next_ += text_[next_] == '\\' ? 1 : 0;
  }
  if (next_ >= text_.size()) {
    next_ = text_.size();
    fail("a quoted text does not end");
  }
  ++next_;
  return text_.substr(start, next_ - start);
}

std::string_view Cursor::number() {
  const std::size_t start = next_;
  next_ += rest().starts_with('-') ? 1 : 0;
  while (next_ < text_.size() && (is_word(text_[next_]) ||
                                  ((text_[next_] == '-' || text_[next_] == '+') && (text_[next_ - 1] | 0x20) == 'e'))) {
    ++next_;
  }
  return text_.substr(start, next_ - start);
}

// `token` is one number or one quoted text; the interpreter parses it.
Ref Cursor::evaluated(std::string_view token) const {
  const Ref globals = checked(PyDict_New());
  const Ref builtins = checked(PyDict_New());
  if (PyDict_SetItemString(globals.get(), "__builtins__", builtins.get()) < 0) {
    throw PythonError();
  }
  Ref value = Ref::steal(PyRun_String(std::string(token).c_str(), Py_eval_input, globals.get(), globals.get()));
  if (!value) {
    PyErr_Clear();
    fail(fmt::format("{} is not a constant", token.substr(0, 60)));
  }
  return value;
}

Ref Cursor::string_or_word() {
  if (next_is("'") || next_is("\"")) {
    return evaluated(quoted());
  }
  const std::size_t start = next_;
  while (next_ < text_.size() && is_word(text_[next_])) {
    ++next_;
  }
  if (next_ == start) {
    fail(fmt::format("expected a name, found {}", rest().substr(0, 30)));
  }
  return checked(PyUnicode_FromStringAndSize(text_.data() + start, static_cast<Py_ssize_t>(next_ - start)));
}

Ref Cursor::sequence(std::string_view close, bool tuple) {
  if (++nesting_ > kDeepestNesting) {
    fail("a constant is nested too deeply");
  }
  const Ref list = checked(PyList_New(0));
  while (!skip(close)) {
    const Ref item = literal();
    if (PyList_Append(list.get(), item.get()) < 0) {
      throw PythonError();
    }
    if (!next_is(close)) {
      expect(",");
    }
  }
  --nesting_;
  return checked(tuple ? PyList_AsTuple(list.get()) : PyFrozenSet_New(list.get()));
}

Ref Cursor::not_a_number() {
  std::uint64_t bits = kUsualNan;
  if (skip("(")) {
    const Ref number = literal();
    bits = PyLong_Check(number.get()) != 0 ? PyLong_AsUnsignedLongLongMask(number.get()) : 0;
    expect(")");
  }
  const auto value = std::bit_cast<double>(bits);
  if (!std::isnan(value)) {
    fail("nan() takes the bits of a float that is not a number");
  }
  return checked(PyFloat_FromDouble(value));
}

Ref Cursor::literal() {
  if (skip("(")) {
    return sequence(")", true);
  }
  if (skip_word("frozenset")) {
    expect("(");
    expect("{");
    Ref set = sequence("}", false);
    expect(")");
    return set;
  }
  if (skip_word("complex")) {
    expect("(");
    const Ref real = literal();
    expect(",");
    const Ref imaginary = literal();
    expect(")");
    if (PyFloat_CheckExact(real.get()) == 0 || PyFloat_CheckExact(imaginary.get()) == 0) {
      fail("complex() takes two floats");
    }
    return checked(PyComplex_FromDoubles(PyFloat_AS_DOUBLE(real.get()), PyFloat_AS_DOUBLE(imaginary.get())));
  }
  const std::pair<std::string_view, PyObject*> singletons[] = {
      {"None", Py_None}, {"True", Py_True}, {"False", Py_False}, {"Ellipsis", Py_Ellipsis}};
  for (const auto& [name, object] : singletons) {
    if (skip_word(name)) {
      return Ref::create(object);
    }
  }
  if (skip_word("nan")) {
    return not_a_number();
  }
  const bool negative = next_is("-inf");
  if (skip_word("inf") || skip_word("-inf")) {
    return checked(PyFloat_FromDouble(negative ? -HUGE_VAL : HUGE_VAL));
  }
  if (next_is("'") || next_is("\"") || next_is("b'") || next_is("b\"")) {
    return evaluated(quoted());
  }
  blanks();
  const std::string_view start = rest();
  const char first = start.empty() ? ' ' : start[start.starts_with('-') && start.size() > 1 ? 1 : 0];
  if (first < '0' || first > '9') {
    fail(fmt::format("expected a constant, found {}", start.substr(0, 30)));
  }
  return evaluated(number());
}

void Cursor::skip_brackets() {
  expect("(");
  for (int open = 1; open > 0;) {
    if (next_ >= text_.size()) {
      fail("a bracket does not end");
    }
    const char c = text_[next_];
    if (c == '\'' || c == '"') {
      quoted();
      continue;
    }
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    ++next_;
  }
}

}  // namespace tagalong::rewriter
