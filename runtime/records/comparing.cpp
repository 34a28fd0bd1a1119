#include "runtime/records/comparing.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/session.h"
#include "rewriter/base/dicts.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/generators.h"
#include "rewriter/cpython/requests.h"
#include "rewriter/cpython/stacks.h"
#include "runtime/base/options.h"
#include "runtime/records/anchor.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

struct Callbacks {
  Ref tell, compare, fork;
};
Callbacks* g_callbacks = nullptr;
bool g_is_copy = false;
thread_local int t_depth = 0;
int g_too_deep = 0;  // frames at the greatest depth, of all threads: calls from them are not compared

// Each level of calls takes C stack while the hook is installed.
constexpr int kMostDepth = 200;

// The first calls are compared, later only those whose number is a power of two.
bool is_due(std::uint64_t number) {
  constexpr std::uint64_t kAlways = 16;
  return number <= kAlways || std::has_single_bit(number);
}

// Null: the frame is not compared.
CodeRecord* record_to_compare(PyThreadState* thread, Frame* frame, int throw_flag) {
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  PyCodeObject* code = cpython::code_of(frame);
  PyObject* anchor = throw_flag != 0 || cpython::original_of(code) == code ? nullptr : anchor_of(code);
  // The call of a generator only makes the object.
  const bool makes_object = (code->co_flags & kSuspends) != 0 && !cpython::is_of_generator(frame);
  if (anchor == nullptr || makes_object || cpython::is_watched(thread) || recorder::Session::is_recording(thread)) {
    return nullptr;
  }
  CodeRecord* record = record_of(anchor);
  const bool is_its = record->code.replay_code.get() == code;
  return is_its && is_due(++record->calls_seen) && record->code.entries.executor_count() != 0 ? record : nullptr;
}

// The frame's inputs, to be compared after it has run. Objects that only the frame owns are left out: they must die in
// the frame as they would without tagalong.
Ref inputs_of(Frame* frame) {
  const PyCodeObject* code = cpython::code_of(frame);
  const int varargs = (code->co_flags & CO_VARARGS) != 0 ? 1 : 0;
  const int keywords = (code->co_flags & CO_VARKEYWORDS) != 0 ? 1 : 0;
  const int arguments = code->co_argcount + code->co_kwonlyargcount + varargs + keywords;
  const int count = cpython::is_of_generator(frame) ? cpython::slot_count(code) : arguments;
  Ref inputs = Ref::steal(PyTuple_New(count));
  for (int slot = 0; inputs && slot < count; ++slot) {
    PyObject* object = cpython::locals_of(frame)[slot];
    if (object != nullptr && PyCell_Check(object)) {
      object = PyCell_GET(object);
    }
    const bool is_kept = object != nullptr && Py_REFCNT(object) > 1;
    PyTuple_SET_ITEM(inputs.get(), slot, Py_NewRef(is_kept ? object : Py_None));
  }
  return inputs;
}

// How the evaluation of a frame has ended. An exception is taken from the thread meanwhile.
struct Ended {
  Ref result, type, value, traceback;
  bool has_yielded = false;

  Ended(PyThreadState* thread, Frame* frame) {
    const bool is_of_generator =
        cpython::is_of_generator(frame);  // asked before: afterwards its consumer has the frame
    result = Ref::steal(cpython::pass_to_handler(thread, frame, 0));
    if (result) {
      has_yielded = is_of_generator && cpython::has_yielded(frame);
      return;
    }
    std::array<PyObject*, 3> parts{};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    PyErr_NormalizeException(&parts[0], &parts[1], &parts[2]);
    if (parts[2] != nullptr) {
      PyException_SetTraceback(parts[1], parts[2]);
    }
    type = Ref::steal(parts[0]);
    value = Ref::steal(parts[1]);
    traceback = Ref::steal(parts[2]);
  }

  PyObject* give_back() {
    if (!result) {
      PyErr_Restore(type.release(), value.release(), traceback.release());
    }
    return result.release();
  }

  [[nodiscard]] PyObject* shown_result() const { return result ? result.get() : Py_None; }
  [[nodiscard]] PyObject* shown_exception() const { return value ? value.get() : Py_None; }
};

// The copied process must not continue with the program: it ends here in any case.
[[noreturn]] void replay_in_copy(PyThreadState* thread, Frame* frame, const CodeRecord& record, int pipe) {
  g_is_copy = true;
  detail::runs_as_written = false;
  if (cpython::has_hook()) {
    cpython::release_hook();  // it would limit the depth of calls
  }
  const int silence = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream <= 2; ++stream) {
    dup2(silence, stream);
  }
  const std::uint64_t hits = record.code.counters.hits;
  const Ref inputs = inputs_of(frame);
  const Ended ended(thread, frame);
  if (inputs) {
    const Ref told = Ref::steal(PyObject_CallFunction(
        g_callbacks->tell.get(), "iOO(OOO)", pipe, record.code.counters.hits > hits ? Py_True : Py_False, inputs.get(),
        ended.shown_result(), ended.shown_exception(), ended.has_yielded ? Py_True : Py_False));
  }
  _exit(0);
}

