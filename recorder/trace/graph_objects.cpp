#include "recorder/trace/graph_objects.h"

#include <utility>

#include "rewriter/base/errors.h"

namespace tagalong::recorder {

using replay::Op;

GraphObjects::~GraphObjects() {
  for (const auto& [object, watch] : watches_) {
    cpython::unwatch(watch.get(), this);
  }
}

Ref GraphObjects::watched_object(Op op, Ref object) {
  const bool is_guard = replay::info(op).is_guard();
  if (op == Op::guard_generator || op == Op::known_call) {
    return object;  // such an object refers weakly by itself, or is kept on purpose
  }
  if (is_guard && PyTuple_CheckExact(object.get())) {
    const Ref expected = watched(PyTuple_GET_ITEM(object.get(), 1));
    object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(object.get(), 0), expected.get()));
    if (!object) {
      throw PythonError();
    }
    return object;
  }
  // Code objects among the constants belong to the recorded code.
  return is_guard || !PyCode_Check(object.get()) ? watched(object.get()) : object;
}

Ref GraphObjects::watched(PyObject* object) {
  if (!cpython::is_watchable(object)) {
    return Ref::create(object);
  }
  const auto known = watches_.find(object);
  if (known != watches_.end()) {
    return known->second;
  }
  Ref watch = cpython::watch(object, this);
  if (!watch) {
    throw PythonError();
  }
  watches_.emplace(object, watch);
  return watch;
}

void GraphObjects::restore_objects(replay::Graph& graph) {
  for (replay::Node& node : graph.nodes) {
    const bool is_guard = node.info().is_guard();
    if (!node.object || has_lost_ || node.op == Op::guard_generator) {
      continue;
    }
    if (is_guard && PyTuple_CheckExact(node.object.get())) {
      PyObject* expected = cpython::watched(PyTuple_GET_ITEM(node.object.get(), 1));
      has_lost_ = expected == nullptr;
      if (!has_lost_) {
        node.object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(node.object.get(), 0), expected));
        has_lost_ = !node.object;
        if (has_lost_) {
          PyErr_Clear();  // out of memory: then there is no graph either
        }
      }
    } else if (is_guard || node.op == Op::constant) {
      PyObject* object = cpython::watched(node.object.get());
      has_lost_ = object == nullptr;
      node.object = Ref::create(object);
    }
  }
}

void GraphObjects::object_died(PyObject* object) {
  has_lost_ = true;
  watches_.erase(object);
  constants_.erase(object);
}

}  // namespace tagalong::recorder
