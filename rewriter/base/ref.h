// Ref owns one reference to a Python object (or none); Borrowed does not. Only `steal` and `create` make a Ref from a
// raw pointer, so every signature says who owns what. Both accept null: an empty Ref means "no object", and in
// functions that follow the C API it usually means that an exception is set.
//
//  Ref list = Ref::steal(PyList_New(0));     // takes over the new reference
//  Ref again = Ref::create(list.get());      // adds a reference
#pragma once

#include <Python.h>

#include <utility>

#include "rewriter/base/ending.h"

namespace tagalong {

class Borrowed {
 public:
  constexpr Borrowed() = default;
  constexpr Borrowed(PyObject* object) : object_(object) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr PyObject* get() const { return object_; }
  explicit constexpr operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

template <class T>
class RefTo {
 public:
  constexpr RefTo() = default;
  RefTo(const RefTo& other) : object_(other.object_) { Py_XINCREF(as_object(object_)); }
  RefTo(RefTo&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  RefTo& operator=(RefTo other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~RefTo() { cpython::give_back(as_object(object_)); }

  // Takes over a reference that the caller owns (the result of most C API calls); null stays null.
  [[nodiscard]] static RefTo steal(T* object) {
    RefTo ref;
    ref.object_ = object;
    return ref;
  }
  // Adds a reference to an object that is kept alive elsewhere; null stays null.
  [[nodiscard]] static RefTo create(T* object) {
    Py_XINCREF(as_object(object));
    return steal(object);
  }

  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  // Hands the reference to the caller.
  [[nodiscard]] T* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  static PyObject* as_object(T* object) { return reinterpret_cast<PyObject*>(object); }
  T* object_ = nullptr;
};

using Ref = RefTo<PyObject>;
using CodeRef = RefTo<PyCodeObject>;

}  // namespace tagalong