// The number of the copied process; 0 in the copy itself, -1: there is none.
long fork_process() {
  const Ref number = Ref::steal(PyObject_CallNoArgs(g_callbacks->fork.get()));
  const long process = number ? PyLong_AsLong(number.get()) : -1;
  PyErr_Clear();
  return process;
}

PyObject* compare_frame(PyThreadState* thread, Frame* frame, CodeRecord& record) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return cpython::pass_to_handler(thread, frame, 0);
  }
  const auto number = static_cast<unsigned long long>(record.calls_seen);
  const Ref code = Ref::create(reinterpret_cast<PyObject*>(cpython::original_of(cpython::code_of(frame))));
  const Ref globals = Ref::create(frame->f_globals);
  const Ref keep = Ref::create(anchor_of(cpython::code_of(frame)));  // the program may delete the function
  const long process = fork_process();
  if (process == 0) {
    replay_in_copy(thread, frame, record, pipe[1]);
  }
  close(pipe[1]);
  const Ref inputs = process > 0 ? inputs_of(frame) : Ref();
  Ended ended(thread, frame);
  if (!inputs) {
    close(pipe[0]);
    return ended.give_back();
  }
  PyObject* module = PyDict_Check(globals.get()) ? item_of(globals.get(), "__name__") : nullptr;
  const bool has_postponed = cpython::postpone_requests(thread);
  const Ref replayed = Ref::steal(PyObject_CallFunction(
      g_callbacks->compare.get(), "il(OOK)O(OOO)", pipe[0], process, code.get(), module != nullptr ? module : Py_None,
      number, inputs.get(), ended.shown_result(), ended.shown_exception(), ended.has_yielded ? Py_True : Py_False));
  if (has_postponed) {
    cpython::resume_requests(thread);
  }
  if (!replayed) {
    return nullptr;  // a signal's handler has raised it
  }
  record.has_missed = replayed.get() == Py_False;
  return ended.give_back();
}

// While the hook is installed a call also keeps its arguments on the caller's stack. They are removed from there, so
// that their reference counts and the time of their death are as without tagalong.
void take_arguments_from_caller(PyThreadState* thread, Frame* callee) {
  Frame* caller = cpython::current_frame(thread);
  if (caller == nullptr) {
    return;
  }
  PyObject* anchor = anchor_of(cpython::code_of(caller));
  const CodeRecord* record = anchor == nullptr ? nullptr : record_of(anchor);
  const PyCodeObject* replay_code = record == nullptr ? nullptr : record->code.replay_code.get();
  if (replay_code == nullptr || replay_code != cpython::code_of(caller) || recorder::Session::is_recording(thread)) {
    return;
  }
  const auto unit = std::ranges::lower_bound(record->code.replay_code.units, cpython::unit_of(caller));
  if (unit == record->code.replay_code.units.end() || *unit != cpython::unit_of(caller)) {
    return;
  }
  const auto place = static_cast<std::size_t>(unit - record->code.replay_code.units.begin());
  const rewriter::Instruction& call = record->code.decoded().assembly.instructions[place];
  if (!recorder::is_call(call.opcode)) {
    return;
  }
  PyObject** slots =
      cpython::stack_base(caller) + record->code.decoded().shape->depths[place] - recorder::operands_of_call(call);
  const bool has_null = slots[recorder::kNullSlot] == nullptr;
  if (*recorder::callable_among(slots, has_null) != reinterpret_cast<PyObject*>(cpython::function_of(callee))) {
    return;
  }
  PyObject** end = slots + recorder::kCallSlots + call.arg;
  for (PyObject** slot = slots + (has_null ? 2 : 1); slot != end; ++slot) {
    PyObject* old = std::exchange(*slot, Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

PyObject* observe_frame(PyThreadState* thread, Frame* frame, int throw_flag) {
  if (g_is_copy) {
    return cpython::pass_to_handler(thread, frame, throw_flag);
  }
  if (throw_flag == 0 && !cpython::is_of_generator(frame)) {
    take_arguments_from_caller(thread, frame);
  }
  struct Level {
    Level() { ++t_depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --t_depth; }
  } level;
  if (t_depth >= kMostDepth || !cpython::has_c_stack(thread, options().limits.stack)) {
    // Recordings of other stacks use the hook, too. Without an observer it is removed while they wait.
    if (g_too_deep++ == 0) {
      cpython::set_observer(nullptr);
      cpython::release_hook();
    }
    PyObject* result = cpython::pass_to_handler(thread, frame, throw_flag);
    if (--g_too_deep == 0) {
      cpython::set_observer(observe_frame);
      cpython::acquire_hook();
    }
    return result;
  }
  CodeRecord* record = record_to_compare(thread, frame, throw_flag);
  return record == nullptr ? cpython::pass_to_handler(thread, frame, throw_flag)
                           : compare_frame(thread, frame, *record);
}

}  // namespace

void start_comparing(const Ref& tell, const Ref& compare, const Ref& fork) {
  if (g_callbacks == nullptr) {
    g_callbacks = new Callbacks{tell, compare, fork};
    detail::runs_as_written = true;
    cpython::set_observer(observe_frame);
    cpython::acquire_hook();
  }
}

}  // namespace tagalong::runtime
