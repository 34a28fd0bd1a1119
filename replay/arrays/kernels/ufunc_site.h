// A site is the inline cache of one graph node that executes a NumPy operation: it runs the loop eager NumPy would run,
// without the interpreter and without the ufunc machinery, and checks its operands at every call, so the caller needs
// no guards. Whatever is not an exact case it knows (README.md lists them) gives kFallback: nothing has happened, the
// caller does the general call. Refuses to be called with an exception set. Needs the GIL; sites may be used by several
// threads in turn, and keep nothing of a call while the GIL is released.
//
//   UfuncSite site;                                     // one per node, lives as long as the graph
//   Ref result;
//   switch (site.binary(BinaryOperator::kAdd, left, right, kAnonymous << 0, &result)) {
//     case Outcome::kDone: ...; case Outcome::kError: ...; case Outcome::kFallback: result = PyNumber_Add(left, right)
//   }
#pragma once

#include <Python.h>

#include <cstdint>

#include "replay/arrays/kernels/kernel.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operators.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

struct ElisionCase;

enum class Outcome : std::uint8_t { kDone, kFallback, kError };

// `temporaries`, for operand i (nobody but the caller's one reference looks at the operand again):
//   kAnonymous << i   in the program it is an intermediate result without a name: eager NumPy may compute into it if
//                     nothing else holds it, which is asked here. Must be told exactly for complex operators, where
//                     this changes bits.
//   kDeadName << i    it has a name in the program, but dies here: its memory is reused only where nothing shows.
inline constexpr unsigned kAnonymous = 1;
inline constexpr unsigned kDeadName = 1U << 8U;

struct SiteStats {
  std::uint64_t direct = 0;
  std::uint64_t fallback = 0;
  std::uint64_t elided = 0;  // done here by the in-place operation that eager's temporary elision would do
  std::uint64_t reused = 0;  // of the direct ones: computed into a temporary
};

class UfuncSite {
 public:
  // `before` comes before a report of floating point errors; null: nothing does.
  // `ufunc(*operands)`.
  Outcome call(PyObject* ufunc, PyObject* const* operands, unsigned nin, unsigned temporaries, Ref* result,
               const BeforeReport* before = nullptr);
  // Operators of which at least one operand is an ndarray.
  Outcome binary(BinaryOperator op, PyObject* left, PyObject* right, unsigned temporaries, Ref* result,
                 const BeforeReport* before = nullptr);
  Outcome unary(UnaryOperator op, PyObject* operand, unsigned temporaries, Ref* result,
                const BeforeReport* before = nullptr);
  Outcome compare(int py_op, PyObject* left, PyObject* right, unsigned temporaries, Ref* result,
                  const BeforeReport* before = nullptr);

  [[nodiscard]] const SiteStats& stats() const { return stats_; }

 private:
  struct Request;
  struct Entry {
    PyObject* ufunc = nullptr;
    OperandCodes codes;
    const Kernel* kernel = nullptr;
  };
  static constexpr unsigned kEntries = 3;

  Outcome apply(const Numpy& np, const Request& request, Ref* result);
  Outcome run(const Numpy& np, const Kernel& kernel, const Request& request, OperandCodes codes, Ref* result);
  Outcome power(const Numpy& np, const Request& request, Ref* result);
  [[nodiscard]] const Kernel& find(const Numpy& np, PyObject* ufunc, OperandCodes codes);
  Outcome fallback();
  // After a fallback: eager might have elided.
  Outcome elide(const Numpy& np, const ElisionCase& the_case, Ref* result);

  Entry entries_[kEntries];
  unsigned next_entry_ = 0;
  SiteStats stats_;
};

// The program imported NumPy, and it is one we know.
[[nodiscard]] bool ready();

}  // namespace tagalong::array
