// A loop that closes a trace: its operations run round after round, numbers without objects, until one of them leaves.
#include <fmt/format.h>
#include <opcode.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "replay/executor/interpreter.h"
#include "replay/executor/trace_linking.h"
#include "replay/ir/stages.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/operations.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/cpython/exact_numbers.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/iterators.h"
#include "rewriter/cpython/places.h"

namespace tagalong::replay {
namespace {

constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // ints below it have one digit
constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to it are floats without rounding
constexpr std::int64_t kBits = 64;

bool fits_digit(std::int64_t number) { return -kDigit < number && number < kDigit; }
bool fits_float(std::int64_t number) { return -kExactInFloat <= number && number <= kExactInFloat; }
std::uint64_t magnitude(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

// Rounds towards minus infinity, as Python does; the caller has looked for what does not go.
std::int64_t floor_divide(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  return quotient - ((left % right != 0 && (left < 0) != (right < 0)) ? 1 : 0);
}

std::int64_t floor_remainder(std::int64_t left, std::int64_t right) {
  const std::int64_t remainder = left % right;
  return remainder + ((remainder != 0 && (remainder < 0) != (right < 0)) ? right : 0);
}

bool shift_left(std::int64_t left, std::int64_t right, std::int64_t* result) {
  if (right < 0 || (right >= kBits - 1 && left != 0)) {
    return false;
  }
  const auto shifted = left == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(left) << right);
  *result = shifted;
  return left == 0 || (shifted >> right) == left;
}

// Large ints are divided by CPython, which rounds once.
bool true_divide(std::int64_t left, std::int64_t right, double* result) {
  if (right == 0) {
    return false;
  }
  if (fits_float(left) && fits_float(right)) {
    *result = static_cast<double>(left) / static_cast<double>(right);
    return true;
  }
  const cpython::SignalsWait wait;
  const Ref dividend = Ref::steal(PyLong_FromLongLong(left));
  const Ref divisor = Ref::steal(PyLong_FromLongLong(right));
  const Ref quotient = dividend && divisor ? Ref::steal(PyNumber_TrueDivide(dividend.get(), divisor.get())) : Ref();
  if (!quotient) {
    PyErr_Clear();
    return false;
  }
  *result = PyFloat_AS_DOUBLE(quotient.get());
  return true;
}

}  // namespace

bool Interpreter::enter_loop() {
  const LoopProgram& program = executor_.loop_;
  for (const LoopProgram::Entry& entry : program.invariants) {
    if (!unbox(registers_[entry.from], entry.unboxed, &unboxed_[entry.to])) {
      return false;
    }
  }
  for (const LoopProgram::Entry& entry : program.parameters) {
    if (!unbox(registers_[entry.from], entry.unboxed, &unboxed_[entry.to])) {
      return false;
    }
  }
  for (const LoopProgram::Entry& entry : program.parameters) {
    registers_[entry.to] = Py_NewRef(registers_[entry.from]);
  }
  return true;
}

inline std::size_t Interpreter::level_of_round(const Step& header) const {
  return executor_.snapshots_[static_cast<std::size_t>(header.snapshot)].chain.size() - 1;
}

// The values of the frame that goes round are others now, under the same names; those of its callers stay.
inline void Interpreter::begin_round(const Step& header) {
  const std::size_t level = level_of_round(header);
  if (std::cmp_less(level, run_.depth)) {
    run_.synced_keys[level] = -1;
  }
}

Outcome Interpreter::run_loop(const Step& header) {
  constexpr std::size_t kOnStack = 256;
  std::array<UnboxedNumber, kOnStack> small;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled where it is used
  std::vector<UnboxedNumber> large;
  unboxed_ = small.data();
  if (static_cast<std::size_t>(executor_.register_count_) > kOnStack) {
    large.resize(static_cast<std::size_t>(executor_.register_count_));
    unboxed_ = large.data();
  }
  if (!enter_loop()) {
    unboxed_ = nullptr;  // nothing has been made yet
    return finish(header, StepResult::kGuardFailed);
  }
  const std::int32_t* drops =
      executor_.registers_used_.data() + header.operands + header.operand_count + header.result_count;
  for (std::uint16_t index = 0; index < header.drop_count; ++index) {
    Py_CLEAR(registers_[drops[index]]);
  }
  return go_on(header);
}

Outcome Interpreter::resume(UnboxedNumber* unboxed) {
  unboxed_ = unboxed;
  return go_on(executor_.steps_[executor_.direct_.header]);
}

#ifdef TAGALONG_CHECKS
// Where a trace begins its parameters have what they are for, and no other register has anything.
void Interpreter::check_entry(std::size_t member) const {
  const DirectEntry& entry = executor_.members_[member].entry;
  for (std::int32_t place = executor_.constant_count_; place < executor_.register_count_; ++place) {
    const auto parameter = std::ranges::find(entry.parameters, place, &DirectEntry::Parameter::to);
    const bool is_right = parameter == entry.parameters.end()
                              ? registers_[place] == nullptr
                              : parameter->unboxed != Unboxed::kNone || registers_[place] != nullptr;
    TAGALONG_CHECK(is_right, "register {} is {} where trace {} of {} begins", place,
                   registers_[place] == nullptr ? "empty" : "not empty", member, executor_.graph_.name);
  }
}
#endif

Outcome Interpreter::go_on(const Step& header) {
  header_ = &header;
  show_place(header.snapshot);
  begin_round(header);
  run_.gain += executor_.gain_.round;
  const LoopOp* op = go_native(executor_.loop_.ops.data());
  return op == nullptr ? outcome_ : interpret<false>(op);
}

template <bool once>
std::conditional_t<once, native::Did, Outcome> Interpreter::ended(Outcome outcome) {
  if constexpr (once) {
    outcome_ = outcome;
    return native::Did::kEnded;
  } else {
    return outcome;
  }
}

// `once`: this operation, for native code, which goes round on its own.
template <bool once>
std::conditional_t<once, native::Did, Outcome> Interpreter::interpret(const LoopOp* op) {
  PyObject** const objects = registers_;
  UnboxedNumber* const unboxed = unboxed_;
  const LoopOp* const first = executor_.loop_.ops.data();
  const Step* const steps = executor_.steps_.data();
  // To be used inside of the switch.
#define TAGALONG_GUARD_FAILED                                              \
  if (op->branch < 0) {                                                    \
    return ended<once>(finish(steps[op->step], StepResult::kGuardFailed)); \
  }                                                                        \
  if constexpr (once) {                                                    \
    return native::Did::kBranch;                                           \
  }                                                                        \
  op = first + op->branch - 1;                                             \
  break;
#define TAGALONG_ARITHMETIC(code, builtin)                                          \
  case LoopCode::code: {                                                            \
    std::int64_t result = 0;                                                        \
    if (builtin(unboxed[op->left].i, unboxed[op->right].i, &result)) [[unlikely]] { \
      return ended<once>(finish(steps[op->step], StepResult::kAgain));              \
    }                                                                               \
    unboxed[op->result].i = result;                                                 \
    break;                                                                          \
  }
#define TAGALONG_BITS(code, operation)                                          \
  case LoopCode::code:                                                          \
    unboxed[op->result].i = unboxed[op->left].i operation unboxed[op->right].i; \
    break;
#define TAGALONG_FLOAT(code, operation)                                         \
  case LoopCode::code:                                                          \
    unboxed[op->result].d = unboxed[op->left].d operation unboxed[op->right].d; \
    break;
#define TAGALONG_FLOAT64(code, operation)                                                                  \
  case LoopCode::code: {                                                                                   \
    double result = 0;                                                                                     \
    if (!float64_arithmetic(operation, unboxed[op->left].d, unboxed[op->right].d, &result)) [[unlikely]] { \
      return ended<once>(finish(steps[op->step], StepResult::kAgain));                                     \
    }                                                                                                      \
    unboxed[op->result].d = result;                                                                        \
    break;                                                                                                 \
  }
#define TAGALONG_COMPARE(name, member, operation)                                                         \
  case LoopCode::k##name:                                                                                 \
    unboxed[op->result].i = unboxed[op->left].member operation unboxed[op->right].member ? 1 : 0;         \
    break;                                                                                                \
  case LoopCode::kGuard##name:                                                                            \
    if ((unboxed[op->left].member operation unboxed[op->right].member) != (op->flag != 0)) [[unlikely]] { \
      TAGALONG_GUARD_FAILED                                                                               \
    }                                                                                                     \
    break;
#define TAGALONG_TRACE_BEGINS \
  op = go_native(op);         \
  if (op == nullptr) {        \
    return outcome_;          \
  }
  for (;; ++op) {
    switch (op->code) {
      case LoopCode::kStep: {
        const Step& step = steps[op->step];
        loop_op_ = op;
        const StepResult answer = perform_in_loop(step);
        if (answer != StepResult::kNext) [[unlikely]] {
          if (answer == StepResult::kGuardFailed) {
            TAGALONG_GUARD_FAILED
          }
          if (answer == StepResult::kFusionGroup) {
            if constexpr (once) {
              left_at_ = op + fusion_steps_;
              return native::Did::kEnded;
            }
            op += fusion_steps_ - 1;
            break;
          }
          return ended<once>(finish(step, answer));
        }
        break;
      }
      case LoopCode::kLeaveIfWatched:
        if (cpython::is_left_to_others(run_.thread)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kLeave));
        }
        break;
      case LoopCode::kBox:
        if (objects[op->left] == nullptr && !box_for_step(steps[op->step], op->left)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kRaised));
        }
        break;
      case LoopCode::kClear: {
        PyObject* object = objects[op->left];
        if (object != nullptr) {
          objects[op->left] = nullptr;
          Py_DECREF(object);
        }
        break;
      }
      case LoopCode::kClearShown: {
        PyObject* object = objects[op->left];
        if (object != nullptr) {
          if (Py_REFCNT(object) == 1) {
            show(op->right, object);
          }
          objects[op->left] = nullptr;
          Py_DECREF(object);
        }
        break;
      }
      case LoopCode::kMove: {
        PyObject* old = objects[op->result];
        unboxed[op->result] = unboxed[op->left];
        objects[op->result] = objects[op->left];
        objects[op->left] = nullptr;
        Py_XDECREF(old);
        break;
      }
      case LoopCode::kShare: {
        PyObject* old = objects[op->result];
        unboxed[op->result] = unboxed[op->left];
        objects[op->result] = Py_XNewRef(objects[op->left]);
        Py_XDECREF(old);
        break;
      }
      case LoopCode::kSync:
        sync_local(steps[op->step]);
        break;
      case LoopCode::kSyncUnboxed:
        sync_unboxed(steps[op->step], op->left);
        break;
      case LoopCode::kUnboxInt:
        if (!PyLong_CheckExact(objects[op->left]) || !cpython::int64_of(objects[op->left], &unboxed[op->left].i))
            [[unlikely]] {
          if (!op->is_guard) {
            return ended<once>(finish(steps[op->step], StepResult::kAgain));
          }
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kUnboxFloat:
        if (!PyFloat_CheckExact(objects[op->left])) [[unlikely]] {
          if (!op->is_guard) {
            return ended<once>(finish(steps[op->step], StepResult::kAgain));
          }
          TAGALONG_GUARD_FAILED
        }
        unboxed[op->left].d = PyFloat_AS_DOUBLE(objects[op->left]);
        break;
      case LoopCode::kUnboxBool:
      case LoopCode::kUnboxNumpyInt:
      case LoopCode::kUnboxNumpyFloat:
      case LoopCode::kUnboxNumpyBool:
        if (!unbox(objects[op->left], info(op->code).gives, &unboxed[op->left])) [[unlikely]] {
          if (!op->is_guard) {
            return ended<once>(finish(steps[op->step], StepResult::kAgain));
          }
          TAGALONG_GUARD_FAILED
        }
        break;
        TAGALONG_ARITHMETIC(kAddInt, __builtin_add_overflow)
        TAGALONG_ARITHMETIC(kSubtractInt, __builtin_sub_overflow)
        TAGALONG_ARITHMETIC(kMultiplyInt, __builtin_mul_overflow)
        TAGALONG_BITS(kAndInt, &)
        TAGALONG_BITS(kOrInt, |)
        TAGALONG_BITS(kXorInt, ^)
      case LoopCode::kFloorDivideInt: {
        const std::int64_t left = unboxed[op->left].i;
        const std::int64_t right = unboxed[op->right].i;
        if (right == 0 || (right == -1 && left == INT64_MIN)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        unboxed[op->result].i = floor_divide(left, right);
        break;
      }
      case LoopCode::kRemainderInt: {
        const std::int64_t left = unboxed[op->left].i;
        const std::int64_t right = unboxed[op->right].i;
        if (right == 0 || right == -1) [[unlikely]] {
          if (right == 0) {
            return ended<once>(finish(steps[op->step], StepResult::kAgain));
          }
          unboxed[op->result].i = 0;
          break;
        }
        const std::int64_t result = floor_remainder(left, right);
        // CPython gives the left operand itself, if that is the result and not both have a single digit.
        if (op->flag != 0 && result == left && magnitude(left) < magnitude(right) &&
            !(fits_digit(left) && fits_digit(right))) {
          if (box(op->left) == nullptr) {
            return ended<once>(finish(steps[op->step], StepResult::kRaised));
          }
          objects[op->result] = Py_NewRef(objects[op->left]);
        }
        unboxed[op->result].i = result;
        break;
      }
      case LoopCode::kTrueDivideInt:
        if (!true_divide(unboxed[op->left].i, unboxed[op->right].i, &unboxed[op->result].d)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        break;
      case LoopCode::kShiftLeftInt: {
        std::int64_t result = 0;
        if (!shift_left(unboxed[op->left].i, unboxed[op->right].i, &result)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        unboxed[op->result].i = result;
        break;
      }
      case LoopCode::kShiftRightInt: {
        const std::int64_t by = unboxed[op->right].i;
        if (by < 0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        unboxed[op->result].i = unboxed[op->left].i >> (by < kBits ? by : kBits - 1);
        break;
      }
      case LoopCode::kNegateInt:
        if (unboxed[op->left].i == INT64_MIN) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        unboxed[op->result].i = -unboxed[op->left].i;
        break;
        TAGALONG_FLOAT(kAddFloat, +)
        TAGALONG_FLOAT(kSubtractFloat, -)
        TAGALONG_FLOAT(kMultiplyFloat, *)
      case LoopCode::kDivideFloat:
        if (unboxed[op->right].d == 0.0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        unboxed[op->result].d = unboxed[op->left].d / unboxed[op->right].d;
        break;
      case LoopCode::kNegateFloat:
        unboxed[op->result].d = -unboxed[op->left].d;
        break;
      case LoopCode::kFloatOfInt:
        unboxed[op->result].d = static_cast<double>(unboxed[op->left].i);
        break;
        TAGALONG_FLOAT64(kAddFloat64, Float64Operator::kAdd)
        TAGALONG_FLOAT64(kSubtractFloat64, Float64Operator::kSubtract)
        TAGALONG_FLOAT64(kMultiplyFloat64, Float64Operator::kMultiply)
        TAGALONG_FLOAT64(kDivideFloat64, Float64Operator::kDivide)
        TAGALONG_COMPARE(LessInt, i, <)
        TAGALONG_COMPARE(LessEqualInt, i, <=)
        TAGALONG_COMPARE(EqualInt, i, ==)
        TAGALONG_COMPARE(NotEqualInt, i, !=)
        TAGALONG_COMPARE(GreaterInt, i, >)
        TAGALONG_COMPARE(GreaterEqualInt, i, >=)
        TAGALONG_COMPARE(LessFloat, d, <)
        TAGALONG_COMPARE(LessEqualFloat, d, <=)
        TAGALONG_COMPARE(EqualFloat, d, ==)
        TAGALONG_COMPARE(NotEqualFloat, d, !=)
        TAGALONG_COMPARE(GreaterFloat, d, >)
        TAGALONG_COMPARE(GreaterEqualFloat, d, >=)
      case LoopCode::kCallFloat:
        if (!call_float(static_cast<Known>(op->flag), unboxed[op->left].d, &unboxed[op->result].d)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        break;
      case LoopCode::kCallInt:
        if (!call_int(static_cast<Known>(op->flag), unboxed[op->left].d, &unboxed[op->result].i)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        break;
      case LoopCode::kLength:
        if (!length_of(objects[op->left], &unboxed[op->result].i)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        break;
      case LoopCode::kMakeRange: {
        PyObject* iterator = iterate_range(op->left < 0 ? 0 : unboxed[op->left].i, unboxed[op->right].i);
        if (iterator == nullptr) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        objects[op->result] = iterator;
        break;
      }
      case LoopCode::kTruthInt:
        unboxed[op->result].i = unboxed[op->left].i != 0 ? 1 : 0;
        break;
      case LoopCode::kTruthFloat:
        unboxed[op->result].i = unboxed[op->left].d != 0.0 ? 1 : 0;
        break;
      case LoopCode::kNotBool:
        unboxed[op->result].i = unboxed[op->left].i != 0 ? 0 : 1;
        break;
      case LoopCode::kGuardBool:
        if ((unboxed[op->left].i != 0) != (op->flag != 0)) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kRangeNext:
        if (!cpython::next_of_range(objects[op->left], &unboxed[op->result].i)) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kForIter: {
        PyObject* iterator = objects[op->left];
        if (cpython::is_sequence_iterator(iterator)) {
          PyObject* item = cpython::next_of_sequence(iterator);
          if (item == nullptr) [[unlikely]] {
            if (!sync(steps[op->right])) {
              return ended<once>(finish(steps[op->right], StepResult::kRaised));
            }
            item = Py_TYPE(iterator)->tp_iternext(iterator);
          }
          objects[op->result] = item;
        } else if (cpython::is_text_iterator(iterator)) {
          objects[op->result] = Py_TYPE(iterator)->tp_iternext(iterator);
          if (objects[op->result] == nullptr && PyErr_Occurred() != nullptr) [[unlikely]] {
            return ended<once>(finish(steps[op->right], StepResult::kRaised));
          }
        } else if (const StepResult answer = perform_in_loop(steps[op->right]); answer != StepResult::kNext)
            [[unlikely]] {
          return ended<once>(finish(steps[op->right], answer));
        }
        if (objects[op->result] == nullptr) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      }
      case LoopCode::kItem: {
        PyObject* container = objects[op->left];
        const Py_ssize_t place = place_in(container, unboxed[op->right].i);
        if (place < 0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        objects[op->result] = Py_NewRef(items_of(container)[place]);
        break;
      }
      case LoopCode::kItemInt:
      case LoopCode::kItemFloat: {
        PyObject* container = objects[op->left];
        const Py_ssize_t place = place_in(container, unboxed[op->right].i);
        if (place < 0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        const Unboxed kind = info(op->code).gives;
        if (!unbox(items_of(container)[place], kind, &unboxed[op->result])) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      }
      case LoopCode::kStoreItem: {
        PyObject* container = objects[op->left];
        Py_ssize_t place = place_in(container, unboxed[op->right].i);
        if (place < 0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        PyObject* old = items_of(container)[place];
        if ((op->flag & kStoresRenewed) != 0 && !cpython::is_exact_number(old)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        if ((op->flag & kStoresNumber) != 0 && objects[op->result] == nullptr) {
          if (Py_REFCNT(old) == 1 && PyFloat_CheckExact(old)) {
            if (!replace_float(items_of(container) + place, unboxed[op->result].d)) [[unlikely]] {
              return ended<once>(finish(steps[op->step], StepResult::kRaised));
            }
            break;
          }
          if (box(op->result) == nullptr) [[unlikely]] {
            return ended<once>(finish(steps[op->step], StepResult::kRaised));
          }
        }
        if (Py_REFCNT(old) == 1 && !cpython::is_exact_number(old)) {
          if (!sync(steps[op->step])) [[unlikely]] {
            return ended<once>(finish(steps[op->step], StepResult::kRaised));
          }
          place = place_in(container, unboxed[op->right].i);
          if (place < 0) [[unlikely]] {
            return ended<once>(finish(steps[op->step], StepResult::kAgain));
          }
          old = items_of(container)[place];
        }
        items_of(container)[place] = Py_NewRef(objects[op->result]);
        Py_DECREF(old);
        break;
      }
      case LoopCode::kPair:
        unboxed[op->result].i = unboxed[op->left].i;
        unboxed[op->result + 1].i = unboxed[op->right].i;
        break;
      case LoopCode::kArrayItem:
      case LoopCode::kArrayItem2:
      case LoopCode::kArrayStore:
      case LoopCode::kArrayStore2: {
        PyObject* array = objects[op->left];
        const bool is_pair = op->code == LoopCode::kArrayItem2 || op->code == LoopCode::kArrayStore2;
        const bool stores = op->code == LoopCode::kArrayStore || op->code == LoopCode::kArrayStore2;
        char* place = is_pair ? item_place(array, op->flag, unboxed[op->right].i, unboxed[op->right + 1].i)
                              : item_place(array, op->flag, unboxed[op->right].i);
        if (place == nullptr || (stores && !may_be_written(array))) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        if (stores) {
          store_item(place, unboxed_of_items(op->flag), unboxed[op->result]);
        } else {
          load_item(place, unboxed_of_items(op->flag), &unboxed[op->result]);
        }
        break;
      }
      case LoopCode::kArrayNext: {
        PyObject* iterator = objects[op->left];
        if (const char* place = next_item_place(iterator, op->flag)) [[likely]] {
          load_item(place, unboxed_of_items(op->flag), &unboxed[op->result]);
        } else if (const StepResult answer = end_array(steps[op->right], iterator); answer != StepResult::kNext) {
          return ended<once>(finish(steps[op->right], answer));
        } else {
          TAGALONG_GUARD_FAILED
        }
        break;
      }
      case LoopCode::kPoll:
        if (requested_ && !poll(steps[op->step])) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kRaised));
        }
        if (cpython::is_left_to_others(run_.thread)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kLeave));
        }
        if (--executor_.arrivals_of(op->left).left <= 0 && stops_at(op->left)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kLeave));
        }
        begin_round(*header_);
        run_.gain += op->result;
        break;
      case LoopCode::kPollAndJump:
        if (requested_ && !poll(steps[op->step])) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kRaised));
        }
        if (cpython::is_left_to_others(run_.thread)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kLeave));
        }
        if (--executor_.arrivals_of(op->left).left <= 0 && stops_at(op->left)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kLeave));
        }
        begin_round(*header_);
        run_.gain += op->result;
        if constexpr (!once) {
          op = first + op->right;
          TAGALONG_TRACE_BEGINS
          --op;
        }
        break;
      case LoopCode::kJump:
