// The dtype that NumPy gives the elements of two operands of np.where, and into which it casts both.
#pragma once

#include "replay/arrays/numpy/operand.h"

namespace tagalong::array {

// kTypeNumbers: the values of numbers decide, or the operands are not plain.
[[nodiscard]] unsigned common_type(const Numpy& np, OperandCode one, OperandCode other);

}  // namespace tagalong::array
