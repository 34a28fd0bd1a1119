// _UfuncSite: the array kernels alone, for their own tests. Operands come in a list that is emptied, so that a
// temporary can really be held by nobody else.
#include <array>
#include <boost/python.hpp>

#include "recorder/deferred/deferred_expression.h"
#include "recorder/deferred/operations.h"
#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/arrays/libm/libm_functions.h"
#include "replay/arrays/numpy/freed_memory.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/broadcast.h"
#include "replay/arrays/simd/division.h"
#include "replay/arrays/simd/reduction_loops.h"
#include "replay/arrays/simd/row_argmin.h"
#include "replay/arrays/simd/row_reductions.h"
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

py::tuple fusion_counts() {
  const array::FusionCounts& counts = array::fusion_counts;
  return py::make_tuple(counts.planned, counts.run, counts.refused);
}

std::uint64_t whole_groups() { return array::fusion_counts.whole; }
std::uint64_t small_groups() { return array::fusion_counts.small; }
std::uint64_t groups_in_passes() { return array::fusion_counts.in_passes; }
std::uint64_t results_in_reused_buffers() { return array::fusion_counts.reused; }
std::uint64_t fusion_parts() { return array::fusion_counts.parts; }

py::tuple counts_of(array::LoopTally* tally) { return py::make_tuple(tally->computed.count(), tally->left.count()); }

py::tuple histogram_counts() { return counts_of(&array::histogram_tally); }
py::tuple proxy_counts() { return counts_of(&recorder::proxy_tally); }
py::tuple expression_counts() { return counts_of(&recorder::expression_tally); }
std::uint64_t libms_vectors() { return array::libms_vectors.count(); }
py::tuple code_counts() { return counts_of(&array::code_tally); }
py::tuple quotient_counts() { return counts_of(&array::quotient_tally); }
std::uint64_t quotients_in_two() { return array::quotients_in_two.count(); }

std::uint64_t groups_in_place() { return array::fusion_counts.in_place; }
std::uint64_t groups_computed_twice() { return array::fusion_counts.twice; }
std::uint64_t blocks_prefetched() { return array::fusion_counts.prefetched.count(); }
std::uint64_t non_temporal_blocks() { return array::fusion_counts.non_temporal.count(); }
std::uint64_t fused_sums() { return array::fusion_counts.fused_sums.count(); }
std::uint64_t own_reductions() { return array::own_reductions.count(); }

std::uint64_t rows_together() { return array::fusion_counts.rows_together.count(); }
std::uint64_t long_parts() { return array::fusion_counts.long_parts.count(); }
std::uint64_t rows_reduced_together() { return array::rows_reduced_together.count(); }
std::uint64_t argmin_in_rows() { return array::argmin_in_rows.count(); }
std::uint64_t argmin_fused() { return array::argmin_fused.count(); }
py::tuple broadcast_counts() {
  return py::make_tuple(array::columns_broadcast.count(), array::fusion_counts.rows_kept.count());
}

py::list list_of(const std::vector<std::string_view>& names) {
  py::list list;
  for (const std::string_view name : names) {
    list.append(std::string(name));
  }
  return list;
}
py::list svml_functions() { return list_of(array::svml_functions()); }
py::list glibc_functions() { return list_of(array::glibc_functions()); }

py::tuple glibc_counts() { return counts_of(&array::glibc_tally); }

bool meet_numpy() {
  const bool is_ready = array::numpy_if_ready() != nullptr;
  if (is_ready) {
    array::prepare_threads();
  }
  return is_ready;
}

py::dict fusion_reasons() {
  py::dict reasons;
  for (std::size_t number = 1; number < array::kFusionReasons.size(); ++number) {
    const std::string name(array::kFusionReasons.at(number).name);
    reasons[name] = array::fusion_counts.reasons.of.at(number);
  }
  return reasons;
}

}  // namespace