#ifdef TAGALONG_CHECKS
        if (op->flag != 0) {
          check_entry(static_cast<std::size_t>(op->left));
        }
#endif
        if constexpr (!once) {
          const bool begins = op->flag != 0 || op->right <= op - first;
          op = first + op->right;
          if (begins) {
            TAGALONG_TRACE_BEGINS
          }
          --op;
        }
        break;
      case LoopCode::kGuardType:
        if (reinterpret_cast<PyObject*>(Py_TYPE(objects[op->left])) != steps[op->step].object) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kGuardIs:
        if (objects[op->left] != steps[op->step].object) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kGlobal: {
        const Step& step = steps[op->step];
        if (PyObject* known = known_global(step, objects[op->left])) [[likely]] {
          objects[op->result] = Py_NewRef(known);
        } else if (PyObject* global = global_now(step, objects[op->left])) {
          objects[op->result] = Py_NewRef(global);
        } else if (const StepResult answer = perform_in_loop(step); answer != StepResult::kNext) [[unlikely]] {
          return ended<once>(finish(step, answer));
        }
        break;
      }
      case LoopCode::kGlobalInt:
      case LoopCode::kGlobalFloat: {
        const Step& step = steps[op->step];
        const Unboxed kind = info(op->code).gives;
        PyObject* global = known_global(step, objects[op->left]);
        if (global == nullptr) {
          global = global_now(step, objects[op->left]);
        }
        if (global == nullptr) {
          if (const StepResult answer = perform_in_loop(step); answer != StepResult::kNext) [[unlikely]] {
            return ended<once>(finish(step, answer));
          }
          global = step.cached;  // which is what it has found
          Py_CLEAR(objects[op->result]);
        }
        if (!unbox(global, kind, &unboxed[op->result])) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      }
      case LoopCode::kAttribute:
      case LoopCode::kMethod: {
        const Step& step = steps[op->step];
        if (!try_attribute(step, executor_.registers_used_.data() + step.operands)) {
          if (const StepResult answer = perform_in_loop(step); answer != StepResult::kNext) [[unlikely]] {
            return ended<once>(finish(step, answer));
          }
        }
        break;
      }
      case LoopCode::kAppend:
        if (PyList_Append(objects[op->left], objects[op->right]) < 0) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kRaised));
        }
        break;
      case LoopCode::kGuardNull:
        if ((objects[op->left] != nullptr) != (op->flag != 0)) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kRebind:
        if (!rebind_global(steps[op->step], objects[op->left], objects[op->right])) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kAgain));
        }
        break;
      case LoopCode::kCross:
        if (requested_ || run_.depth != 1 || cpython::is_left_to_others(run_.thread)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        if (--executor_.arrivals_of(op->left).left <= 0 && stops_at(op->left)) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        show_place(op->right);
        begin_round(*header_);
        run_.gain += op->result;
        break;
      case LoopCode::kCheckQuiet:
        if (relocation_of(steps[op->step]) == nullptr) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        break;
      case LoopCode::kGiveUpRest:
        give_up_rest(steps[op->step]);
        break;
      case LoopCode::kCheckBound:
        if (objects[op->left] == nullptr) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        break;
      case LoopCode::kCheckUnbound:
        if (objects[op->left] != nullptr) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        break;
      case LoopCode::kCheckType:
        if (reinterpret_cast<PyObject*>(Py_TYPE(objects[op->left])) !=
            executor_.loop_.types[static_cast<std::size_t>(op->right)]) [[unlikely]] {
          return ended<once>(finish(steps[op->step], StepResult::kGuardFailed));
        }
        break;
      case LoopCode::kUnbind:
        Py_CLEAR(cpython::locals_of(run_.root)[op->left]);
        break;
    }
    if constexpr (once) {
      return native::Did::kNext;
    }
  }
