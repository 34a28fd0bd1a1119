// A call of a specialised function: choosing a specialisation, and changing the frame for it.
#include <new>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/frame_redirect.h"
#include "rewriter/cpython/functions.h"
#include "runtime/records/anchor.h"
#include "runtime/records/function_copy.h"
#include "runtime/records/iterator_type.h"
#include "runtime/specialize/dispatch.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

// What the redirect function does after the dispatcher had no item. Between the two this thread runs nothing else. The
// references are owned.
struct Pending {
  PyCodeObject* code;  // the code object in which the frame continues
  int unit;
  int arguments;
  bool is_raise;
  PyObject *type, *value, *traceback;
};
thread_local Pending t_pending;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The arguments of a call, as guards and callables get them. The items of *args and **kwargs are listed behind the
// others.
class BoundArguments {
 public:
  // False with an exception set. Until it starts, the frame keeps the arguments alive.
  bool bind(const Dispatch& dispatch, Frame* frame) {
    PyObject* const* slots = cpython::locals_of(frame);
    if (!dispatch.has_rest && !dispatch.has_keywords) {
      arguments_ = {slots, dispatch.positional, dispatch.keyword_names.get()};
      return true;
    }
    PyObject* const* rest = slots + dispatch.positional + dispatch.keyword_only;
    listed_.assign(slots, slots + dispatch.positional);
    if (dispatch.has_rest) {
      for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(*rest); ++index) {
        listed_.push_back(PyTuple_GET_ITEM(*rest, index));
      }
      ++rest;
    }
    const auto count = static_cast<Py_ssize_t>(listed_.size());
    listed_.insert(listed_.end(), slots + dispatch.positional, slots + dispatch.positional + dispatch.keyword_only);
    names_ = dispatch.keyword_names;
    if (dispatch.has_keywords && PyDict_GET_SIZE(*rest) > 0 && !add_keywords(*rest)) {
      return false;
    }
    arguments_ = {listed_.data(), count, names_.get()};
    return true;
  }
  [[nodiscard]] const Arguments& arguments() const { return arguments_; }

 private:
  bool add_keywords(PyObject* keywords) {
    const Ref keys = Ref::steal(PyDict_Keys(keywords));
    const Ref more = keys ? Ref::steal(PyList_AsTuple(keys.get())) : Ref();
    names_ = !more ? Ref() : names_ ? Ref::steal(PySequence_Concat(names_.get(), more.get())) : more;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (names_ && PyDict_Next(keywords, &position, &key, &value) != 0) {
      listed_.push_back(value);
    }
    return static_cast<bool>(names_);
  }
  std::vector<PyObject*> listed_;
  Ref names_;
  Arguments arguments_;
};

int ask_all(const Specialization& specialization, const Arguments& arguments) {
  for (const Ref& guard : specialization.guards) {
    const int answer = ask(guard.get(), arguments);
    if (answer != TAGALONG_USE) {
      return answer;
    }
  }
  return TAGALONG_USE;
}

// While quiet guards are asked the list of specialisations may not change.
constexpr int kDisturbed = TAGALONG_ERROR - 1;  // an exception is set

int disturbed(Dispatch& dispatch) {
  dispatch.was_disturbed = false;
  if (PyErr_Occurred() == nullptr) {  // the guard has cleared it
    PyErr_Format(PyExc_RuntimeError, "a guard of %U() has tried to change the specialisations of the function",
                 dispatch.function->func_qualname);
  }
  return kDisturbed;
}

int ask_quiet(Dispatch& dispatch, const Specialization& specialization, const Arguments& arguments) {
  ++dispatch.asking;
  const int answer = ask_all(specialization, arguments);
  --dispatch.asking;
  return dispatch.was_disturbed ? disturbed(dispatch) : answer;
}

// Other guards may run user code. Quiet guards are asked once more behind them, so that they hold when the
// specialisation is used.
int ask_loud(const Specialization& specialization, const Arguments& arguments) {
  for (const Ref& guard : specialization.guards) {
    const int answer = ask(guard.get(), arguments);
    if (PyErr_Occurred() != nullptr) {
      return TAGALONG_ERROR;
    }
    if (answer < TAGALONG_NEVER || answer > TAGALONG_USE) {
      PyErr_Format(PyExc_SystemError, "a guard of type %.200s has answered %d", Py_TYPE(guard.get())->tp_name, answer);
      return TAGALONG_ERROR;
    }
    if (answer != TAGALONG_USE) {
      return answer;
    }
  }
  for (const Ref& guard : specialization.guards) {
    const bool is_quiet = (guard_at(guard.get())->flags & TAGALONG_QUIET) != 0;
    const int answer = is_quiet ? ask(guard.get(), arguments) : TAGALONG_USE;
    if (answer != TAGALONG_USE) {
      return answer;
    }
  }
  return TAGALONG_USE;
}

