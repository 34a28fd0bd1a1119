// _UfuncSite: single array kernels, for their tests. Operands come in a list that is emptied, so that a temporary has
// no other reference.
#include <array>
#include <boost/python.hpp>

#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/arrays/libm/libm_functions.h"
#include "replay/arrays/numpy/freed_memory.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/codegen/vector/svml_functions.h"
#include "runtime/module/exports.h"

namespace tagalong {

namespace {

namespace py = boost::python;
using array::Outcome;

class TestSite {
 public:
  py::object call(const py::object& ufunc, const py::list& operands, unsigned temporaries) {
    return run(operands, [&](PyObject* const* items, unsigned count, Ref* result) {
      return site_.call(ufunc.ptr(), items, count, temporaries, result);
    });
  }
  py::object binary(int op, const py::list& operands, unsigned temporaries) {
    return run(operands, [&](PyObject* const* items, unsigned /*count*/, Ref* result) {
      return site_.binary(static_cast<array::BinaryOperator>(op), items[0], items[1], temporaries, result);
    });
  }
  py::object unary(int op, const py::list& operands, unsigned temporaries) {
    return run(operands, [&](PyObject* const* items, unsigned /*count*/, Ref* result) {
      return site_.unary(static_cast<array::UnaryOperator>(op), items[0], temporaries, result);
    });
  }
  py::object compare(int op, const py::list& operands, unsigned temporaries) {
    return run(operands, [&](PyObject* const* items, unsigned /*count*/, Ref* result) {
      return site_.compare(op, items[0], items[1], temporaries, result);
    });
  }
  [[nodiscard]] unsigned long long direct() const { return site_.stats().direct; }
  [[nodiscard]] unsigned long long fallback() const { return site_.stats().fallback; }
  [[nodiscard]] unsigned long long elided() const { return site_.stats().elided; }
  [[nodiscard]] unsigned long long reused() const { return site_.stats().reused; }

 private:
  template <class Function>
  py::object run(const py::list& operands, Function function) {
    std::array<Ref, array::kMaxInputs> held;
    std::array<PyObject*, array::kMaxInputs> items{};
    const auto count = static_cast<unsigned>(py::len(operands));
    if (count > items.size()) {
      return py::object(py::handle<>(py::borrowed(Py_NotImplemented)));
    }
    for (unsigned i = 0; i < count; ++i) {
      held[i] = Ref::create(PyList_GET_ITEM(operands.ptr(), i));
      items[i] = held[i].get();
    }
    PyList_SetSlice(operands.ptr(), 0, PyList_GET_SIZE(operands.ptr()), nullptr);
    Ref result;
    switch (function(items.data(), count, &result)) {
      case Outcome::kDone:
        return py::object(py::handle<>(result.release()));
      case Outcome::kError:
        py::throw_error_already_set();
        break;
      case Outcome::kFallback:
        break;
    }
    return py::object(py::handle<>(py::borrowed(Py_NotImplemented)));
  }

  array::UfuncSite site_;
};

py::list list_of(const std::vector<std::string_view>& names) {
  py::list list;
  for (const std::string_view name : names) {
    list.append(std::string(name));
  }
  return list;
}
// By the library whose bits they have.
py::dict own_functions() {
  py::dict result;
  result["svml"] = list_of(array::svml_functions());
  result["glibc"] = list_of(array::glibc_functions());
  return result;
}

bool meet_numpy() {
  const bool is_ready = array::numpy_if_ready() != nullptr;
  if (is_ready) {
    array::prepare_threads();
  }
  return is_ready;
}

}  // namespace

void export_arrays() {
  py::def("_meet_numpy", meet_numpy,
          "_meet_numpy() -> bool\n\nReads the functions of NumPy if the program has imported it; otherwise the first "
          "recorded array operation does that. Returns whether this NumPy is supported.");
  py::def(
      "keep_freed_memory", array::keep_freed_memory,
      "keep_freed_memory() -> None\n\nOnce the program uses NumPy, the C library keeps freed memory of up to 64 MiB "
      "on top of its heap, and maps no blocks below 32 MiB. Does nothing if the environment sets the allocator "
      "(MALLOC_*, GLIBC_TUNABLES), or if the allocator is not glibc's.");
  py::def(
      "own_functions", own_functions,
      "own_functions() -> dict[str, list[str]]\n\nArray functions with loops of tagalong's that were called: \"svml\" "
      "computes as NumPy's loops do, \"glibc\" with the bits of libm's functions.");
  py::class_<TestSite, boost::noncopyable>("_UfuncSite", "One array site, for tests; NotImplemented means fallback.")
      .def("call", &TestSite::call)
      .def("binary", &TestSite::binary)
      .def("unary", &TestSite::unary)
      .def("compare", &TestSite::compare)
      .add_property("direct", &TestSite::direct)
      .add_property("fallback", &TestSite::fallback)
      .add_property("elided", &TestSite::elided)
      .add_property("reused", &TestSite::reused);
}

}  // namespace tagalong
