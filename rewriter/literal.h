// Constants as text and back: None, True, False, Ellipsis, numbers, str, bytes, and tuples and frozensets of these
// types. Subclasses have no literal. Text is parsed, never evaluated as an expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rewriter/base/ref.h"

namespace tagalong::rewriter {

// Empty if the object is not such a constant. Throws PythonError.
std::optional<std::string> literal_text(PyObject* object);

// A str as a bare word if it is one, as a quoted literal otherwise.
std::string word_text(PyObject* string);

// A description of any object: its repr, or its type's name if repr() fails; one line of at most `limit` characters.
std::string shown(PyObject* object, std::size_t limit);

// A position in one line of text. The functions move it behind what they have read, and throw RewriteError if the text
// is something else.
class Cursor {
 public:
  Cursor(std::string_view text, int line) : text_(text), line_(line) {}

  [[nodiscard]] bool done();                          // nothing but blanks is left
  [[nodiscard]] bool next_is(std::string_view text);  // does not move
  bool skip(std::string_view text);                   // true if the text was there
  bool skip_word(std::string_view word);              // the same for a whole word
  void expect(std::string_view text);
  std::string_view word();  // a bare word or an operator, up to a blank or a bracket
  std::int64_t integer();
  Ref string_or_word();  // a string as written by word_text
  Ref literal();
  void skip_brackets();  // from "(" to its ")"; brackets in quotes do not count
  [[noreturn]] void fail(std::string_view problem) const;
  [[nodiscard]] int line() const { return line_; }

 private:
  void blanks();
  [[nodiscard]] std::string_view rest() const { return text_.substr(next_); }
  std::string_view quoted();
  std::string_view number();
  Ref evaluated(std::string_view token) const;
  Ref not_a_number();
  Ref sequence(std::string_view close, bool tuple);

  std::string_view text_;
  std::size_t next_ = 0;
  int line_;
  int nesting_ = 0;
};

}  // namespace tagalong::rewriter
