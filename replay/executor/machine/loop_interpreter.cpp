#include "replay/executor/machine/loop_interpreter.h"

#include <array>
#include <optional>
#include <utility>

#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/leftovers.h"
#include "replay/executor/machine/loop_arithmetic.h"
#include "replay/executor/machine/run_end.h"
#include "replay/executor/machine/step_families.h"
#include "replay/executor/machine/step_machine.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/operations.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {

template <bool once>
std::conditional_t<once, native::Did, Outcome> LoopInterpreter::ended(Outcome outcome) {
  if constexpr (once) {
    outcome_ = outcome;
    return native::Did::kEnded;
  } else {
    return outcome;
  }
}

inline StepResult LoopInterpreter::poll(const LoopOp* op) {
  if (state_.requested && !poll_requests(state_, state_.program.steps[static_cast<std::size_t>(op->step)]))
      [[unlikely]] {
    return StepResult::kRaised;
  }
  if (cpython::must_run_eagerly(state_.run.thread)) [[unlikely]] {
    return StepResult::kSideExit;
  }
  if (--state_.executor.arrivals_of(op->left).left <= 0 && stops_at(op->left)) [[unlikely]] {
    return StepResult::kSideExit;
  }
  begin_iteration();
  state_.run.gain += op->result;
  return StepResult::kNext;
}

