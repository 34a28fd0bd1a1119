// Sets the pending exception aside, if there is one, and restores it at the end of the scope. An exception that is set
// within the scope is dropped.
#pragma once

#include <Python.h>

namespace tagalong {

class PendingError {
 public:
  PendingError() { PyErr_Fetch(&type_, &value_, &traceback_); }
  PendingError(const PendingError&) = delete;
  PendingError& operator=(const PendingError&) = delete;
  ~PendingError() { PyErr_Restore(type_, value_, traceback_); }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace tagalong
