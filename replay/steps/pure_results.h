// Steps that only read objects or compute numbers, for operands at which they run no code of the program: attributes of
// ordinary instances, items of lists, tuples and dicts, shapes of arrays, arithmetic, functions of `math`. The program
// cannot see when such a step happens, unless what it reads has changed in between.
#pragma once

#include <Python.h>

#include <span>

#include "replay/steps/step.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

// The step's result; of a step with several results, the one with this number. Empty, without an exception: the step
// may run code of the program or change something, it would raise, or the result does not exist. The operands may be of
// any kind, or null: the guards in front of the step are checked later.
[[nodiscard]] Ref pure_result(const Step& step, std::span<PyObject* const> operands, int number);
// Whether the result depends on the elements of an array, which other operations may change.
[[nodiscard]] bool reads_elements(const Step& step, std::span<PyObject* const> operands);

}  // namespace tagalong::replay
