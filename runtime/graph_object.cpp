#include "runtime/graph_object.h"

#include <structmember.h>

#include <array>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "runtime/records/texts.h"

namespace tagalong::runtime {
namespace {

struct GraphData {
  std::shared_ptr<const replay::Executor> executor;
  Ref function;
  std::vector<int> slots;
  std::shared_ptr<Counters> counters;
};

struct GraphObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  GraphData* data;
};

PyObject* graph_call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* /*names*/) {
  const GraphData& data = *reinterpret_cast<GraphObject*>(self)->data;
  if (PyVectorcall_NARGS(flags) != 1 || !PyTuple_CheckExact(arguments[0]) ||
      PyTuple_GET_SIZE(arguments[0]) != static_cast<Py_ssize_t>(data.slots.size())) {
    PyErr_Format(PyExc_TypeError, "a graph takes one tuple of its %zu inputs", data.slots.size());
    return nullptr;
  }
  const Ref keep = Ref::create(self);
  std::vector<PyObject*> locals(static_cast<std::size_t>(data.executor->root_shape().code->co_nlocalsplus));
  for (std::size_t index = 0; index < data.slots.size(); ++index) {
    locals[static_cast<std::size_t>(data.slots[index])] =
        PyTuple_GET_ITEM(arguments[0], static_cast<Py_ssize_t>(index));
  }
  const std::uint64_t exits = data.executor->exits;
  replay::Run run;
  run.thread = cpython::thread_state();
  run.function = data.function.get();
  run.slots = locals.data();
  run.names = cpython::names_of(cpython::current_frame(run.thread));  // of the frame that passes the arguments
  const replay::Outcome outcome = data.executor->run(run);
  if (outcome == replay::Outcome::kGuard) {
    count(*data.counters, Event::kMiss);
    raise_guard_failed(step_text(*data.executor, *run.failed).c_str(), run.failed_value.get());
    return nullptr;
  }
  count(*data.counters, Event::kHit);
  if (data.executor->exits != exits) {
    count(*data.counters, Event::kExit);
  }
  return run.result.release();
}

void graph_dealloc(PyObject* self) {
  delete reinterpret_cast<GraphObject*>(self)->data;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* graph_repr(PyObject* self) {
  const GraphData& data = *reinterpret_cast<GraphObject*>(self)->data;
  return PyUnicode_FromFormat("<graph of %s>", data.executor->graph().name.c_str());
}

PyTypeObject* graph_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, [] {
    static std::array<PyMemberDef, 2> members{{
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(GraphObject, vectorcall), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr},
    }};
    static std::array<PyType_Slot, 5> slots = {{
        {Py_tp_members, members.data()},
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_repr, reinterpret_cast<void*>(graph_repr)},
        {Py_tp_dealloc, reinterpret_cast<void*>(graph_dealloc)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Graph", sizeof(GraphObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

}  // namespace

Ref make_graph_object(std::shared_ptr<const replay::Executor> executor, const Ref& function, std::vector<int> slots,
                      std::shared_ptr<Counters> counters) {
  PyTypeObject* type = graph_type();
  Ref object = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (!object) {
    throw PythonError();
  }
  auto* graph = reinterpret_cast<GraphObject*>(object.get());
  graph->vectorcall = graph_call;
  graph->data = new GraphData{std::move(executor), function, std::move(slots), std::move(counters)};
  return object;
}

void raise_guard_failed(const char* text, PyObject* value) {
  const Ref guard = Ref::steal(PyUnicode_FromString(text));
  const Ref error = guard ? Ref::steal(PyObject_CallOneArg(guard_failed_type(), guard.get())) : Ref();
  if (!error || PyObject_SetAttrString(error.get(), "guard", guard.get()) != 0 ||
      PyObject_SetAttrString(error.get(), "value", value == nullptr ? Py_None : value) != 0) {
    return;
  }
  PyErr_SetObject(guard_failed_type(), error.get());
}

PyObject* guard_failed_type() {
  static PyObject* type = nullptr;
  return cpython::once(type, [] {
    return PyErr_NewExceptionWithDoc(
        "tagalong.GuardFailed",
        "A guard of a recording does not hold for these arguments; `Recording.replay` raises it.\n\n"
        "Attributes: `guard`, the guard as text; `value`, the value that it was asked about.\n\n"
        "    >>> recording = tagalong.record(lambda x: x + 1, 1)\n"
        "    >>> try:\n"
        "    ...     recording.replay(1.5)\n"
        "    ... except tagalong.GuardFailed as error:\n"
        "    ...     print(error.value)\n"
        "    1.5\n",
        PyExc_Exception, nullptr);
  });
}

}  // namespace tagalong::runtime
