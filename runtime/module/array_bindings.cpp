// _UfuncSite: the array kernels alone, for their own tests. Operands come in a list that is emptied, so that a
// temporary can really be held by nobody else.
#include <array>
#include <boost/python.hpp>

#include "recorder/deferred/array_expression.h"
#include "recorder/deferred/array_operations.h"
#include "replay/arrays/fusion/region.h"
#include "replay/arrays/kernels/bins.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/arrays/libm/near_functions.h"
#include "replay/arrays/numpy/freed_memory.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/quotients.h"
#include "replay/arrays/simd/reduction_loops.h"
#include "replay/arrays/simd/row_places.h"
#include "replay/arrays/simd/row_reductions.h"
#include "replay/arrays/simd/spreading.h"
#include "replay/codegen/vector/vector_functions.h"
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

py::tuple region_counts() {
  const array::RegionCounts& counts = array::region_counts;
  return py::make_tuple(counts.planned, counts.run, counts.refused);
}

std::uint64_t whole_regions() { return array::region_counts.whole; }
std::uint64_t small_regions() { return array::region_counts.small; }
std::uint64_t regions_in_sweeps() { return array::region_counts.in_sweeps; }
std::uint64_t sweeps_backwards() { return array::region_counts.backwards.count(); }
std::uint64_t results_donated() { return array::region_counts.donated; }
std::uint64_t region_parts() { return array::region_counts.parts; }

py::tuple counts_of(array::LoopTally* tally) { return py::make_tuple(tally->computed.count(), tally->left.count()); }

py::tuple bin_counts() { return counts_of(&array::bin_tally); }
py::tuple proxy_counts() { return counts_of(&recorder::proxy_tally); }
py::tuple expression_counts() { return counts_of(&recorder::expression_tally); }
std::uint64_t libms_vectors() { return array::libms_vectors.count(); }
py::tuple code_counts() { return counts_of(&array::code_tally); }
py::tuple quotient_counts() { return counts_of(&array::quotient_tally); }
std::uint64_t quotients_in_two() { return array::quotients_in_two.count(); }

std::uint64_t regions_at_once() { return array::region_counts.at_once; }
std::uint64_t regions_twice() { return array::region_counts.twice; }
std::uint64_t blocks_asked_ahead() { return array::region_counts.asked_ahead.count(); }
std::uint64_t streamed_blocks() { return array::region_counts.streamed.count(); }
std::uint64_t joined_sums() { return array::region_counts.joined_sums.count(); }
std::uint64_t own_reductions() { return array::own_reductions.count(); }

std::uint64_t rows_together() { return array::region_counts.rows_together.count(); }
std::uint64_t long_parts() { return array::region_counts.long_parts.count(); }
std::uint64_t rows_reduced_together() { return array::rows_reduced_together.count(); }
std::uint64_t places_together() { return array::places_together.count(); }
std::uint64_t places_joined() { return array::places_joined.count(); }
py::tuple spread_counts() {
  return py::make_tuple(array::columns_spread.count(), array::region_counts.rows_kept.count());
}

py::list list_of(const std::vector<std::string_view>& names) {
  py::list list;
  for (const std::string_view name : names) {
    list.append(std::string(name));
  }
  return list;
}
py::list vector_functions() { return list_of(array::vector_functions()); }
py::list near_functions() { return list_of(array::near_functions()); }

py::tuple near_counts() { return counts_of(&array::near_tally); }

bool meet_numpy() {
  const bool is_ready = array::numpy_if_ready() != nullptr;
  if (is_ready) {
    array::prepare_threads();
  }
  return is_ready;
}

py::dict region_reasons() {
  py::dict reasons;
  for (std::size_t number = 1; number < array::kRegionReasons.size(); ++number) {
    const std::string name(array::kRegionReasons.at(number).name);
    reasons[name] = array::region_counts.reasons.of.at(number);
  }
  return reasons;
}

}  // namespace

void export_arrays() {
  py::def(
      "_meet_numpy", meet_numpy,
      "_meet_numpy() -> bool\n\nLooks at the NumPy that the program has imported, if it has, which otherwise the first "
      "recorded operation on arrays does (half a millisecond). Whether it is one that is known.");
  py::def("_region_counts", region_counts, "(planned, run, refused) regions of the process, for tests.");
  py::def("_whole_regions", whole_regions, "How many regions were all that their function does, for tests.");
  py::def("_small_regions", small_regions, "How many regions were run on the short way, for tests.");
  py::def("_regions_in_sweeps", regions_in_sweeps, "How many runs were several regions in a row, for tests.");
  py::def("_sweeps_backwards", sweeps_backwards, "Regions in a row that began at the end of large arrays, for tests.");
  py::def("_results_donated", results_donated, "Results in memory that an earlier sweep has left, for tests.");
  py::def("_region_parts", region_parts, "Parts of large regions that threads have shared, for tests.");
  py::def("_bin_counts", bin_counts, "(computed, left to NumPy) calls of np.bincount, for tests.");
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
  py::def("_regions_at_once", regions_at_once,
          "Regions that were computed into arrays that are there already, since nothing could be raised, for tests.");
  py::def("_regions_twice", regions_twice, "Regions that were tried first, then computed in place, for tests.");
  py::def("_streamed_blocks", streamed_blocks, "Blocks whose results were written past the caches, for tests.");
  py::def("_blocks_asked_ahead", blocks_asked_ahead, "Blocks of which memory was asked for ahead, for tests.");
  py::def("_joined_sums", joined_sums, "Blocks that were summed while they were computed, for tests.");
  py::def("_own_reductions", own_reductions, "Calls of reduce loops that are not NumPy's, for tests.");
  py::def("_rows_together", rows_together, "Rows that lie apart, computed by one call of machine code, for tests.");
  py::def("_long_parts", long_parts, "Parts of long rows, computed by one call of machine code, for tests.");
  py::def("_places_joined", places_joined, "Short rows whose places were found while they were computed, for tests.");
  py::def("_rows_reduced_together", rows_reduced_together, "Short rows that were reduced eight at a time, for tests.");
  py::def("_places_together", places_together, "Short rows whose places were found eight at a time, for tests.");
  py::def("_spread_counts", spread_counts,
          "(columns that vectors have spread, blocks with a row that was there already), for tests.");
  py::def("_near_counts", near_counts,
          "Elements of functions of libm's (computed here, left to NumPy's loop), for tests.");
  py::def("_near_functions", near_functions,
          "Functions whose loops have the bits of libm's, as far as they have been called, for tests.");
  py::def("_vector_functions", vector_functions,
          "Functions whose loops take the steps of NumPy's, as far as they have been called, for tests.");
  py::def("_region_reasons", region_reasons, "How often array operations were not run as one, by reason, for tests.");
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
