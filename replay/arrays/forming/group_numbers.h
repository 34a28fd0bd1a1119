// Arithmetic on Python numbers between the array operations of a fusion group. The program cannot notice when it
// happens, so it is done in front of the array operations, on objects, whether the numbers are boxed or not. Results
// that registers need afterwards are written when the fusion group is committed.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>

#include "replay/steps/loop_program.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

struct Step;

inline constexpr std::size_t kMostNumbers = 64;

struct FusionNumber {
  enum class Kind : std::uint8_t {
    kRegister,   // the content of a register at the beginning
    kObject,     // a fixed object
    kStep,       // the result of a step with earlier numbers as operands
    kOperation,  // the result of a loop's operation with earlier numbers as operands
  };
  Kind kind = Kind::kRegister;
  LoopCode code = LoopCode::kStep;
  Unboxed unboxed = Unboxed::kNone;  // the number must have this type and fit into it; kNone: any exact number
  std::int32_t place = -1;
  PyObject* object = nullptr;  // borrowed
  const Step* step = nullptr;
  int left = -1, right = -1;
};

// The registers of a run.
struct NumberRegisters {
  PyObject* const* objects = nullptr;
  const UnboxedNumber* unboxed = nullptr;
  std::span<const Unboxed> kinds;  // empty where there are no unboxed numbers
  [[nodiscard]] bool may_be_unboxed(std::int32_t place) const {
    return static_cast<std::size_t>(place) < kinds.size() && kinds[static_cast<std::size_t>(place)] != Unboxed::kNone;
  }
};

// Null, without an exception: the number does not exist, or computing it takes more than arithmetic.
[[nodiscard]] Ref evaluate(const FusionNumber& number, const NumberRegisters& registers, const Ref* earlier);

// The type of the number that this operation of a loop makes; kNone: a fusion group cannot contain the operation.
[[nodiscard]] Unboxed result_of(const LoopOp& op);

// Changes to a register beside its object.
struct UnboxedRegister {
  std::int32_t place = -1;
  int number = -1;  // index among the numbers of the fusion group
  Unboxed unboxed = Unboxed::kNone;
  bool is_changed = false;
  bool clears = false;  // its old object is dropped
  bool boxes = false;   // it gets a boxed object then
};

}  // namespace tagalong::replay
