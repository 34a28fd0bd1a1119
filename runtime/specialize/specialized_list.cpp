#include "runtime/specialize/specialized_list.h"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <string>

#include "replay/ir/printer.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "runtime/records/anchor.h"
#include "runtime/records/texts.h"
#include "runtime/specialize/guards.h"

namespace tagalong::runtime {
namespace {

struct RecordedGraph {
  PyObject_HEAD
  PyObject* text;
  unsigned long long serial;
};

PyObject* graph_text(PyObject* self) { return Py_NewRef(reinterpret_cast<RecordedGraph*>(self)->text); }

PyObject* graph_repr(PyObject* self) {
  return PyUnicode_FromFormat("<recorded graph %llu>", reinterpret_cast<RecordedGraph*>(self)->serial);
}

void delete_graph(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(reinterpret_cast<RecordedGraph*>(self)->text);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* make_graph_type() {
  static std::array<PyMemberDef, 3> members = {{
      {"text", T_OBJECT, offsetof(RecordedGraph, text), READONLY, "the graph as text"},
      {"serial", T_ULONGLONG, offsetof(RecordedGraph, serial), READONLY, "a number that no other graph has"},
      {},
  }};
  static const char* const documentation =
      "A graph that was recorded of a traced function, as get_specialized() lists it. str() gives the graph.\n\n"
      "    >>> f = tagalong.trace(lambda x: x + 1)\n"
      "    >>> f(1)\n"
      "    2\n"
      "    >>> (graph, guards), = tagalong.get_specialized(f)\n"
      "    >>> isinstance(graph, tagalong.RecordedGraph), str(graph) == graph.text\n"
      "    (True, True)\n";
  std::array<PyType_Slot, 6> slots = {{{Py_tp_doc, const_cast<char*>(documentation)},
                                       {Py_tp_str, reinterpret_cast<void*>(graph_text)},
                                       {Py_tp_repr, reinterpret_cast<void*>(graph_repr)},
                                       {Py_tp_dealloc, reinterpret_cast<void*>(delete_graph)},
                                       {Py_tp_members, members.data()},
                                       {0, nullptr}}};
  PyType_Spec spec = {"tagalong.RecordedGraph", sizeof(RecordedGraph), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

Ref make_graph(const replay::Executor& executor) {
  PyTypeObject* type = recorded_graph_type();
  Ref made = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (!made) {
    throw PythonError();
  }
  auto* graph = reinterpret_cast<RecordedGraph*>(made.get());
  const std::string text = replay::print(executor.graph());
  graph->text = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  graph->serial = executor.serial;
  if (graph->text == nullptr) {
    throw PythonError();
  }
  return made;
}

CodeRecord* record_with(PyCodeObject* installed) {
  PyObject* anchor = cpython::original_of(installed) == installed ? nullptr : anchor_of(installed);
  return anchor == nullptr ? nullptr : record_of(anchor);
}

}  // namespace

PyTypeObject* recorded_graph_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, make_graph_type);
}

void append_specialization(const Ref& list, const Ref& code, const std::vector<Ref>& guards) {
  const Ref its = Ref::steal(PyList_New(0));
  for (const Ref& guard : guards) {
    if (!its || PyList_Append(its.get(), guard.get()) != 0) {
      throw PythonError();
    }
  }
  const Ref pair = its ? Ref::steal(PyTuple_Pack(2, code.get(), its.get())) : Ref();
  if (!pair || PyList_Append(list.get(), pair.get()) != 0) {
    throw PythonError();
  }
}

void append_recorded(const Ref& list, PyCodeObject* installed) {
  CodeRecord* record = record_with(installed);
  if (record == nullptr) {
    return;
  }
  const auto executors = record->code.entries.front().executors;  // a copy: making objects may run user code
  for (const auto& executor : executors) {
    std::vector<Ref> guards;
    for (const std::string& text : guard_texts(*executor)) {
      guards.push_back(recorded_guard(text.c_str()));
      if (!guards.back()) {
        throw PythonError();
      }
    }
    append_specialization(list, make_graph(*executor), guards);
  }
}

void remove_recorded(PyCodeObject* installed, Py_ssize_t index) {
  CodeRecord* record = record_with(installed);
  std::vector<std::shared_ptr<replay::Executor>> executors;
  if (record != nullptr) {
    executors = record->code.entries.front().executors;
  }
  if (index >= static_cast<Py_ssize_t>(executors.size())) {
    PyErr_SetString(PyExc_IndexError, "the function has no such specialisation");
    throw PythonError();
  }
  for (std::size_t place = 0; place < executors.size(); ++place) {
    if (record != nullptr && (index < 0 || std::cmp_equal(place, index))) {
      record->forget(*executors[place]);
    }
  }
}

}  // namespace tagalong::runtime
