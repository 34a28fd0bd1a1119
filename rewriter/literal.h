// Constants as text, and back: None, True, False, Ellipsis, numbers, str, bytes, and tuples and frozensets of them, of
// exactly these types. Text is parsed, never evaluated as an expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rewriter/base/ref.h"

namespace tagalong::rewriter {

// Empty if the object is not such a constant. Throws PythonError.
std::optional<std::string> literal_text(PyObject* object);

// A str as a bare word if it is a plain one, as a quoted literal otherwise.
std::string word_text(PyObject* string);

// What any object looks like: its repr, or the type's name where that fails; at most `limit` characters of one line.
std::string shown(PyObject* object, std::size_t limit);

// A place in one line of text. The functions move it behind what they read and throw RewriteError where they cannot.
class Cursor {
 public:
  Cursor(std::string_view text, int line) : text_(text), line_(line) {}

  [[nodiscard]] bool done();                          // nothing but blanks is left
  [[nodiscard]] bool next_is(std::string_view text);  // and does not move
  bool skip(std::string_view text);                   // true: was there
  bool skip_word(std::string_view word);              // the same for a whole word
  void expect(std::string_view text);
  std::string_view word();  // a bare word or an operator, up to a blank or a bracket
  std::int64_t integer();
  Ref string_or_word();  // as written by word_text
  Ref literal();
  void skip_brackets();  // from "(" to its ")", quotes respected
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