// `once`: only this operation, for native code, which iterates on its own.
template <bool once>
std::conditional_t<once, native::Did, Outcome> LoopInterpreter::execute(const LoopOp* op) {
  RunState& state = state_;
  PyObject** const objects = state.registers;
  UnboxedNumber* const unboxed = state.unboxed;
  const LoopOp* const first = state.program.loop.ops.data();
  const Step* const steps = state.program.steps.data();
  const auto end = [&](const Step& step, StepResult result) { return ended<once>(end_run(state, step, result)); };
  // These macros are for the inside of the switch.
#define TAGALONG_GUARD_FAILED                              \
  if (op->branch < 0) {                                    \
    return end(steps[op->step], StepResult::kGuardFailed); \
  }                                                        \
  if constexpr (once) {                                    \
    return native::Did::kBranch;                           \
  }                                                        \
  op = first + op->branch - 1;                             \
  break;
#define TAGALONG_ARITHMETIC(code, builtin)                                          \
  case LoopCode::code: {                                                            \
    std::int64_t result = 0;                                                        \
    if (builtin(unboxed[op->left].i, unboxed[op->right].i, &result)) [[unlikely]] { \
      return end(steps[op->step], StepResult::kReexecute);                          \
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
      return end(steps[op->step], StepResult::kReexecute);                                                 \
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
#define TAGALONG_BEGIN_TRACE \
  op = go_native(op);        \
  if (op == nullptr) {       \
    return outcome_;         \
  }
  for (;; ++op) {
    switch (op->code) {
      case LoopCode::kStep: {
        const Step& step = steps[op->step];
        state.loop_op = op;
        const StepResult result = perform_step(state, step);
        if (result != StepResult::kNext) [[unlikely]] {
          if (result == StepResult::kGuardFailed) {
            TAGALONG_GUARD_FAILED
          }
          if (result == StepResult::kFused) {
            if constexpr (once) {
              left_at_ = op + state.fused_steps;
              return native::Did::kEnded;
            }
            op += state.fused_steps - 1;
            break;
          }
          return end(step, result);
        }
        break;
      }
      case LoopCode::kLeaveIfWatched:
        if (cpython::must_run_eagerly(state.run.thread)) [[unlikely]] {
          return end(steps[op->step], StepResult::kSideExit);
        }
        break;
      case LoopCode::kBox:
        if (objects[op->left] == nullptr && !box_for_step(state, steps[op->step], op->left)) [[unlikely]] {
          return end(steps[op->step], StepResult::kRaised);
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
            sync_for_finaliser(state, op->right, object);
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
        sync_local(state, steps[op->step]);
        break;
      case LoopCode::kSyncUnboxed:
        sync_unboxed_local(state, steps[op->step], op->left);
        break;
      case LoopCode::kUnboxInt:
        if (!PyLong_CheckExact(objects[op->left]) || !cpython::int64_of(objects[op->left], &unboxed[op->left].i))
            [[unlikely]] {
          if (!op->is_guard) {
            return end(steps[op->step], StepResult::kReexecute);
          }
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kUnboxFloat:
        if (!PyFloat_CheckExact(objects[op->left])) [[unlikely]] {
          if (!op->is_guard) {
            return end(steps[op->step], StepResult::kReexecute);
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
            return end(steps[op->step], StepResult::kReexecute);
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
          return end(steps[op->step], StepResult::kReexecute);
        }
        unboxed[op->result].i = floor_divide(left, right);
        break;
      }
      case LoopCode::kRemainderInt: {
        const std::int64_t left = unboxed[op->left].i;
        const std::int64_t right = unboxed[op->right].i;
        if (right == 0 || right == -1) [[unlikely]] {
          if (right == 0) {
            return end(steps[op->step], StepResult::kReexecute);
          }
          unboxed[op->result].i = 0;
          break;
        }
        const std::int64_t result = floor_remainder(left, right);
        // If the result is the left operand, CPython returns that object itself, unless both ints have a single digit.
        if (op->flag != 0 && result == left && magnitude(left) < magnitude(right) &&
            !(fits_digit(left) && fits_digit(right))) {
          if (box(state, op->left) == nullptr) {
            return end(steps[op->step], StepResult::kRaised);
          }
          objects[op->result] = Py_NewRef(objects[op->left]);
        }
        unboxed[op->result].i = result;
        break;
      }
      case LoopCode::kTrueDivideInt:
        if (!true_divide(unboxed[op->left].i, unboxed[op->right].i, &unboxed[op->result].d)) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        break;
      case LoopCode::kShiftLeftInt: {
        std::int64_t result = 0;
        if (!shift_left(unboxed[op->left].i, unboxed[op->right].i, &result)) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        unboxed[op->result].i = result;
        break;
      }
      case LoopCode::kShiftRightInt: {
        const std::int64_t by = unboxed[op->right].i;
        if (by < 0) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        unboxed[op->result].i = unboxed[op->left].i >> (by < kBits ? by : kBits - 1);
        break;
      }
      case LoopCode::kNegateInt:
        if (unboxed[op->left].i == INT64_MIN) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        unboxed[op->result].i = -unboxed[op->left].i;
        break;
        TAGALONG_FLOAT(kAddFloat, +)
        TAGALONG_FLOAT(kSubtractFloat, -)
        TAGALONG_FLOAT(kMultiplyFloat, *)
      case LoopCode::kDivideFloat:
        if (unboxed[op->right].d == 0.0) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
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
          return end(steps[op->step], StepResult::kReexecute);
        }
        break;
      case LoopCode::kCallInt:
        if (!call_int(static_cast<Known>(op->flag), unboxed[op->left].d, &unboxed[op->result].i)) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        break;
      case LoopCode::kLength:
        if (!length_of(objects[op->left], &unboxed[op->result].i)) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        break;
      case LoopCode::kMakeRange: {
        PyObject* iterator = iterate_range(op->left < 0 ? 0 : unboxed[op->left].i, unboxed[op->right].i);
        if (iterator == nullptr) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
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
            if (!sync_frames(state, steps[op->right])) {
              return end(steps[op->right], StepResult::kRaised);
            }
            item = Py_TYPE(iterator)->tp_iternext(iterator);
          }
          objects[op->result] = item;
        } else if (cpython::is_text_iterator(iterator)) {
          objects[op->result] = Py_TYPE(iterator)->tp_iternext(iterator);
          if (objects[op->result] == nullptr && PyErr_Occurred() != nullptr) [[unlikely]] {
            return end(steps[op->right], StepResult::kRaised);
          }
        } else if (const StepResult result = perform_step(state, steps[op->right]); result != StepResult::kNext)
            [[unlikely]] {
          return end(steps[op->right], result);
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
          return end(steps[op->step], StepResult::kReexecute);
        }
        objects[op->result] = Py_NewRef(items_of(container)[place]);
        break;
      }
      case LoopCode::kItemInt:
      case LoopCode::kItemFloat: {
        PyObject* container = objects[op->left];
        const Py_ssize_t place = place_in(container, unboxed[op->right].i);
        if (place < 0) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
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
          return end(steps[op->step], StepResult::kReexecute);
        }
        PyObject* old = items_of(container)[place];
        if ((op->flag & kStoresRenewed) != 0 && !cpython::is_exact_number(old)) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        if ((op->flag & kStoresNumber) != 0 && objects[op->result] == nullptr) {
          if (Py_REFCNT(old) == 1 && PyFloat_CheckExact(old)) {
            if (!replace_float(items_of(container) + place, unboxed[op->result].d)) [[unlikely]] {
              return end(steps[op->step], StepResult::kRaised);
            }
            break;
          }
          if (box(state, op->result) == nullptr) [[unlikely]] {
            return end(steps[op->step], StepResult::kRaised);
          }
        }
        if (Py_REFCNT(old) == 1 && !cpython::is_exact_number(old)) {
          if (!sync_frames(state, steps[op->step])) [[unlikely]] {
            return end(steps[op->step], StepResult::kRaised);
          }
          place = place_in(container, unboxed[op->right].i);
          if (place < 0) [[unlikely]] {
            return end(steps[op->step], StepResult::kReexecute);
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
          return end(steps[op->step], StepResult::kReexecute);
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
        } else if (const StepResult result = end_array(state, steps[op->right], iterator);
                   result != StepResult::kNext) {
          return end(steps[op->right], result);
        } else {
          TAGALONG_GUARD_FAILED
        }
        break;
      }
      case LoopCode::kPoll:
        if (const StepResult result = poll(op); result != StepResult::kNext) [[unlikely]] {
          return end(steps[op->step], result);
        }
        break;
      case LoopCode::kPollAndJump:
        if (const StepResult result = poll(op); result != StepResult::kNext) [[unlikely]] {
          return end(steps[op->step], result);
        }
        if constexpr (!once) {
          op = first + op->right;
          TAGALONG_BEGIN_TRACE
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
            TAGALONG_BEGIN_TRACE
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
        } else if (PyObject* global = find_global(step, objects[op->left])) {
          objects[op->result] = Py_NewRef(global);
        } else if (const StepResult result = perform_step(state, step); result != StepResult::kNext) [[unlikely]] {
          return end(step, result);
        }
        break;
      }
      case LoopCode::kGlobalInt:
      case LoopCode::kGlobalFloat: {
        const Step& step = steps[op->step];
        const Unboxed kind = info(op->code).gives;
        PyObject* global = known_global(step, objects[op->left]);
        if (global == nullptr) {
          global = find_global(step, objects[op->left]);
        }
        if (global == nullptr) {
          if (const StepResult result = perform_step(state, step); result != StepResult::kNext) [[unlikely]] {
            return end(step, result);
          }
          global = step.cached;  // which the step has set
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
        if (!try_attribute(state, step, state.program.registers_used.data() + step.operands)) {
          if (const StepResult result = perform_step(state, step); result != StepResult::kNext) [[unlikely]] {
            return end(step, result);
          }
        }
        break;
      }
      case LoopCode::kAppend:
        if (PyList_Append(objects[op->left], objects[op->right]) < 0) [[unlikely]] {
          return end(steps[op->step], StepResult::kRaised);
        }
        break;
      case LoopCode::kGuardNull:
        if ((objects[op->left] != nullptr) != (op->flag != 0)) [[unlikely]] {
          TAGALONG_GUARD_FAILED
        }
        break;
      case LoopCode::kRebind:
        if (!rebind_global(steps[op->step], objects[op->left], objects[op->right])) [[unlikely]] {
          return end(steps[op->step], StepResult::kReexecute);
        }
        break;
      case LoopCode::kCross:
        if (state.requested || state.run.depth != 1 || cpython::must_run_eagerly(state.run.thread)) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        if (--state.executor.arrivals_of(op->left).left <= 0 && stops_at(op->left)) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        show_location(state, op->right);
        begin_iteration();
        state.run.gain += op->result;
        break;
      case LoopCode::kCheckRelocatable:
        if (state.relocation_of(steps[op->step]) == nullptr) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        break;
      case LoopCode::kGiveUpRest:
        drop_leftovers(state, steps[op->step]);
        break;
      case LoopCode::kCheckBound:
        if (objects[op->left] == nullptr) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        break;
      case LoopCode::kCheckUnbound:
        if (objects[op->left] != nullptr) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        break;
      case LoopCode::kCheckType:
        if (reinterpret_cast<PyObject*>(Py_TYPE(objects[op->left])) !=
            state.program.loop.types[static_cast<std::size_t>(op->right)]) [[unlikely]] {
          return end(steps[op->step], StepResult::kGuardFailed);
        }
        break;
      case LoopCode::kUnbind:
        Py_CLEAR(cpython::locals_of(state.run.root)[op->left]);
        break;
    }
    if constexpr (once) {
      return native::Did::kNext;
    }
  }
#undef TAGALONG_BEGIN_TRACE
#undef TAGALONG_GUARD_FAILED
#undef TAGALONG_ARITHMETIC
#undef TAGALONG_BITS
#undef TAGALONG_FLOAT
#undef TAGALONG_FLOAT64
#undef TAGALONG_COMPARE
}

Outcome LoopInterpreter::interpret(const LoopOp* op) { return execute<false>(op); }
native::Did LoopInterpreter::perform(const LoopOp* op) { return execute<true>(op); }

}  // namespace tagalong::replay
