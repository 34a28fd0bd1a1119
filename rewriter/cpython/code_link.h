// Code objects that we derive from an original refer to it (in CPython's co_extra). So a function is recognised
// whichever of its code objects is installed, and Python programs are shown the code object that they know
// (black_box.h). A derived code object owns the objects that it refers to.
//
// There are two relations. They differ for modules whose functions are traced from the start:
//   - the original is the code object from which a derived one was made, with the constants that we want it to have;
//   - the shown code is what the compiler made: the only code object that a program ever sees.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/first_call.h"

namespace tagalong::cpython {

// Maps each code unit of derived code to a unit of the original. An added unit (of a hook or a stub) maps to the
// instruction that it belongs to, and is marked as added.
class UnitMap {
 public:
  UnitMap() = default;  // the identity: both have the same units
  explicit UnitMap(std::size_t size) : entries_(size, added(0)) {}

  void set_own(int unit, int original) { entries_[static_cast<std::size_t>(unit)] = original; }
  void set_added(int unit, int original) { entries_[static_cast<std::size_t>(unit)] = added(original); }

  // The unit of the original. A unit outside of the code maps to itself.
  [[nodiscard]] int original(int unit) const;
  [[nodiscard]] bool is_own(int unit) const;
  // The unit in derived code of an instruction of the original, -1 if there is none.
  [[nodiscard]] int derived(int original) const;

 private:
  static std::int32_t added(int original) { return -1 - original; }

  std::vector<std::int32_t> entries_;  // an added unit is stored as -1 - original
};

// False with an exception set when there is no memory.
bool set_original(PyCodeObject* derived, PyCodeObject* original, UnitMap units);
// Makes `code` appear as `shown`. `code` has the instructions of `shown`, at the units that `units` says, but may have
// other constants.
bool set_shown(PyCodeObject* code, PyCodeObject* shown, UnitMap units = {});

// The original of a derived code object; for any other code object, the code object itself.
PyCodeObject* original_of(PyCodeObject* code);
// For machine code that reads the link itself. co_extra points to a count, followed by that many pointers. The pointer
// with this number is null, or points to a struct whose first field is the original (null if the code has none).
int link_number();
// For derived code: whether MAKE_FUNCTION uses its original instead. For an original: the derived code that
// MAKE_FUNCTION uses instead, referred to weakly. The third function gives the code to use. False with an exception set
// when memory runs out.
void make_of_original(PyCodeObject* derived, bool is_so);
bool make_of_derived(PyCodeObject* original, const Ref& derived);
PyObject* code_to_make(PyObject* code);
// What programs see of this code object.
PyCodeObject* shown_of(PyCodeObject* code);
// Converts an offset in bytes (f_lasti, tb_lasti) in `code` to one in the code that programs see, and back. An offset
// outside of the code is returned unchanged.
int shown_offset(PyCodeObject* code, int offset);
int real_offset(PyCodeObject* code, int shown);
// Whether programs know the code unit: false for hooks and stubs.
bool is_shown_unit(PyCodeObject* code, int unit);

// Replaces a code object's tuple of constants in place, by one with at least as many: its instructions then make
// functions from the code objects in the new tuple. The old tuple lives as long as the code object. At most twice for
// each code object. False with an exception set when memory runs out.
bool exchange_constants(PyCodeObject* code, Ref constants);
// The tuple that the code was compiled with; borrowed. Null with an exception set when memory runs out.
PyObject* original_constants(PyCodeObject* code);
// Replaces the tuple that original_constants() returns. False with an exception set when memory runs out.
bool set_original_constants(PyCodeObject* code, PyObject* constants);

// Size in bytes of our data in co_extra, which sys.getsizeof() would count; 0 if other users of co_extra have data
// there, too.
Py_ssize_t added_size(PyCodeObject* code);

// A number that the hook for executed code keeps with each code object; initially 0. Setting it does nothing when
// memory runs out.
int execution_mark(PyCodeObject* code);
void set_execution_mark(PyCodeObject* code, int mark);

// Within the scope, the code object (if it is one) has the constants and instructions that it was compiled with, for C
// code that reads them. Scopes must nest. False, with an exception set: out of memory.
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
