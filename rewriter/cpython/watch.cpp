#include "rewriter/cpython/watch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tagalong::cpython {
namespace {

struct Entry {
  PyObject* object = nullptr;  // not owned
  std::vector<Watcher*> watchers;
};

// Two maps, by weak reference and by object; used under the GIL. An entry is removed when its object dies, or with the
// last watcher.
struct Registry {
  std::unordered_map<PyObject*, Entry> entries;
  std::unordered_map<PyObject*, Ref> watches;
};

Registry& registry() {
  static auto* made = new Registry();
  return *made;
}

// CPython clears all weak references to an object before it calls the first callback, and reuses the object's memory
// only after the last one. So the object's address is still valid as a key here.
PyObject* on_death(PyObject* /*self*/, PyObject* reference) {
  Registry& known = registry();
  const auto found = known.entries.find(reference);
  if (found != known.entries.end()) {
    const Entry entry = std::move(found->second);
    known.entries.erase(found);
    const auto watch = known.watches.find(entry.object);
    const Ref keep = std::move(watch->second);
    known.watches.erase(watch);
    for (Watcher* watcher : entry.watchers) {
      watcher->object_died(entry.object);
    }
  }
  Py_RETURN_NONE;
}

PyObject* callback() {
  static PyMethodDef definition = {"object_died", on_death, METH_O, nullptr};
  static PyObject* function = PyCFunction_New(&definition, nullptr);
  return function;
}

}  // namespace

bool is_watchable(PyObject* object) {
  if (PyType_Check(object)) {
    return PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE) != 0;
  }
  return PyType_SUPPORTS_WEAKREFS(Py_TYPE(object)) && !PyFrozenSet_CheckExact(object);
}

Ref weak_reference(PyObject* object) {
  Ref reference = Ref::steal(PyWeakref_NewRef(object, nullptr));
  if (reference) {
    PyObject_GC_UnTrack(reference.get());
  }
  return reference;
}

bool is_watch(PyObject* object) {
  return PyWeakref_CheckRefExact(object) && callback() != nullptr &&
         reinterpret_cast<PyWeakReference*>(object)->wr_callback == callback();
}

Ref watch(PyObject* object, Watcher* watcher) {
  Registry& known = registry();
  Ref reference = Ref::create(watch_of(object));
  if (!reference) {
    PyObject* function = callback();
    reference = function == nullptr ? Ref() : Ref::steal(PyWeakref_NewRef(object, function));
    if (!reference) {
      return {};
    }
    // A collection has run meanwhile, in which a finaliser made a watch of this object.
    if (PyObject* other = watch_of(object)) {
      reference = Ref::create(other);
    } else {
      known.entries[reference.get()].object = object;
      known.watches.emplace(object, reference);
    }
  }
  std::vector<Watcher*>& watchers = known.entries[reference.get()].watchers;
  if (std::ranges::find(watchers, watcher) == watchers.end()) {
    watchers.push_back(watcher);
  }
  return reference;
}

void unwatch(PyObject* watch, Watcher* watcher) {
  Registry& known = registry();
  const auto found = known.entries.find(watch);
  if (found == known.entries.end()) {
    return;
  }
  std::erase(found->second.watchers, watcher);
  if (found->second.watchers.empty()) {
    const auto reference = known.watches.find(found->second.object);
    const Ref keep = std::move(reference->second);
    known.watches.erase(reference);
    known.entries.erase(found);
  }
}

PyObject* watch_of(PyObject* object) {
  const auto found = registry().watches.find(object);
  return found == registry().watches.end() ? nullptr : found->second.get();
}

PyObject* watched(PyObject* object) {
  if (object == nullptr || !PyWeakref_CheckRefExact(object)) {
    return object;
  }
  PyObject* referent = PyWeakref_GET_OBJECT(object);
  if (referent == Py_None) {
    return nullptr;
  }
  return watch_of(referent) == object ? referent : object;
}

}  // namespace tagalong::cpython