// The first specialisation whose guards hold, or null; false with an exception set. Specialisations added meanwhile are
// not asked, and those removed meanwhile are not used.
bool find(PyObject* dispatcher, const Arguments& arguments, SpecializationRef* found) {
  Dispatch& dispatch = dispatch_of(dispatcher);
  std::vector<SpecializationRef> at_the_start;
  bool is_own_list = false;
  for (std::size_t index = 0; index < (is_own_list ? at_the_start : dispatch.specializations).size(); ++index) {
    const SpecializationRef& next = (is_own_list ? at_the_start : dispatch.specializations)[index];
    if (next->is_removed) {
      continue;
    }
    int answer = TAGALONG_NOT_NOW;
    if (next->is_quiet) {
      answer = ask_quiet(dispatch, *next, arguments);
      if (answer == kDisturbed) {
        return false;
      }
      if (answer == TAGALONG_NOT_NOW) {
        continue;
      }
      if (answer == TAGALONG_USE) {
        *found = next;
        return true;
      }
    }
    if (!is_own_list) {
      at_the_start = dispatch.specializations;
      is_own_list = true;
    }
    const SpecializationRef& asked = at_the_start[index];
    if (!asked->is_quiet) {
      answer = ask_loud(*asked, arguments);
    }
    if (answer == TAGALONG_ERROR) {
      return false;
    }
    if (answer == TAGALONG_NEVER) {
      if (dispatch.asking == 0) {  // otherwise a quiet guard has called the function, and the outer call removes it
        remove(dispatcher, asked);
      }
    } else if (answer == TAGALONG_USE && !asked->is_removed) {
      *found = asked;
      return true;
    }
  }
  return true;
}

// A generator's call takes the size of its frame from the function's code, which a guard may have exchanged: then the
// frame gets a copy of the function with the old code.
bool keep_function(Frame* frame) {
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  PyCodeObject* code = cpython::code_of(frame);
  PyFunctionObject* function = cpython::function_of(frame);
  if ((code->co_flags & kSuspends) == 0 || function->func_code == reinterpret_cast<PyObject*>(code)) {
    return true;
  }
  const Ref copy = function_with_code(reinterpret_cast<PyObject*>(function), code);
  if (copy) {
    cpython::set_function(frame, reinterpret_cast<PyFunctionObject*>(copy.get()));
  }
  return static_cast<bool>(copy);
}

// Entering other code takes one call, which must be inlined by the interpreter.
bool can_enter(PyThreadState* thread, Frame* frame, const PyCodeObject* code) {
  return cpython::recursion_left(thread) > 0 && !cpython::foreign_hook(thread) && !cpython::has_watcher(thread) &&
         cpython::can_become(frame, code);
}

void expect(const CodeRef& code, int unit, const Dispatch& dispatch) {
  Py_INCREF(code.get());
  t_pending.code = code.get();
  t_pending.unit = unit;
  t_pending.arguments = dispatch.arguments;
}

// Raises from a dispatcher. A StopIteration is raised by the redirect function, since from an iterator it means its
// end.
PyObject* raised() {
  if (PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    PyErr_Fetch(&t_pending.type, &t_pending.value, &t_pending.traceback);
    t_pending.is_raise = true;
  }
  return nullptr;
}

bool is_builtin_of_one(PyThreadState* thread, const Specialization& chosen) {
  return chosen.kind == Specialization::Kind::kBuiltinOfOne && cpython::recursion_left(thread) > 0;
}

// The rare part of call_builtin: frees `builtin`, or raises.
[[gnu::noinline]] PyObject* after_call(PyObject* builtin, PyObject* result) {
  Py_DECREF(builtin);
  return result == nullptr ? raised() : result;
}

// As the interpreter's own instruction calls such a builtin.
PyObject* call_builtin(PyThreadState* thread, const Specialization& chosen, PyObject* argument) {
  PyObject* builtin = Py_NewRef(chosen.code.get());  // the specialisation may be removed meanwhile
  cpython::enter_recursion(thread);
  PyObject* result = chosen.function(chosen.self, argument);
  cpython::leave_recursion(thread);
  if (result == nullptr || Py_REFCNT(builtin) == 1) [[unlikely]] {
    return after_call(builtin, result);
  }
  Py_SET_REFCNT(builtin, Py_REFCNT(builtin) - 1);
  return result;
}

