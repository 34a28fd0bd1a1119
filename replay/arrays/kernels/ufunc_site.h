// A site is the inline cache of one graph node that executes a NumPy operation. It runs the loop that eager NumPy would
// run, without the interpreter and without the ufunc machinery. It checks its operands at every call, so the caller
// needs no guards. In any other case it returns kFallback: nothing has happened, and the caller makes the general call.
// It must not be called with an exception set. Needs the GIL; several threads may use a site in turn, because it keeps
// no state of a call while the GIL is released.
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

// Bits of `temporaries` for operand i, which the program does not use again after this operation:
//   kAnonymous << i   the operand is an intermediate result without a name. Eager NumPy may compute into it if it has
//                     no other reference, which the site checks. The bit must be exact for complex operators, whose
//                     results depend on it.
//   kDeadName << i    the operand has a name in the program. Its memory is reused only without a visible effect.
inline constexpr unsigned kAnonymous = 1;
inline constexpr unsigned kDeadName = 1U << 8U;

struct SiteStats {
  std::uint64_t direct = 0;
  std::uint64_t fallback = 0;
  std::uint64_t elided = 0;  // computed in place, as eager's temporary elision does
  std::uint64_t reused = 0;  // direct calls that computed into a temporary
};

class UfuncSite {
 public:
  // Executes `ufunc(*operands)`. `before` is called before a report of floating point errors; it may be null.
  Outcome call(PyObject* ufunc, PyObject* const* operands, unsigned nin, unsigned temporaries, Ref* result,
               const BeforeReport* before = nullptr);
  // Executes an operator; at least one operand has to be an ndarray.
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
  // Tries temporary elision after a fallback.
  Outcome elide(const Numpy& np, const ElisionCase& the_case, Ref* result);

  Entry entries_[kEntries];
  unsigned next_entry_ = 0;
  SiteStats stats_;
};

// Whether the program has imported NumPy, in a supported version.
[[nodiscard]] bool ready();

}  // namespace tagalong::array
