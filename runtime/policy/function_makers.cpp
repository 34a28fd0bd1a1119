#include "runtime/policy/function_makers.h"

#include <algorithm>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::runtime {

void FunctionMakers::add(const CodeRef& maker, std::size_t used, std::size_t spare) {
  Ref weak = cpython::weak_reference(reinterpret_cast<PyObject*>(maker.get()));
  if (!weak) {
    throw PythonError();
  }
  makers_.push_back({std::move(weak), used, spare});
  update();
}

bool FunctionMakers::has(const PyCodeObject* maker) const {
  return std::ranges::any_of(makers_, [maker](const Maker& known) {
    return PyWeakref_GET_OBJECT(known.code.get()) == reinterpret_cast<const PyObject*>(maker);
  });
}

void FunctionMakers::make_of_original(bool is_original) {
  is_original_ = is_original;
  update();
}

void FunctionMakers::update() {
  if (PyCodeObject* own = code_.replay_code.get()) {
    cpython::make_of_original(own, is_original_);  // for functions that graphs make
  }
  std::erase_if(makers_, [this](const Maker& known) {
    PyObject* maker = PyWeakref_GET_OBJECT(known.code.get());
    if (maker == Py_None) {
      return true;
    }
    auto* code = reinterpret_cast<PyCodeObject*>(maker);
    const auto used = static_cast<Py_ssize_t>(known.used);
    const bool has_original = PyTuple_GET_ITEM(code->co_consts, used) == reinterpret_cast<PyObject*>(code_.original());
    if (has_original != is_original_) {
      cpython::swap_constants(code, known.used, known.spare);
    }
    return false;
  });
}

}  // namespace tagalong::runtime
