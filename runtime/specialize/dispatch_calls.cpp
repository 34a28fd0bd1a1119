// A call of a specialised function: which specialisation, and what becomes of the frame that waits.
#include <new>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/frame_redirect.h"
#include "rewriter/cpython/functions.h"
#include "runtime/records/anchor.h"
#include "runtime/records/function_copy.h"
#include "runtime/specialize/dispatch.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

// What the stub does after the dispatcher had no item. Between the two nothing else runs in this thread. Owned.
struct Pending {
  PyCodeObject* code;  // to go on in
  int unit;
  int arguments;
  bool is_raise;
  PyObject *type, *value, *traceback;
};
thread_local Pending t_pending;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The arguments of a call, as guards and callables get them: those of a function with *args or **kwargs are put in
// line.
class BoundArguments {
 public:
  // False with an exception set. The frame keeps the arguments alive as long as it has not begun.
  bool bind(const Dispatch& dispatch, Frame* frame) {
    PyObject* const* slots = cpython::locals_of(frame);
    if (!dispatch.has_rest && !dispatch.has_keywords) {
      arguments_ = {slots, dispatch.positional, dispatch.keyword_names.get()};
      return true;
    }
    PyObject* const* rest = slots + dispatch.positional + dispatch.keyword_only;
    in_line_.assign(slots, slots + dispatch.positional);
    if (dispatch.has_rest) {
      for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(*rest); ++index) {
        in_line_.push_back(PyTuple_GET_ITEM(*rest, index));
      }
      ++rest;
    }
    const auto count = static_cast<Py_ssize_t>(in_line_.size());
    in_line_.insert(in_line_.end(), slots + dispatch.positional, slots + dispatch.positional + dispatch.keyword_only);
    names_ = dispatch.keyword_names;
    if (dispatch.has_keywords && PyDict_GET_SIZE(*rest) > 0 && !add_keywords(*rest)) {
      return false;
    }
    arguments_ = {in_line_.data(), count, names_.get()};
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
      in_line_.push_back(value);
    }
    return static_cast<bool>(names_);
  }
  std::vector<PyObject*> in_line_;
  Ref names_;
  Arguments arguments_;
};

// Asks the guards of one in order. Those that run no code of others are asked again where others have, so that what is
// used holds at the moment it is used.
int ask_all(const Specialization& specialization, const Arguments& arguments) {
  for (const Ref& guard : specialization.guards) {
    const int answer = ask(guard.get(), arguments);
    if (answer != TAGALONG_USE) {
      return answer;
    }
  }
  return TAGALONG_USE;
}

// Quiet guards of one in the list, which stays as it is meanwhile.
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

// The first one whose guards hold, null if there is none; false with an exception set. Those that are added meanwhile
// are not asked, those that are removed meanwhile are not used.
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
      if (dispatch.asking == 0) {  // a quiet guard has called the function: its own call removes it
        remove(dispatcher, asked);
      }
    } else if (answer == TAGALONG_USE && !asked->is_removed) {
      *found = asked;
      return true;
    }
  }
  return true;
}

// The frame of a generator's call looks at its function's code for its size. Somebody has exchanged that meanwhile.
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

// A landing takes a call, and other code is entered only by one that is inlined.
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

// To raise from a dispatcher; the interpreter takes a StopIteration that an iterator raises for its end.
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

// What comes after a call in rare cases: `builtin` is given up.
[[gnu::noinline]] PyObject* after_call(PyObject* builtin, PyObject* result) {
  Py_DECREF(builtin);
  return result == nullptr ? raised() : result;
}

// As the interpreter's own instruction for such a call does it.
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

// None is used: the original instructions follow, unless the function is traced.
PyObject* go_on(PyThreadState* thread, Frame* frame, const Dispatch& dispatch) {
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

// Calls for which there is more to do than to ask quiet guards.
[[gnu::noinline]] PyObject* dispatch_slowly(PyObject* self, PyThreadState* thread, Frame* frame) {
  Dispatch& dispatch = dispatch_of(self);
  const bool is_its = cpython::function_of(frame) == dispatch.function || dispatch.only_chooses;
  if (!is_its || cpython::has_watcher(thread)) {
    return dispatch.only_chooses ? Py_NewRef(Py_None) : nullptr;
  }
  // The frame keeps its code, that the dispatcher.
  SpecializationRef chosen;
  BoundArguments bound;
  if (!bound.bind(dispatch, frame) || !find(self, bound.arguments(), &chosen) || !keep_function(frame)) {
    return raised();
  }
  return chosen ? use(thread, frame, dispatch, *chosen, bound.arguments()) : go_on(thread, frame, dispatch);
}

// Of a call whose arguments lie in its frame as guards get them.
Arguments plain_arguments(const Dispatch& dispatch, Frame* frame) {
  return {cpython::locals_of(frame), dispatch.positional, dispatch.keyword_names.get()};
}

[[gnu::noinline]] PyObject* use_first(PyObject* self, PyThreadState* thread, Frame* frame) {
  const Dispatch& dispatch = dispatch_of(self);
  return use(thread, frame, dispatch, *dispatch.first, plain_arguments(dispatch, frame));
}

// The first one is not used; the others may all be quiet, too.
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
  return answer == TAGALONG_NOT_NOW ? go_on(thread, frame, dispatch) : dispatch_slowly(self, thread, frame);
}

// All guards of the first one, in order.
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
    if (dispatch.asking == 0) {  // else a quiet guard of it has called the function, and is in the list that this makes
      dispatch.first_has_held();
    }
  } catch (const std::bad_alloc&) {
    dispatch.has_held = false;
  }
  return use_first(self, thread, frame);
}

// Given such a value, no function of the module `builtins` that takes one argument runs code of others, raises
// StopIteration, or could see that its call was not counted towards the recursion limit: nothing is left to do behind
// it.
bool is_plain(PyObject* value) {
  return PyLong_CheckExact(value) || PyUnicode_CheckExact(value) || PyFloat_CheckExact(value);
}

[[gnu::noinline]] PyObject* dispatch(PyObject* self, PyThreadState* thread, Frame* frame) {
  Dispatch& dispatch = dispatch_of(self);
  if (dispatch.first == nullptr || cpython::has_watcher(thread)) [[unlikely]] {
    return dispatch_slowly(self, thread, frame);
  }
  if (!dispatch.are_as_they_were()) [[unlikely]] {
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

// Each call of a specialised function comes here. It does nothing after the calls that it makes itself, so there is
// nothing that it would have to save first.
PyObject* dispatcher_next(PyObject* self) {
  PyThreadState* thread = cpython::thread_state();
  Frame* frame = cpython::current_frame(thread);
  const Quick& quick = dispatch_of(self).quick;
  if (quick.first == nullptr || cpython::has_watcher(thread) || !quick.are_as_they_were()) {
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

PyTypeObject* make_iterator_type(const char* name, int size, iternextfunc next, destructor dealloc) {
  std::vector<PyType_Slot> slots = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                    {Py_tp_iternext, reinterpret_cast<void*>(next)}};
  if (dealloc != nullptr) {
    slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(dealloc)});
  }
  slots.push_back({0, nullptr});
  // The collector must not see a dispatcher: what it refers to is visited as the function's own.
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

Ref make_dispatcher() {
  static PyTypeObject* type = nullptr;
  cpython::once(type, [] {
    return make_iterator_type("tagalong._core.Dispatcher", sizeof(Dispatcher), dispatcher_next, delete_dispatcher);
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
    PyTypeObject* type = make_iterator_type("tagalong._core.DispatchLanding", sizeof(PyObject), redirect_next, nullptr);
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