PyObject* use(PyThreadState* thread, Frame* frame, const Dispatch& dispatch, const Specialization& chosen,
              const Arguments& arguments) {
  if (dispatch.only_chooses) [[unlikely]] {
    return Py_NewRef(chosen.code.get());
  }
  if (chosen.kind == Specialization::Kind::kCode) {
    if (can_enter(thread, frame, chosen.entered.code.get())) {
      ++chosen.uses;
      expect(chosen.entered.code, chosen.entered.unit, dispatch);
    }
    return nullptr;
  }
  ++chosen.uses;
  if (chosen.kind == Specialization::Kind::kConstant) {
    return Py_NewRef(chosen.constant.get());
  }
  if (is_builtin_of_one(thread, chosen)) {
    return call_builtin(thread, chosen, arguments.values[0]);
  }
  const Ref callable = Ref::steal(Py_NewRef(chosen.code.get()));
  PyObject* result = PyObject_Vectorcall(callable.get(), arguments.values,
                                         static_cast<std::size_t>(arguments.positional), arguments.names);
  return result == nullptr ? raised() : result;
}

// No specialisation is used: replay code follows if the function is traced, otherwise the original instructions.
PyObject* continue_unspecialised(PyThreadState* thread, Frame* frame, const Dispatch& dispatch) {
  if (dispatch.only_chooses) {
    Py_RETURN_NONE;
  }
  PyObject* anchor = dispatch.is_traced ? anchor_of(dispatch.base.get()) : nullptr;
  if (anchor == nullptr) {
    return nullptr;
  }
  const CodeRecord& record = *record_of(anchor);
  const bool is_its = record.code.replay_code.get() == dispatch.base.get();
  if (is_its && !record.retirement.is_retired() && can_enter(thread, frame, dispatch.base.get())) {
    expect(dispatch.base, record.code.replay_code.pads.front(), dispatch);
  }
  return nullptr;
}

// Calls that need more than asking quiet guards.
[[gnu::noinline]] PyObject* dispatch_slowly(PyObject* self, PyThreadState* thread, Frame* frame) {
  Dispatch& dispatch = dispatch_of(self);
  const bool is_its = cpython::function_of(frame) == dispatch.function || dispatch.only_chooses;
  if (!is_its || cpython::has_watcher(thread)) {
    return dispatch.only_chooses ? Py_NewRef(Py_None) : nullptr;
  }
  // The frame keeps its code, and the code keeps the dispatcher.
  SpecializationRef chosen;
  BoundArguments bound;
  if (!bound.bind(dispatch, frame) || !find(self, bound.arguments(), &chosen) || !keep_function(frame)) {
    return raised();
  }
  return chosen ? use(thread, frame, dispatch, *chosen, bound.arguments())
                : continue_unspecialised(thread, frame, dispatch);
}

// For calls whose arguments lie in the frame in the order that guards expect.
Arguments plain_arguments(const Dispatch& dispatch, Frame* frame) {
  return {cpython::locals_of(frame), dispatch.positional, dispatch.keyword_names.get()};
}

[[gnu::noinline]] PyObject* use_first(PyObject* self, PyThreadState* thread, Frame* frame) {
  const Dispatch& dispatch = dispatch_of(self);
  return use(thread, frame, dispatch, *dispatch.first, plain_arguments(dispatch, frame));
}

// The first specialisation is not used. The guards of the others may all be quiet, too.
[[gnu::noinline]] PyObject* dispatch_behind_first(PyObject* self, PyThreadState* thread, Frame* frame, int answer) {
  Dispatch& dispatch = dispatch_of(self);
  const Arguments arguments = plain_arguments(dispatch, frame);
  for (std::size_t index = 1; answer == TAGALONG_NOT_NOW && index < dispatch.specializations.size(); ++index) {
    const Specialization& next = *dispatch.specializations[index];
    answer = next.is_quiet ? ask_quiet(dispatch, next, arguments) : TAGALONG_ERROR;
    if (answer == TAGALONG_USE) {
      return use(thread, frame, dispatch, next, arguments);
    }
  }
  if (answer == kDisturbed) {
    return raised();
  }
  return answer == TAGALONG_NOT_NOW ? continue_unspecialised(thread, frame, dispatch)
                                    : dispatch_slowly(self, thread, frame);
}

// Asks all guards of the first specialisation.
[[gnu::noinline]] PyObject* dispatch_first(PyObject* self, PyThreadState* thread, Frame* frame) {
  Dispatch& dispatch = dispatch_of(self);
  const int answer = ask_quiet(dispatch, *dispatch.first, plain_arguments(dispatch, frame));
  if (answer == kDisturbed) {
    return raised();
  }
  if (answer != TAGALONG_USE) {
    return dispatch_behind_first(self, thread, frame, answer);
  }
  try {
    if (dispatch.asking == 0) {  // otherwise one of these guards has called the function
      dispatch.first_has_held();
    }
  } catch (const std::bad_alloc&) {
    dispatch.has_held = false;
  }
  return use_first(self, thread, frame);
}

