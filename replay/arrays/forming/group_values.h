// Values between the array operations of a fusion group that only need reading and arithmetic: numbers, attributes,
// items, shapes. The program cannot notice when they are computed, so it is done in front of the array operations, on
// objects, whether numbers are boxed or not. Results that registers need afterwards are written when the fusion group
// is committed.
#pragma once

#include <Python.h>

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/steps/loop_program.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

struct Step;

inline constexpr std::size_t kMostValues = 64;

struct GroupValue {
  enum class Kind : std::uint8_t {
    kRegister,   // the content of a register at the beginning
    kObject,     // a fixed object
    kStep,       // the result of a step with earlier values as operands
    kOperation,  // the result of a loop's operation with earlier values as operands
  };
  static constexpr int kNull = -1;

  Kind kind = Kind::kRegister;
  LoopCode code = LoopCode::kStep;
  Unboxed unboxed = Unboxed::kNone;  // the value must be a number of this type that fits into it; kNone: any object
  std::int32_t place = -1;
  PyObject* object = nullptr;  // borrowed
  const Step* step = nullptr;
  int result = 0;                                        // number of the step's result
  boost::container::small_vector<int, 3> operands = {};  // numbers of values, or kNull
};

// The registers of a run.
struct GroupRegisters {
  PyObject* const* objects = nullptr;
  const UnboxedNumber* unboxed = nullptr;
  std::span<const Unboxed> kinds;  // empty where there are no unboxed numbers
  [[nodiscard]] bool may_be_unboxed(std::int32_t place) const {
    return static_cast<std::size_t>(place) < kinds.size() && kinds[static_cast<std::size_t>(place)] != Unboxed::kNone;
  }
};

// Empty, without an exception: the value does not exist, or computing it takes more than reading and arithmetic.
[[nodiscard]] Ref evaluate(const GroupValue& value, const GroupRegisters& registers, const Ref* earlier);
// Whether a step gives the same result as another one, of the same operands.
[[nodiscard]] bool computes_the_same(const GroupValue& one, const GroupValue& other);
// Whether the value depends on what lists or dicts contain.
[[nodiscard]] bool reads_containers(const GroupValue& value, const Ref* earlier);
// Whether the value depends on the elements of arrays.
[[nodiscard]] bool reads_elements(const GroupValue& value, const Ref* earlier);

// Whether a guard inside a group holds for this object; null where there is none.
[[nodiscard]] bool holds(const Step& guard, PyObject* object);

// The type of the number that this operation of a loop makes; kNone: a fusion group cannot contain the operation.
[[nodiscard]] Unboxed result_of(const LoopOp& op);

// Changes to a register beside its object.
struct UnboxedRegister {
  std::int32_t place = -1;
  int number = -1;  // index among the values of the fusion group
  Unboxed unboxed = Unboxed::kNone;
  bool is_changed = false;
  bool clears = false;  // its old object is dropped
  bool boxes = false;   // it gets a boxed object then
};

}  // namespace tagalong::replay
