// Code objects that we derive from an original remember it (in CPython's co_extra), so that a function is recognised
// whichever of its code objects is installed, and so that Python programs are shown what they know (black_box.h). A
// derived code object owns what it refers to.
//
// Two relations, which differ for modules whose functions are traced from the start:
//   - the original is what a derived code object was made of, with the constants that we want it to have;
//   - the shown code is what the compiler made: the only code object that a program ever sees.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/first_call.h"

namespace tagalong::cpython {

// For each code unit of derived code the unit of the original that it stands for. What has been added (a hook, a stub)
// stands for the instruction it belongs to and is marked.
class UnitMap {
 public:
  UnitMap() = default;  // the same units
  explicit UnitMap(std::size_t size) : entries_(size, added(0)) {}

  void set_own(int unit, int original) { entries_[static_cast<std::size_t>(unit)] = original; }
  void set_added(int unit, int original) { entries_[static_cast<std::size_t>(unit)] = added(original); }

  // The unit of the original; units outside of the code are their own.
  [[nodiscard]] int original(int unit) const;
  [[nodiscard]] bool is_own(int unit) const;
  // The unit of an original's instruction in derived code, -1 if there is none.
  [[nodiscard]] int derived(int original) const;

 private:
  static std::int32_t added(int original) { return -1 - original; }

  std::vector<std::int32_t> entries_;  // added units: -1 - original
};

// False with an exception set when there is no memory.
bool set_original(PyCodeObject* derived, PyCodeObject* original, UnitMap units);
// `code` is shown as `shown`, of which it has the instructions that `units` names: with other constants, say.
bool set_shown(PyCodeObject* code, PyCodeObject* shown, UnitMap units = {});

// The original of a derived code object, the code object itself otherwise.
PyCodeObject* original_of(PyCodeObject* code);
// For machine code that looks itself: co_extra points to the number of pointers that follow, of which this one, unless
// it is null, points to the original, which is null in code that has none.
int link_number();
// Whether functions shall be made of the original in place of this derived code object, or of `derived`, which is
// referred to weakly, in place of an original; and what they shall be made of. False with an exception set when there
// is no memory.
void make_of_original(PyCodeObject* derived, bool is_so);
bool make_of_derived(PyCodeObject* original, const Ref& derived);
PyObject* code_to_make(PyObject* code);
// What programs see of this code object.
PyCodeObject* shown_of(PyCodeObject* code);
// Offsets in bytes (f_lasti, tb_lasti): of a place in `code` as programs see it, and back. Those that are no place in
// the code at all come back as they were.
int shown_offset(PyCodeObject* code, int offset);
int real_offset(PyCodeObject* code, int shown);
// Whether programs know the code unit: false for hooks and stubs.
bool is_shown_unit(PyCodeObject* code, int unit);

// Gives a code object another tuple of constants, with as many or more behind them, in place: functions that its
// instructions make from then on are made from the code objects in there. The tuple it was compiled with lives as long
// as the code does. For each code object at most twice. False with an exception set when there is no memory.
bool exchange_constants(PyCodeObject* code, Ref constants);
// The tuple the code was compiled with; borrowed. Null with an exception set when there is no memory.
PyObject* original_constants(PyCodeObject* code);
// From now on that is this tuple. False with an exception set when there is no memory.
bool set_original_constants(PyCodeObject* code, PyObject* constants);

// Bytes of what we keep with the code object beside it, unless others keep something there, too: sys.getsizeof() would
// count them.
Py_ssize_t added_size(PyCodeObject* code);

// A number that is kept with the code object for the hook that sees what is executed; 0 at first. Setting it does
// nothing where there is no memory.
int execution_mark(PyCodeObject* code);
void set_execution_mark(PyCodeObject* code, int mark);

// As long as this lives, the code object (if it is one) has the constants and instructions it was compiled with, for C
// code that reads them. Each of these lives within the one before. False, with an exception set: there is no memory.
class OriginalConstants {
 public:
  explicit OriginalConstants(PyObject* object);
  OriginalConstants(OriginalConstants&& other) noexcept
      : as_compiled_(std::move(other.as_compiled_)),
        failed_(other.failed_),
        code_(std::move(other.code_)),
        exchanged_(std::exchange(other.exchanged_, nullptr)) {}
  OriginalConstants(const OriginalConstants&) = delete;
  OriginalConstants& operator=(const OriginalConstants&) = delete;
  OriginalConstants& operator=(OriginalConstants&&) = delete;
  ~OriginalConstants();
  explicit operator bool() const { return !failed_; }

 private:
  std::optional<AsCompiled> as_compiled_;
  bool failed_ = false;
  CodeRef code_;
  PyObject* exchanged_ = nullptr;
};

}  // namespace tagalong::cpython