#undef TAGALONG_TRACE_BEGINS
#undef TAGALONG_GUARD_FAILED
#undef TAGALONG_ARITHMETIC
#undef TAGALONG_BITS
#undef TAGALONG_FLOAT
#undef TAGALONG_FLOAT64
#undef TAGALONG_COMPARE
}

native::Did Interpreter::perform_for_native(native::Frame* frame, const LoopOp* op) noexcept {
  Run& run = frame->interpreter->run_;
  run.gain += std::exchange(frame->gain, 0);
  frame->is_touched = 1;
  frame->interpreter->left_at_ = nullptr;
  const native::Did did = frame->interpreter->interpret<true>(op);
  frame->next = frame->interpreter->left_at_;
  return did;
}

// Whether the run ends where it has come once more. Nothing lasts that belongs to the count of another run.
bool Interpreter::stops_at(std::int32_t member) {
  Arrivals& arrivals = executor_.arrivals_of(member);
  if (run_.linker == nullptr) {
    arrivals.left = Arrivals::kNever;
    return false;
  }
  run_.is_stopped = run_.linker->stops_at(arrivals);
  return run_.is_stopped;
}

// What comes of the trace that begins with this operation: itself, where there is no native code; otherwise the
// operation in front of which that has left, null if the run has ended.
const LoopOp* Interpreter::go_native(const LoopOp* op) {
  if (executor_.native_ == nullptr && !make_native()) {
    return op;
  }
  const void* entry = executor_.native_->entry(static_cast<std::size_t>(op - executor_.loop_.ops.data()));
  if (entry == nullptr) {
    return op;
  }
  native::Frame frame;
  frame.objects = registers_;
  frame.unboxed = unboxed_;
  frame.thread = run_.thread;
  frame.requests = requested_.address();
  frame.depth = &run_.depth;
  frame.runs_user_code = &user_code_step_;
  frame.synced = &run_.synced_keys[level_of_round(*header_)];
  frame.root_slots = run_.root == nullptr ? nullptr : cpython::locals_of(run_.root);
  frame.root_synced = &run_.synced_keys[0];
  frame.root_place = run_.root == nullptr ? nullptr : cpython::shown_place(run_.root);
  frame.root_code = run_.root == nullptr ? nullptr : cpython::first_place(run_.root);
  frame.interpreter = this;
  const LoopOp* next = executor_.native_->run(&frame, entry);
  run_.gain += frame.gain;
  return next;
}

