#include "replay/ir/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "rewriter/base/errors.h"

namespace tagalong::replay {
namespace {

// Deeper literals go into the table of objects, so neither direction can exhaust the C stack.
constexpr int kMaxDepth = 30;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Ref checked(PyObject* object) {
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::steal(object);
}

std::string utf8(Borrowed text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.get(), &size);
  if (data == nullptr) {
    throw PythonError();
  }
  return {data, static_cast<std::size_t>(size)};
}

std::optional<std::string> float_text(double value) {
  if (value != value) {  // NaNs with other payloads than these two would not read back
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == std::bit_cast<std::uint64_t>(kNan)) {
      return "nan";
    }
    return bits == std::bit_cast<std::uint64_t>(-kNan) ? std::optional<std::string>("-nan") : std::nullopt;
  }
  const std::unique_ptr<char, decltype(&PyMem_Free)> text(
      PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr), &PyMem_Free);
  if (!text) {
    throw PythonError();
  }
  return text.get();
}

std::string int_text(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    return fmt::format("{}", value);
  }
  return utf8(checked(PyNumber_ToBase(object, 16)).get());  // the interpreter limits the length of decimal text
}

std::optional<std::string> literal_at(PyObject* object, int depth);

std::optional<std::vector<std::string>> items_text(PyObject* iterable, int depth) {
  std::vector<std::string> texts;
  const Ref iterator = checked(PyObject_GetIter(iterable));
  while (const Ref item = Ref::steal(PyIter_Next(iterator.get()))) {
    auto text = literal_at(item.get(), depth + 1);
    if (!text) {
      return std::nullopt;
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

std::optional<std::string> literal_at(PyObject* object, int depth) {
  if (object == nullptr || depth > kMaxDepth) {
    return std::nullopt;
  }
  if (object == Py_None || object == Py_True || object == Py_False || object == Py_Ellipsis ||
      PyUnicode_CheckExact(object) || PyBytes_CheckExact(object)) {
    return utf8(checked(Py_TYPE(object)->tp_repr(object)).get());  // PyObject_Repr() would run signal handlers
  }
  if (PyLong_CheckExact(object)) {
    return int_text(object);
  }
  if (PyFloat_CheckExact(object)) {
    return float_text(PyFloat_AS_DOUBLE(object));
  }
  if (PyComplex_CheckExact(object)) {
    const auto real = float_text(PyComplex_RealAsDouble(object));
    const auto imaginary = float_text(PyComplex_ImagAsDouble(object));
    return real && imaginary ? std::optional(fmt::format("complex({}, {})", *real, *imaginary)) : std::nullopt;
  }
  if (PyTuple_CheckExact(object)) {
    const auto texts = items_text(object, depth);
    if (!texts) {
      return std::nullopt;
    }
    return fmt::format("({}{})", fmt::join(*texts, ", "), texts->size() == 1 ? "," : "");
  }
  if (PyFrozenSet_CheckExact(object)) {
    auto texts = items_text(object, depth);
    if (!texts) {
      return std::nullopt;
    }
    std::sort(texts->begin(), texts->end());  // the order of a set is not part of its value
    return fmt::format("frozenset({})", fmt::join(*texts, ", "));
  }
  return std::nullopt;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

class LiteralParser {
 public:
  LiteralParser(std::string_view text, std::size_t position) : text_(text), position_(position) {}

  [[nodiscard]] std::size_t position() const { return position_; }

  Ref parse(int depth = 0) {
    if (depth > kMaxDepth) {
      fail("literal nested too deeply");
    }
    skip_blanks();
    if (peek() == '(') {
      return sequence(depth, /*frozen=*/false);
    }
    if (peek() == '\'' || peek() == '"') {
      return string(/*bytes=*/false);
    }
    if (peek() == 'b' && (peek(1) == '\'' || peek(1) == '"')) {
      ++position_;
      return string(/*bytes=*/true);
    }
    return word(depth);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw LiteralError(message, position_); }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void skip_blanks() {
    while (peek() == ' ') {
      ++position_;
    }
  }
  void expect(char wanted) {
    skip_blanks();
    if (peek() != wanted) {
      fail(fmt::format("expected '{}'", wanted));
    }
    ++position_;
  }

  Ref sequence(int depth, bool frozen) {
    expect('(');
    Ref items = checked(PyList_New(0));
    bool comma = false;
    for (skip_blanks(); peek() != ')'; skip_blanks()) {
      if (PyList_GET_SIZE(items.get()) != 0 && !comma) {
        fail("expected ',' or ')'");
      }
      if (PyList_Append(items.get(), parse(depth + 1).get()) < 0) {
        throw PythonError();
      }
      skip_blanks();
      comma = peek() == ',';
      position_ += comma ? 1 : 0;
    }
    if (!frozen && PyList_GET_SIZE(items.get()) == 1 && !comma) {
      fail("a tuple of one item needs a comma");
    }
    ++position_;
    return checked(frozen ? PyFrozenSet_New(items.get()) : PyList_AsTuple(items.get()));
  }

  std::uint32_t hex(int digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < digits; ++i, ++position_) {
      const char c = peek();
      const bool is_digit = c >= '0' && c <= '9';
      if (!is_digit && !(c >= 'a' && c <= 'f')) {
        fail("expected a hexadecimal digit");
      }
      value = value * 16 + static_cast<std::uint32_t>(is_digit ? c - '0' : c - 'a' + 10);
    }
    if (value > 0x10FFFF) {
      fail("no such code point");
    }
    return value;
  }

  void escape(std::string& out, bool bytes) {
    ++position_;
    const char kind = peek();
    ++position_;
    switch (kind) {
      case '\\':
      case '\'':
      case '"':
        out.push_back(kind);
        return;
      case 'n':
        out.push_back('\n');
        return;
      case 'r':
        out.push_back('\r');
        return;
      case 't':
        out.push_back('\t');
        return;
      case 'x': {
        const std::uint32_t value = hex(2);
        bytes ? out.push_back(static_cast<char>(value)) : append_utf8(out, value);
        return;
      }
      case 'u':
      case 'U':
        if (!bytes) {
          append_utf8(out, hex(kind == 'u' ? 4 : 8));
          return;
        }
        [[fallthrough]];
      default:
        --position_;
        fail("unknown escape");
    }
  }

  Ref string(bool bytes) {
    const char quote = peek();
    std::string content;
    for (++position_; peek() != quote;) {
      if (position_ >= text_.size() || peek() == '\n') {
        fail("string without end");
      }
      if (peek() == '\\') {
        escape(content, bytes);
      } else {
        content.push_back(text_[position_++]);
      }
    }
    ++position_;
    const auto size = static_cast<Py_ssize_t>(content.size());
    if (bytes) {
      return checked(PyBytes_FromStringAndSize(content.data(), size));
    }
    PyObject* result = PyUnicode_DecodeUTF8(content.data(), size, "surrogatepass");
    if (result == nullptr) {
      PyErr_Clear();
      fail("string is not UTF-8");
    }
    PyUnicode_InternInPlace(&result);
    return Ref::steal(result);
  }

  Ref word(int depth) {
    const std::size_t start = position_;
    const auto is_part = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
             c == '+';
    };
    while (is_part(peek())) {
      ++position_;
    }
    const std::string token(text_.substr(start, position_ - start));
    if (token == "None" || token == "True" || token == "False" || token == "Ellipsis") {
      PyObject* named = token == "None"    ? Py_None
                        : token == "True"  ? Py_True
                        : token == "False" ? Py_False
                                           : Py_Ellipsis;
      return Ref::create(named);
    }
    if (token == "frozenset") {
      return sequence(depth, /*frozen=*/true);
    }
    if (token == "complex") {
      return complex(depth);
    }
    position_ = start;
    Ref number = parse_number(token);
    position_ = start + token.size();
    return number;
  }

  Ref complex(int depth) {
    const Ref parts = sequence(depth, /*frozen=*/false);
    if (PyTuple_GET_SIZE(parts.get()) != 2 || !PyFloat_CheckExact(PyTuple_GET_ITEM(parts.get(), 0)) ||
        !PyFloat_CheckExact(PyTuple_GET_ITEM(parts.get(), 1))) {
      fail("complex takes two floats");
    }
    return checked(PyComplex_FromDoubles(PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(parts.get(), 0)),
                                         PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(parts.get(), 1))));
  }

  Ref parse_number(const std::string& token) {
    if (token == "nan" || token == "-nan") {
      return checked(PyFloat_FromDouble(token == "nan" ? kNan : -kNan));
    }
    const bool hexadecimal = token.find('x') != std::string::npos;
    const bool is_float = !hexadecimal && token.find_first_of(".ein") != std::string::npos;
    char* end = nullptr;
    Ref number =
        Ref::steal(is_float ? PyFloat_FromDouble(PyOS_string_to_double(token.c_str(), &end, PyExc_OverflowError))
                            : PyLong_FromString(token.c_str(), &end, 0));
    const bool whole = end == token.c_str() + token.size();
    if (!number || PyErr_Occurred() != nullptr || !whole || token.empty()) {
      PyErr_Clear();
      fail(token.empty() ? "expected a literal" : fmt::format("'{}' is no literal", token));
    }
    return number;
  }

  std::string_view text_;
  std::size_t position_;
};

}  // namespace

std::optional<std::string> literal(Borrowed object) { return literal_at(object.get(), 0); }

Ref parse_literal(std::string_view text, std::size_t& position) {
  LiteralParser parser(text, position);
  Ref result = parser.parse();
  position = parser.position();
  return result;
}

}  // namespace tagalong::replay