// With such an argument, no function of the module `builtins` that takes one argument runs user code, raises
// StopIteration, or depends on the recursion limit: its result can be returned directly.
bool is_plain(PyObject* value) {
  return PyLong_CheckExact(value) || PyUnicode_CheckExact(value) || PyFloat_CheckExact(value);
}

[[gnu::noinline]] PyObject* dispatch(PyObject* self, PyThreadState* thread, Frame* frame) {
  Dispatch& dispatch = dispatch_of(self);
  if (dispatch.first == nullptr || cpython::has_watcher(thread)) [[unlikely]] {
    return dispatch_slowly(self, thread, frame);
  }
  if (!dispatch.are_unchanged()) [[unlikely]] {
    return dispatch_first(self, thread, frame);
  }
  PyObject* const* slots = cpython::locals_of(frame);
  int answer = TAGALONG_USE;
  ++dispatch.asking;
  for (PyObject* guard : dispatch.others) {
    answer = guard_at(guard)->check(guard, slots, dispatch.positional, dispatch.keyword_names.get());
    if (answer != TAGALONG_USE) {
      break;
    }
  }
  --dispatch.asking;
  if (dispatch.was_disturbed) [[unlikely]] {
    disturbed(dispatch);
    return raised();
  }
  if (answer != TAGALONG_USE) {
    return dispatch_behind_first(self, thread, frame, answer);
  }
  return use_first(self, thread, frame);
}

// Each call of a specialised function comes here. All its own calls are tail calls, so it need not save registers.
PyObject* dispatcher_next(PyObject* self) {
  PyThreadState* thread = cpython::thread_state();
  Frame* frame = cpython::current_frame(thread);
  const Quick& quick = dispatch_of(self).quick;
  if (quick.first == nullptr || cpython::has_watcher(thread) || !quick.are_unchanged()) {
    return dispatch(self, thread, frame);
  }
  if (quick.first->kind == Specialization::Kind::kConstant) {
    ++quick.first->uses;
    return Py_NewRef(quick.first->constant.get());
  }
  if (is_builtin_of_one(thread, *quick.first)) {
    ++quick.first->uses;
    PyObject* argument = cpython::locals_of(frame)[0];
    return quick.first->is_quiet_builtin && is_plain(argument) ? quick.first->function(quick.first->self, argument)
                                                               : call_builtin(thread, *quick.first, argument);
  }
  return dispatch(self, thread, frame);
}

PyObject* redirect_next(PyObject* /*self*/) {
  if (t_pending.code == nullptr && !t_pending.is_raise) {
    return nullptr;
  }
  cpython::expect_redirect(cpython::thread_state());
  Py_RETURN_NONE;
}

PyObject* redirect_frame(PyThreadState* /*thread*/, Frame* frame, PyObject* /*argument*/, bool can_redirect) {
  if (std::exchange(t_pending.is_raise, false)) {
    PyErr_Restore(std::exchange(t_pending.type, nullptr), std::exchange(t_pending.value, nullptr),
                  std::exchange(t_pending.traceback, nullptr));
    return nullptr;
  }
  TAGALONG_CHECK(can_redirect && t_pending.code != nullptr, "specialised code was not entered by an inlined call");
  const CodeRef code = CodeRef::steal(std::exchange(t_pending.code, nullptr));
  cpython::become(frame, code.get(), t_pending.unit, t_pending.arguments);
  Py_RETURN_NONE;
}

void delete_dispatcher(PyObject* self) {
  unregister_dispatcher(self);
  dispatch_of(self).~Dispatch();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

Ref make_dispatcher() {
  // The type has no garbage collection: references of a dispatcher are visited as the function's own.
  static PyTypeObject* type = nullptr;
  cpython::once(type, [] {
    return make_iterator_type("tagalong._core.Dispatcher", sizeof(Dispatcher), dispatcher_next, nullptr,
                              delete_dispatcher);
  });
  Ref made = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (!made) {
    throw PythonError();
  }
  new (&dispatch_of(made.get())) Dispatch();
  return made;
}

Ref dispatch_redirect_iterator() {
  static PyObject* object = nullptr;
  cpython::once(object, [] {
    PyTypeObject* type =
        make_iterator_type("tagalong._core.DispatchRedirect", sizeof(PyObject), redirect_next, nullptr, nullptr);
    return type == nullptr ? nullptr : type->tp_alloc(type, 0);
  });
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::create(object);
}

Ref dispatch_redirect() {
  static PyObject* function = nullptr;
  cpython::once(function, [] { return cpython::make_redirect_function("enter", redirect_frame, false).release(); });
  if (function == nullptr) {
    throw PythonError();
  }
  return Ref::create(function);
}

}  // namespace tagalong::runtime
