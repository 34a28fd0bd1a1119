#include "rewriter/cpython/black_box/monitoring.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/methods.h"

namespace tagalong::cpython {
namespace {

// The original functions of sys.monitoring, and the events that are treated in their own ways.
struct Monitoring {
  _PyCFunctionFast register_callback = nullptr;
  _PyCFunctionFast set_local_events = nullptr;
  long line = 0;
  long jumps = 0;
  long throws = 0;
  long added = 0;  // events that instructions of ours have as well
};
Monitoring g_monitoring;                     // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
ReplacementsOf g_replacements_of = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

constexpr Py_ssize_t kMostArguments = 5;  // (code, offset, …) of any event

// What is registered in place of a tool's function.
struct Callback {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* function;
  long event;
};

PyObject* call_tool(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const auto& callback = *reinterpret_cast<Callback*>(self);
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  auto* code = count < 2 || count > kMostArguments || !PyCode_Check(arguments[0])
                   ? nullptr
                   : reinterpret_cast<PyCodeObject*>(arguments[0]);
  if (code != nullptr &&
      (is_internal_code(code) || (takes_hidden_throw(code) && callback.event == g_monitoring.throws))) {
    Py_RETURN_NONE;
  }
  PyCodeObject* shown = code == nullptr ? nullptr : shown_of(code);
  if (shown == code) {
    return PyObject_Vectorcall(callback.function, arguments, flags, names);
  }
  std::array<PyObject*, kMostArguments + 1> seen{};  // the first is free for the function
  std::copy_n(arguments, count, seen.begin() + 1);
  seen[1] = reinterpret_cast<PyObject*>(shown);
  std::array<Ref, 2> offsets;
  if (callback.event != g_monitoring.line) {
    const Py_ssize_t places = (callback.event & g_monitoring.jumps) != 0 && count > 2 ? 2 : 1;
    for (Py_ssize_t index = 0; index < places; ++index) {
      const long offset = PyLong_AsLong(arguments[index + 1]);
      if (offset == -1 && PyErr_Occurred() != nullptr) {
        return nullptr;
      }
      const int unit = static_cast<int>(offset) / static_cast<int>(sizeof(rewriter::CodeUnit));
      if (index == 0 && (callback.event & g_monitoring.added) != 0 && !is_shown_unit(code, unit)) {
        Py_RETURN_NONE;
      }
      offsets[index] = Ref::steal(PyLong_FromLong(shown_offset(code, static_cast<int>(offset))));
      if (!offsets[index]) {
        return nullptr;
      }
      seen[index + 2] = offsets[index].get();
    }
  }
  return PyObject_Vectorcall(callback.function, &seen[1],
                             static_cast<std::size_t>(count) | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}

void callback_dealloc(PyObject* self) {
  Py_DECREF(reinterpret_cast<Callback*>(self)->function);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* callback_type() {
  static PyTypeObject* type = nullptr;
  return once(type, [] {
    static std::array<PyMemberDef, 2> members = {{
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callback, call), READONLY, nullptr},
        {},
    }};
    static std::array<PyType_Slot, 4> slots = {{
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_dealloc, reinterpret_cast<void*>(callback_dealloc)},
        {Py_tp_members, members.data()},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Callback", sizeof(Callback), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

Ref make_callback(PyObject* function, long event) {
  PyTypeObject* type = callback_type();
  Ref callback = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (callback) {
    auto* own = reinterpret_cast<Callback*>(callback.get());
    own->call = call_tool;
    own->function = Py_NewRef(function);
    own->event = event;
  }
  return callback;
}

// sys.monitoring.register_callback(tool_id, event, function)
PyObject* register_callback(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  constexpr Py_ssize_t kCount = 3;
  if (count != kCount || arguments[2] == Py_None || !PyLong_Check(arguments[1])) {
    return g_monitoring.register_callback(module, arguments, count);
  }
  const long event = PyLong_AsLong(arguments[1]);
  PyErr_Clear();  // the original function raises it
  const Ref callback = make_callback(arguments[2], event);
  if (!callback) {
    return nullptr;
  }
  const std::array<PyObject*, kCount> passed = {arguments[0], arguments[1], callback.get()};
  return g_monitoring.register_callback(module, passed.data(), count);
}

PyObject* show_previous(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  PyObject* previous = register_callback(module, arguments, count);
  if (previous == nullptr || Py_TYPE(previous) != callback_type()) {
    return previous;
  }
  PyObject* function = Py_NewRef(reinterpret_cast<Callback*>(previous)->function);
  Py_DECREF(previous);
  return function;
}

// sys.monitoring.set_local_events(tool_id, code, event_set)
PyObject* set_local_events(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  constexpr Py_ssize_t kCount = 3;
  auto* code = count == kCount && PyCode_Check(arguments[1]) ? reinterpret_cast<PyCodeObject*>(arguments[1]) : nullptr;
  if (code != nullptr) {
    disarm(code);  // its beginning is not instrumented
  }
  PyObject* result = g_monitoring.set_local_events(module, arguments, count);
  if (result == nullptr || code == nullptr) {
    return result;
  }
  version::note_local_events(code);
  for (const CodeRef& other : g_replacements_of == nullptr ? std::vector<CodeRef>() : g_replacements_of(code)) {
    const std::array<PyObject*, kCount> passed = {arguments[0], reinterpret_cast<PyObject*>(other.get()), arguments[2]};
    if (result != nullptr) {
      Py_SETREF(result, g_monitoring.set_local_events(module, passed.data(), count));
    }
  }
  return result;
}

}  // namespace

void set_replacements_of(ReplacementsOf replacements_of) { g_replacements_of = replacements_of; }

void show_originals_to_tools() {
  PyObject* module = PySys_GetObject("monitoring");  // borrowed
  if (module == nullptr || g_monitoring.register_callback != nullptr) {
    return;
  }
  version::keep_monitoring_functions();
  const Ref events = Ref::steal(PyObject_GetAttrString(module, "events"));
  const auto event = [&events](const char* name) {
    const Ref number = events ? Ref::steal(PyObject_GetAttrString(events.get(), name)) : Ref();
    if (!number) {
      throw PythonError();
    }
    return PyLong_AsLong(number.get());
  };
  g_monitoring.line = event("LINE");
  g_monitoring.jumps = event("JUMP") | event("BRANCH");
  g_monitoring.throws = event("PY_THROW");
  g_monitoring.added = g_monitoring.jumps | event("INSTRUCTION") | event("CALL") | event("C_RETURN") |
                       event("C_RAISE") | event("STOP_ITERATION");
  g_monitoring.register_callback =
      replace_method(definition_of(module, "register_callback"), METH_FASTCALL, show_previous);
  g_monitoring.set_local_events =
      replace_method(definition_of(module, "set_local_events"), METH_FASTCALL, set_local_events);
}

}  // namespace tagalong::cpython