void export_arrays() {
  py::def(
      "_meet_numpy", meet_numpy,
      "_meet_numpy() -> bool\n\nLooks at the NumPy that the program has imported, if it has, which otherwise the first "
      "recorded operation on arrays does (half a millisecond). Whether it is one that is known.");
  py::def("_fusion_counts", fusion_counts, "(planned, run, refused) fusion groups of the process, for tests.");
  py::def("_whole_groups", whole_groups, "How many fusion groups were all that their function does, for tests.");
  py::def("_small_groups", small_groups, "How many fusion groups were run on the short way, for tests.");
  py::def("_groups_in_passes", groups_in_passes, "How many runs were several fusion groups in a row, for tests.");
  py::def("_results_in_reused_buffers", results_in_reused_buffers,
          "Results in memory that an earlier sweep has left, for tests.");
  py::def("_fusion_parts", fusion_parts, "Parts of large fusion groups that threads have shared, for tests.");
  py::def("_histogram_counts", histogram_counts, "(computed, left to NumPy) calls of np.bincount, for tests.");
  py::def("_proxy_counts", proxy_counts,
          "(computed, left to NumPy) operations of large arrays while they were recorded, for tests.");
  py::def(
      "_expression_counts", expression_counts,
      "(as one, one by one) expressions of several operations of large arrays while they were recorded, for tests.");
  py::def("_code_counts", code_counts, "Pieces of machine code (made, that were there already), for tests.");
  py::def("_libms_vectors", libms_vectors,
          "Four elements of exp or log in machine code that were left to libm's function, for tests.");
  py::def("_quotient_counts", quotient_counts, "(computed, divided) blocks of quotients by one number, for tests.");
  py::def("_quotients_in_two", quotients_in_two, "Blocks of these that took two operations each, for tests.");
  py::def("keep_freed_memory", array::keep_freed_memory,
          "keep_freed_memory() -> None\n\nFrom when the program uses NumPy the C library keeps freed memory of up to "
          "64 MiB on top of its heap, and maps nothing below 32 MiB. Nothing where the environment has settings of its "
          "allocator (MALLOC_*, GLIBC_TUNABLES), or where that is not glibc's.");
  py::def("_kept_memory_taken", array::kept_memory_taken,
          "How often a large result has got memory that another one had left, for tests.");
  py::def(
      "_groups_in_place", groups_in_place,
      "Fusion groups that were computed into arrays that are there already, since nothing could be raised, for tests.");
  py::def("_groups_computed_twice", groups_computed_twice,
          "Fusion groups that were tried first, then computed in place, for tests.");
  py::def("_non_temporal_blocks", non_temporal_blocks, "Blocks whose results were written past the caches, for tests.");
  py::def("_blocks_prefetched", blocks_prefetched, "Blocks of which memory was asked for ahead, for tests.");
  py::def("_fused_sums", fused_sums, "Blocks that were summed while they were computed, for tests.");
  py::def("_own_reductions", own_reductions, "Calls of reduce loops that are not NumPy's, for tests.");
  py::def("_rows_together", rows_together, "Rows that lie apart, computed by one call of machine code, for tests.");
  py::def("_long_parts", long_parts, "Parts of long rows, computed by one call of machine code, for tests.");
  py::def("_argmin_fused", argmin_fused, "Short rows whose places were found while they were computed, for tests.");
  py::def("_rows_reduced_together", rows_reduced_together, "Short rows that were reduced eight at a time, for tests.");
  py::def("_argmin_in_rows", argmin_in_rows, "Short rows whose places were found eight at a time, for tests.");
  py::def("_broadcast_counts", broadcast_counts,
          "(columns that vectors have spread, blocks with a row that was there already), for tests.");
  py::def("_glibc_counts", glibc_counts,
          "Elements of functions of libm's (computed here, left to NumPy's loop), for tests.");
  py::def("_glibc_functions", glibc_functions,
          "Functions whose loops have the bits of libm's, as far as they have been called, for tests.");
  py::def("_svml_functions", svml_functions,
          "Functions whose loops take the steps of NumPy's, as far as they have been called, for tests.");
  py::def("_fusion_reasons", fusion_reasons, "How often array operations were not run as one, by reason, for tests.");
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
