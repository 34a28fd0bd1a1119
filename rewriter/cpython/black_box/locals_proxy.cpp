#include "rewriter/cpython/black_box/locals_proxy.h"

#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/objects/methods.h"
#include "version/objects.h"

namespace tagalong::cpython {
namespace {

// The original functions that write into frames.
struct Inherited {
  objobjargproc assign = nullptr;
  binaryfunc update_in_place = nullptr;
  PyCFunction update = nullptr;
  _PyCFunctionFast set_default = nullptr;
};
Inherited g_inherited;          // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): written once
WrittenLocal g_note = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): written once

// Within the scope, assignments to the slots of the proxy's frame are noticed.
class Noticed {
 public:
  explicit Noticed(PyObject* proxy)
      : object_(Ref::create(reinterpret_cast<PyObject*>(version::frame_of_proxy(proxy)))) {
    const int count = slot_count(code_of(frame()));
    before_.reserve(static_cast<std::size_t>(count));
    for (int slot = 0; slot < count; ++slot) {
      before_.push_back(Ref::create(frame()->localsplus[slot]));
    }
  }
  Noticed(const Noticed&) = delete;
  Noticed& operator=(const Noticed&) = delete;
  ~Noticed() {
    for (std::size_t slot = 0; slot < before_.size(); ++slot) {
      if (frame()->localsplus[slot] != before_[slot].get()) {
        g_note(frame(), static_cast<int>(slot));
      }
    }
  }

 private:
  [[nodiscard]] const Frame* frame() const { return reinterpret_cast<PyFrameObject*>(object_.get())->f_frame; }

  Ref object_;
  std::vector<Ref> before_;  // references, so that no new object gets an address that is compared
};

int assign(PyObject* proxy, PyObject* name, PyObject* value) {
  const Noticed noticed(proxy);
  return g_inherited.assign(proxy, name, value);
}

PyObject* update_in_place(PyObject* proxy, PyObject* other) {
  if (Py_TYPE(proxy) != version::locals_proxy_type()) {
    return g_inherited.update_in_place(proxy, other);
  }
  const Noticed noticed(proxy);
  return g_inherited.update_in_place(proxy, other);
}

PyObject* update(PyObject* proxy, PyObject* other) {
  const Noticed noticed(proxy);
  return g_inherited.update(proxy, other);
}

PyObject* set_default(PyObject* proxy, PyObject* const* arguments, Py_ssize_t count) {
  const Noticed noticed(proxy);
  return g_inherited.set_default(proxy, arguments, count);
}

}  // namespace

void watch_written_locals(WrittenLocal note) {
  PyTypeObject* type = version::locals_proxy_type();
  if (type == nullptr || g_note != nullptr) {
    return;
  }
  g_note = note;
  g_inherited = {
      .assign = replace_slot(*type, type->tp_as_mapping->mp_ass_subscript, {"__setitem__", "__delitem__"}, assign),
      .update_in_place = replace_slot(*type, type->tp_as_number->nb_inplace_or, {"__ior__"}, update_in_place),
      .update = replace_method(definition_of(*type, "update"), METH_O, update),
      .set_default = replace_method<_PyCFunctionFast>(definition_of(*type, "setdefault"), METH_FASTCALL, set_default),
  };
}

}  // namespace tagalong::cpython
