// Watching objects that are not ours: whoever has learned something about an object (a class, a function, a code
// object, ...) is told when it dies, without keeping it alive. Programs do not see our weak references
// (black_box.h). Owns one weak reference for each watched object, however many watch it.
//
//   Ref watch = cpython::watch(object, watcher);   // empty: this object cannot be watched, hold it or leave it alone
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

class Watcher {
 public:
  // The object is being destroyed, or it is garbage that the collector is about to destroy. The pointer only serves to
  // recognise it. Runs no code of the program's and must not either; must not destroy a watcher.
  virtual void object_died(PyObject* object) = 0;

 protected:
  ~Watcher() = default;
};

// Whether a program can let go of the object and notice that it lives: not those that live as long as the process, nor
// those whose type has no weak references.
bool is_watchable(PyObject* object);
// What stands for the object from now on, to be kept; null with an exception set when there is no memory.
Ref watch(PyObject* object, Watcher* watcher);
void unwatch(PyObject* watch, Watcher* watcher);

// A weak reference of ours that tells no one. The collector does not see it, so programs do not count it. Null with an
// exception set when there is no memory.
Ref weak_reference(PyObject* object);

bool is_watch(PyObject* object);
// The watch of an object, null if there is none; borrowed.
PyObject* watch_of(PyObject* object);
// The object that a watch stands for, null once it is dead; everything else stands for itself. Borrowed.
PyObject* watched(PyObject* object);

}  // namespace tagalong::cpython
