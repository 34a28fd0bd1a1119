// Rules: functions of the interpreter that instructions call by number, where other versions of CPython have an
// instruction for each.
#include "recorder/rules/exception_rules.h"
#include "version/intrinsics.h"

namespace tagalong::recorder {

using version::Intrinsic;

namespace {

bool ends_iteration(PyObject* exception) {
  return PyErr_GivenExceptionMatches(exception, PyExc_StopIteration) != 0 ||
         PyErr_GivenExceptionMatches(exception, PyExc_StopAsyncIteration) != 0;
}

}  // namespace

void ExceptionRules::intrinsic(const Instruction& instruction) {
  const Intrinsic what = version::intrinsic(instruction.opcode, instruction.arg);
  if (is_before_) {
    if (what == Intrinsic::kTypeParameter) {
      stop(Stop::k_type_parameters);
    } else if (what == Intrinsic::kStopIterationError && ends_iteration(live_stack(0))) {
      stop(Stop::k_stop_iteration);
    }
    return;
  }
  switch (what) {
    case Intrinsic::kPrint:
    case Intrinsic::kImportStar:
      use_value_and_names(what == Intrinsic::kPrint ? Op::print_expr : Op::import_star);
      return push(constant(Py_None));
    case Intrinsic::kStopIterationError:
      return keep_exception();
    case Intrinsic::kAsyncGenWrap:
      return produce(Op::async_gen_wrap, 1);
    case Intrinsic::kUnaryPositive:
      return operate(replay::UnaryOperator::kPositive);
    case Intrinsic::kListToTuple:
      return produce(Op::list_to_tuple, 1);
    case Intrinsic::kPrepareReraiseStar:
      return produce(Op::prep_reraise_star, 2);
    case Intrinsic::kTypeParameter:
      return;
  }
}

// An exception that leaves a generator stays as it is, unless it would end an iteration.
void ExceptionRules::keep_exception() {
  const SnapshotId here = snapshot();
  for (PyObject* type : {PyExc_StopIteration, PyExc_StopAsyncIteration}) {
    const Value found = emit(Op::check_exc_match, {top().stack.back(), constant(type)}, here);
    hold(found);
    emit(Op::guard_false, {found}, here);
    release(found);
    flush_drops();
  }
}

// The coroutine or generator into which an exception has been thrown delegates to another one. Recordings of such
// frames begin behind their yields, so no trace contains it.
void ExceptionRules::cleanup_throw(const Instruction& /*instruction*/) { stop(Stop::k_thrown); }

}  // namespace tagalong::recorder
