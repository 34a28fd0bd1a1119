// Watching objects that we do not own: code that has learned something about an object (a class, a function, a code
// object, ...) is told when the object dies, without keeping it alive. Programs do not see our weak references
// (black_box.h). This owns one weak reference for each watched object, however many watchers it has.
//
//   Ref watch = cpython::watch(object, watcher);   // empty: this object cannot be watched; own it or do not use it
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

class Watcher {
 public:
  // Called when the object is being destroyed, and when the collector is about to destroy it. The pointer may only be
  // compared. An implementation must not run user code and must not destroy a watcher.
  virtual void object_died(PyObject* object) = 0;

 protected:
  ~Watcher() = default;
};

// Whether a program can release the object and notice that it is still alive. This is false for objects that live as
// long as the process, and for types without weak references.
bool is_watchable(PyObject* object);
// The object that represents `object` from now on; the caller keeps it. Null with an exception set if memory runs out.
Ref watch(PyObject* object, Watcher* watcher);
void unwatch(PyObject* watch, Watcher* watcher);

// A weak reference of ours without a callback. The collector does not see it, so programs do not count it. Null with an
// exception set if memory runs out.
Ref weak_reference(PyObject* object);

bool is_watch(PyObject* object);
// The watch of an object, null if there is none; borrowed.
PyObject* watch_of(PyObject* object);
// The object that a watch represents, null once it is dead; any other object is returned unchanged. Borrowed.
PyObject* watched(PyObject* object);

}  // namespace tagalong::cpython
