// Arithmetic on Python numbers that stands between the array operations of a fusion group. Nobody sees when it happens,
// so it is done in front of them, on objects, whatever registers the numbers are in; what of it has to be in registers
// afterwards gets there when the fusion group is committed.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>

#include "replay/steps/loop_program.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

struct Step;

inline constexpr std::size_t kMostNumbers = 24;

struct FusionNumber {
  enum class Kind : std::uint8_t {
    kRegister,   // what a register has at the beginning
    kObject,     // always the same
    kStep,       // of a step, of earlier numbers
    kOperation,  // of an operation of a loop
  };
  Kind kind = Kind::kRegister;
  LoopCode code = LoopCode::kStep;
  Unboxed unboxed = Unboxed::kNone;  // it must be such a number, and fit; none: any exact one
  std::int32_t place = -1;
  PyObject* object = nullptr;  // borrowed
  const Step* step = nullptr;
  int left = -1, right = -1;
};

// The registers of a run.
struct NumberRegisters {
  PyObject* const* objects = nullptr;
  const UnboxedNumber* unboxed = nullptr;
  std::span<const Unboxed> kinds;  // empty where there are no raw numbers
  [[nodiscard]] bool may_be_unboxed(std::int32_t place) const {
    return static_cast<std::size_t>(place) < kinds.size() && kinds[static_cast<std::size_t>(place)] != Unboxed::kNone;
  }
};

// Null, without an exception: there is none, or it takes more than arithmetic.
[[nodiscard]] Ref evaluate(const FusionNumber& number, const NumberRegisters& registers, const Ref* earlier);

// Whether a fusion group can have this operation of a loop, and which number it makes.
[[nodiscard]] Unboxed result_of(const LoopOp& op);

// Something else of a register than its object.
struct UnboxedRegister {
  std::int32_t place = -1;
  int number = -1;  // what it is, among the numbers of the fusion group
  Unboxed unboxed = Unboxed::kNone;
  bool is_changed = false;
  bool clears = false;  // its old object goes
  bool boxes = false;   // it has an object then
};

}  // namespace tagalong::replay