bool Interpreter::make_native() const {
  if (run_.native_after == 0 || !is_on(Stage::native_code) || executor_.has_no_native_ ||
      ++executor_.rounds_ < run_.native_after || (run_.linker != nullptr && run_.linker->earned() + run_.gain <= 0)) {
    return false;
  }
  executor_.rounds_ = 0;
  native::Source source{executor_.loop_, executor_.steps_, executor_.registers_used_, executor_.constants_, {0}};
  for (const Executor::Member& member : executor_.members_) {
    source.entries.push_back(static_cast<std::int32_t>(member.first_operation));
  }
  for (const LoopOp& op : executor_.loop_.ops) {
    const bool is_entered = op.code == LoopCode::kCross && op.right != kNoSnapshot && run_.root != nullptr;
    source.places.push_back(is_entered ? unit_of(outermost(op.right)) : -1);
  }
  for (std::int32_t member = 0; std::cmp_less(member, executor_.part_count()); ++member) {
    source.arrivals.push_back(&executor_.arrivals_of(member).left);
  }
  source.level = static_cast<int>(level_of_round(*header_));
  source.perform = &perform_for_native;
  executor_.native_ = native::compile(source);
  executor_.has_no_native_ = executor_.native_ == nullptr;
  run_.has_made_native = !executor_.has_no_native_;
  if (run_.has_made_native && native::code_listener != nullptr) [[unlikely]] {
    native::code_listener(executor_.native_->placed(fmt::format("loop of {}", executor_.graph_.name)));
  }
  return run_.has_made_native;
}

}  // namespace tagalong::replay
