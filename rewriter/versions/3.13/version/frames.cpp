#include "version/frames.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "rewriter/base/pending_error.h"
#include "rewriter/base/ref.h"
#include "version/threads.h"

namespace tagalong::version {
namespace {

// Functions of sys.monitoring, which have no counterparts in C.
struct Functions {
  PyObject* module = nullptr;
  PyCFunctionFast get_local_events = nullptr;
  PyCFunctionFast set_local_events = nullptr;
};
Functions g_functions;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): written once, under the GIL

PyCFunctionFast function_of(PyObject* module, const char* name) {
  const Ref function = Ref::steal(PyObject_GetAttrString(module, name));
  if (!function || !PyCFunction_CheckExact(function.get())) {
    PyErr_Clear();
    return nullptr;
  }
  // NOLINTNEXTLINE(bugprone-casting-through-void): the C API's own way to keep functions of other signatures
  return reinterpret_cast<PyCFunctionFast>(reinterpret_cast<void*>(PyCFunction_GET_FUNCTION(function.get())));
}

// Code objects in which tools have asked for events; weak.
std::vector<Ref>& codes_with_events() {
  static auto* codes = new std::vector<Ref>();
  return *codes;
}

bool has_local_events(const PyCodeObject* code) {
  if (code->_co_monitoring == nullptr) {
    return false;
  }
  const auto& tools = code->_co_monitoring->local_monitors.tools;
  return std::any_of(std::begin(tools), std::end(tools), [](std::uint8_t of_event) { return of_event != 0; });
}

constexpr std::uintptr_t kNeverQuiet = 1;  // no version

}  // namespace

std::uintptr_t quiet_version = 0;

bool has_tool(const PyThreadState* thread) {
  constexpr unsigned kTools = (1U << PY_MONITORING_SYS_PROFILE_ID) - 1;  // those above are of one thread
  const auto& events = thread->interp->monitors.tools;
  const auto is_dead = [](const Ref& code) { return PyWeakref_GET_OBJECT(code.get()) == Py_None; };
  std::erase_if(codes_with_events(), is_dead);
  if (!codes_with_events().empty() ||
      std::any_of(std::begin(events), std::end(events), [](std::uint8_t tools) { return (tools & kTools) != 0; })) {
    return true;
  }
  quiet_version = thread->eval_breaker & kEventsVersion;
  return false;
}

void note_local_events(PyCodeObject* code) {
  const auto is_its = [code](const Ref& other) {
    return PyWeakref_GET_OBJECT(other.get()) == reinterpret_cast<PyObject*>(code);
  };
  std::erase_if(codes_with_events(), is_its);
  if (has_local_events(code)) {
    const PendingError pending;
    Ref reference = Ref::steal(PyWeakref_NewRef(reinterpret_cast<PyObject*>(code), nullptr));
    if (reference) {
      codes_with_events().push_back(std::move(reference));
      quiet_version = kNeverQuiet;
    }
  }
}

void copy_local_events(PyCodeObject* from, PyCodeObject* to) {
  if (from == to || !has_local_events(from)) {
    return;
  }
  if (to->_co_monitoring == nullptr) {
    prepare_for_events(to);
  }
  if (to->_co_monitoring == nullptr) {
    return;  // out of memory
  }
  bool is_changed = false;
  for (std::size_t event = 0; event < std::size(from->_co_monitoring->local_monitors.tools); ++event) {
    std::uint8_t& tools = to->_co_monitoring->local_monitors.tools[event];
    is_changed = is_changed || (from->_co_monitoring->local_monitors.tools[event] & ~tools) != 0;
    tools |= from->_co_monitoring->local_monitors.tools[event];
  }
  if (is_changed) {
    prepare_for_events(to);
  }
}

void keep_monitoring_functions() {
  PyObject* module = PySys_GetObject("monitoring");  // borrowed
  if (module != nullptr && g_functions.module == nullptr) {
    g_functions = {.module = Py_NewRef(module),
                   .get_local_events = function_of(module, "get_local_events"),
                   .set_local_events = function_of(module, "set_local_events")};
  }
}

// The interpreter's own function for this is private. But it calls it for a code object whose events are changed.
void prepare_for_events(PyCodeObject* code) {
  static PyObject* const kName = PyUnicode_InternFromString("tagalong");
  if (g_functions.get_local_events == nullptr || g_functions.set_local_events == nullptr || kName == nullptr) {
    PyErr_Clear();
    return;
  }
  const PendingError pending;  // drops errors too: without memory the code gives no events until it begins anew
  PyObject** const names = PyInterpreterState_Get()->monitoring_tool_names;
  PyObject** const end = names + PY_MONITORING_SYS_PROFILE_ID;
  PyObject** const unused = std::find(names, end, nullptr);
  const Ref tool = Ref::steal(PyLong_FromSsize_t((unused == end ? names : unused) - names));
  if (unused != end) {
    *unused = kName;
  }
  constexpr long kLine = 1L << PY_MONITORING_EVENT_LINE;
  std::array<PyObject*, 3> arguments = {tool.get(), reinterpret_cast<PyObject*>(code), nullptr};
  const Ref before = tool ? Ref::steal(g_functions.get_local_events(g_functions.module, arguments.data(), 2)) : Ref();
  const Ref changed = before ? Ref::steal(PyLong_FromLong(PyLong_AsLong(before.get()) ^ kLine)) : Ref();
  if (changed) {
    for (const Ref& events : {changed, before}) {
      arguments[2] = events.get();
      Py_XDECREF(g_functions.set_local_events(g_functions.module, arguments.data(), 3));
    }
  }
  if (unused != end) {
    *unused = nullptr;
  }
}

}  // namespace tagalong::version
