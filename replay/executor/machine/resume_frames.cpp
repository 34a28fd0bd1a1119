#include "replay/executor/machine/resume_frames.h"

#include <algorithm>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"
#include "replay/objects/overloads.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/generators.h"
#include "version/snippets.h"

namespace tagalong::replay {

namespace {

// What a frame that has run in the interpreter gives to its caller.
struct FrameResult {
  const FrameInfo* frame = nullptr;
  PyObject* result = nullptr;  // owned; null: an exception is set
  bool has_ended = false;      // a generator has returned
};

// What C code does with the result of a Python function that it has called (ReturnKind).
PyObject* finish_return(const FrameInfo& frame, PyObject* result, PyObject* instance, PyObject* const* caller_top,
                        PyObject* name) {
  const ReturnKind kind = frame.return_kind;
  TAGALONG_CHECK(kind == ReturnKind::kPlain || caller_top != nullptr, "the root frame returns as {}",
                 static_cast<int>(kind));
  if (kind == ReturnKind::kAttribute && result == nullptr) {
    complete_attribute_error(caller_top[-1], name);
    return nullptr;
  }
  if (result == nullptr || kind == ReturnKind::kPlain || kind == ReturnKind::kAttribute ||
      kind == ReturnKind::kDiscard || kind == ReturnKind::kIteration || is_resumption(kind)) {
    return result;
  }
  const Ref owned = Ref::steal(result);
  if (kind == ReturnKind::kOperator) {
    if (result == Py_NotImplemented) {
      return finish_operator(frame.operation, caller_top[-2], caller_top[-1]);
    }
    return Operator::of(frame.operation).negates ? finish_slot(static_cast<int>(SlotCheck::kAnyNot), result)
                                                 : Py_NewRef(result);
  }
  if (kind == ReturnKind::kChecked) {
    return finish_slot(frame.operation, result);
  }
  if (kind == ReturnKind::kBranch) {
    return finish_slot(
        static_cast<int>(Branch::of(frame.operation).by_length ? SlotCheck::kLengthTruth : SlotCheck::kTruth), result);
  }
  if (result != Py_None) {
    PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
    return nullptr;
  }
  return Py_NewRef(instance);
}

// Where a conditional jump continues after it has called __bool__ or __len__.
struct BranchEnd {
  BranchEnd(const FrameInfo& returned, int instruction, PyObject* truth) {
    const Branch branch = Branch::of(returned.operation);
    const bool is_taken = (truth == Py_True) == branch.jumps_if_true;
    next = is_taken ? branch.target : instruction + 1;
    keeps = is_taken && branch.keeps_when_taken;
  }
  int next;
  bool keeps;  // the value stays on the stack
};

// Whether the exception that __next__ has raised ends the loop of FOR_ITER; then it is cleared.
bool ends_loop(const FrameInfo& returned, PyObject* result) {
  if (returned.return_kind != ReturnKind::kIteration || result != nullptr ||
      PyErr_ExceptionMatches(PyExc_StopIteration) == 0) {
    return false;
  }
  PyErr_Clear();
  return true;
}

// The caller's instruction takes the result of the frame that it has called or resumed. Its stack has `depth` values
// and room for two more. Gives the next instruction; -1: this one raises the exception that is set.
int take_result(const FrameResult& given, int instruction, PyObject** stack, int& depth) {
  const FrameInfo& returned = *given.frame;
  const auto pop = [&](int count) {
    for (int place = depth - count; place < depth; ++place) {
      Py_XDECREF(stack[place]);  // one may be the NULL of the calling convention
    }
    depth -= count;
  };
  if (given.has_ended || ends_loop(returned, given.result)) {
    if (returned.return_kind == ReturnKind::kDelegation) {
      pop(version::kSendKeepsReceiver ? 1 : 2);  // what was sent, and its receiver
      stack[depth++] = given.result;
    } else {
      Py_XDECREF(given.result);
      pop(1);  // the iterator
    }
    return returned.operation;
  }
  if (given.result != nullptr && returned.return_kind == ReturnKind::kBranch) {
    const BranchEnd end(returned, instruction, given.result);
    Py_DECREF(given.result);
    pop(end.keeps ? 0 : 1);
    return end.next;
  }
  if (given.result == nullptr) {
    if (is_resumption(returned.return_kind)) {
      pop(returned.pops);
    }
    return -1;
  }
  pop(returned.pops);
  if (returned.return_kind == ReturnKind::kDiscard) {
    Py_DECREF(given.result);
  } else {
    stack[depth++] = given.result;
    const bool is_loaded = returned.return_kind == ReturnKind::kPlain || returned.return_kind == ReturnKind::kAttribute;
    if (is_loaded && (returned.operation & kNullAboveResult) != 0) {
      stack[depth++] = nullptr;
    }
  }
  return instruction + 1;
}

// The consumer of a snapshot consumes the rest, with the result of the frame above, if there is one, and its results
// replace its operands. Gives the same as take_result().
int finish_consumer(const Consuming& consuming, ResumedFrame& frame, const FrameResult& given, int instruction,
                    PyObject** stack, int& depth) {
  const Given what = given.frame == nullptr    ? Given::kNothing
                     : given.has_ended         ? Given::kEnd
                     : given.result == nullptr ? Given::kError
                                               : Given::kItem;
  Ref result = Ref::steal(consume_rest(consuming, frame.consumed, what, Ref::steal(given.result)));
  while (!frame.consumed.empty()) {
    frame.consumed.pop_back();  // from the top, as C code drops what it has unpacked
  }
  for (int place = depth - consuming.pops; place < depth; ++place) {
    Py_XDECREF(stack[place]);  // one may be the NULL of the calling convention
  }
  depth -= consuming.pops;
  if (!result) {
    return -1;
  }
  if (consuming.consumer == Consumer::kUnpack) {
    for (Py_ssize_t index = PyTuple_GET_SIZE(result.get()); index > 0; --index) {
      stack[depth++] = Py_NewRef(PyTuple_GET_ITEM(result.get(), index - 1));
    }
  } else if (consuming.results != 0) {
    stack[depth++] = result.release();
  }
  return instruction + 1;
}

// Runs the real frame of this level until it returns, yields or raises: from the instruction `next`, or, if that is -1,
// with its current one raising the exception that is set.
FrameResult run_to_end(RunState& state, int level, const LoweredSnapshot& own, int next, int depth) {
  const CodeShape& shape = *state.program.shapes[static_cast<std::size_t>(own.frame)];
  const bool raise = next < 0;
  const int unit =
      raise ? shape.shown[static_cast<std::size_t>(own.instruction)] : shape.starts[static_cast<std::size_t>(next)];
  FrameResult given;
  given.frame = &state.program.graph.frames[static_cast<std::size_t>(own.frame)];
  const int levels = recursion_levels(state, level);
  cpython::leave_recursion(state.run.thread);  // the interpreter counts it now
  cpython::Frame* frame = state.run.frames[level];
  ActiveRun::remove(frame);
  --state.run.depth;
  if (!is_resumption(given.frame->return_kind)) {
    given.result = cpython::run_frame(state.run.thread, frame, unit, depth, raise);
    cpython::leave_recursion(state.run.thread, levels - 1);
    return given;
  }
  // A generator's frame continues as after send() or throw().
  const PySendResult status = cpython::continue_generator(state.run.thread, frame, unit, depth, raise, &given.result);
  given.has_ended = status == PYGEN_RETURN;
  if (given.has_ended && given.frame->return_kind == ReturnKind::kSend) {
    given.has_ended = false;
    cpython::raise_stop_iteration(Ref::steal(given.result).get());
    given.result = nullptr;
  }
  return given;
}

// Where the root frame continues. `has_callee`: its instruction has called or resumed the frame that has ended, or a
// consumer finishes it.
void fill_side_exit(SideExit& side_exit, const LoweredSnapshot& root, ResumedFrame& frame, const FrameResult& given,
                    bool has_callee, bool raise) {
  side_exit.instruction = root.instruction;
  side_exit.raise = raise;
  if (has_callee) {
    auto depth = static_cast<int>(side_exit.stack.size());
    side_exit.stack.resize(side_exit.stack.size() + static_cast<std::size_t>(std::max(2, root.consuming.results)));
    PyObject** stack = side_exit.stack.data();
    const int next = root.consuming ? finish_consumer(root.consuming, frame, given, root.instruction, stack, depth)
                                    : take_result(given, root.instruction, stack, depth);
    side_exit.stack.resize(static_cast<std::size_t>(depth));
    side_exit.raise = next < 0;
    side_exit.instruction = side_exit.raise ? root.instruction : next;
  }
  if (side_exit.raise) {
    PyObject* parts[3] = {};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    side_exit.type = Ref::steal(parts[0]);
    side_exit.value = Ref::steal(parts[1]);
    side_exit.traceback = Ref::steal(parts[2]);
  }
}

}  // namespace

Outcome resume_frames(RunState& state, const LoweredSnapshot& inner, std::vector<ResumedFrame> frames, int first_own,
                      bool raise) {
  FrameResult given;
  const int innermost = state.run.depth - 1;
  for (int level = innermost; level >= first_own; --level) {
    const LoweredSnapshot& own = state.snapshot(inner.chain[level]);
    ResumedFrame& frame = frames[static_cast<std::size_t>(level)];
    int next = own.instruction;
    auto depth = static_cast<int>(own.depth());
    PyObject** stack = cpython::stack_base(state.run.frames[level]);
    if (own.consuming && !(level == innermost && raise)) {
      next = finish_consumer(own.consuming, frame, given, own.instruction, stack, depth);
      raise = next < 0;
    } else if (level != innermost) {
      next = take_result(given, own.instruction, stack, depth);
      raise = next < 0;
    }
    const FrameInfo& info = state.program.graph.frames[static_cast<std::size_t>(own.frame)];
    given = run_to_end(state, level, own, raise ? -1 : next, depth);
    PyObject* const* caller_top = nullptr;
    if (level > first_own) {
      const auto& caller = state.snapshot(inner.chain[level - 1]);
      caller_top = cpython::stack_base(state.run.frames[level - 1]) + caller.depth();
    } else if (level > 0) {
      caller_top = state.run.side_exit->stack.data() + state.run.side_exit->stack.size();
    }
    PyObject* attribute = nullptr;
    if (info.return_kind == ReturnKind::kAttribute) {
      const PyCodeObject* caller = state.program.shapes[static_cast<std::size_t>(info.parent)]->code.get();
      attribute = PyTuple_GET_ITEM(caller->co_names, info.operation & ~kNullAboveResult);
    }
    given.result = finish_return(info, given.result, frame.instance.get(), caller_top, attribute);
    frame.instance = Ref();  // from here on only the caller holds it
  }
  if (first_own == 0) {
    state.run.result = Ref::steal(given.result);
    return given.result != nullptr ? Outcome::kReturned : Outcome::kRaised;
  }
  const LoweredSnapshot& root = state.snapshot(inner.chain.front());
  fill_side_exit(*state.run.side_exit, root, frames.front(), given, innermost > 0 || (root.consuming && !raise), raise);
  return Outcome::kLeft;
}

}  // namespace tagalong::replay
