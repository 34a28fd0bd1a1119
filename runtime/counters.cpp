#include "runtime/counters.h"

#include <array>
#include <cstddef>
#include <utility>

#include "recorder/deferred/deferred_expression.h"
#include "recorder/deferred/operations.h"
#include "replay/arrays/calls/numpy_calls.h"
#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/arrays/libm/libm_functions.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/simd/broadcast.h"
#include "replay/arrays/simd/division.h"
#include "replay/arrays/simd/reduction_loops.h"
#include "replay/arrays/simd/row_argmin.h"
#include "replay/arrays/simd/row_reductions.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::runtime {

namespace {

using array::fusion_counts;

constexpr std::array kCounters{
    // --- fusion groups
    Counter{"groups_planned", "plans made for fusion groups", [] { return fusion_counts.planned; }},
    Counter{"groups_run", "runs of fusion groups", [] { return fusion_counts.run; }},
    Counter{"groups_refused", "runs given up for a floating point error or an exception, then done one by one",
            [] { return fusion_counts.refused; }},
    Counter{"whole_groups", "runs of fusion groups that are all that their function does",
            [] { return fusion_counts.whole; }},
    Counter{"small_groups", "runs of fusion groups on the short way for small arrays",
            [] { return fusion_counts.small; }},
    Counter{"groups_in_passes", "runs of several fusion groups in a row that are one (multi-pass groups)",
            [] { return fusion_counts.in_passes; }},
    Counter{"layouts_kept", "runs over arrays of several layouts, which were those of the run before",
            [] { return fusion_counts.as_before; }},
    Counter{"groups_in_place", "runs that wrote into existing arrays at once, since nothing could be raised",
            [] { return fusion_counts.in_place; }},
    Counter{"groups_computed_twice", "runs that were tried first, then computed into existing arrays",
            [] { return fusion_counts.twice; }},
    Counter{"results_in_reused_buffers", "results in memory that an earlier pass of the same group has left",
            [] { return fusion_counts.reused; }},
    Counter{"fusion_parts", "parts of large fusion groups that threads may have shared",
            [] { return fusion_counts.parts; }},
    // --- blocks and rows of fusion groups
    Counter{"non_temporal_blocks", "blocks whose results were written past the caches",
            [] { return fusion_counts.non_temporal.count(); }},
    Counter{"prefetched_blocks", "blocks that were asked for before they were read",
            [] { return fusion_counts.prefetched.count(); }},
    Counter{"fused_sums", "blocks that were summed while they were computed",
            [] { return fusion_counts.fused_sums.count(); }},
    Counter{"rows_kept", "blocks with a row that was there already", [] { return fusion_counts.rows_kept.count(); }},
    Counter{"rows_together", "rows that lie apart, computed by one call of machine code",
            [] { return fusion_counts.rows_together.count(); }},
    Counter{"long_parts", "parts of rows longer than a block, computed by one call of machine code",
            [] { return fusion_counts.long_parts.count(); }},
    Counter{"columns_broadcast", "columns that vector instructions have spread over their rows",
            [] { return array::columns_broadcast.count(); }},
    Counter{"rows_reduced_together", "short rows that were reduced eight at a time",
            [] { return array::rows_reduced_together.count(); }},
    Counter{"short_rows_reduced", "rows of a few elements that were reduced by one call for many rows",
            [] { return array::short_rows_reduced.count(); }},
    Counter{"short_rows_added", "rows of a few elements that were added to sums by one call for many rows",
            [] { return array::short_rows_added.count(); }},
    Counter{"argmin_in_rows", "short rows whose argmin or argmax was found eight at a time",
            [] { return array::argmin_in_rows.count(); }},
    Counter{"argmin_fused", "short rows whose argmin or argmax was found while they were computed",
            [] { return array::argmin_fused.count(); }},
    // --- loops and machine code in place of NumPy's loops
    Counter{"code_made", "pieces of vector code that were made", [] { return array::code_tally.computed.count(); }},
    Counter{"code_found", "pieces of vector code that were there already",
            [] { return array::code_tally.left.count(); }},
    Counter{"own_reductions", "calls of reduce loops that are not NumPy's",
            [] { return array::own_reductions.count(); }},
    Counter{"libm_vectors", "vectors of exp or log in vector code that were left to libm's function",
            [] { return array::libms_vectors.count(); }},
    Counter{"glibc_computed", "elements of libm's functions that were computed by vector instructions",
            [] { return array::glibc_tally.computed.count(); }},
    Counter{"glibc_left", "elements of libm's functions that were left to NumPy's loop",
            [] { return array::glibc_tally.left.count(); }},
    Counter{"quotients_multiplied", "blocks of quotients by one number that were computed without dividing",
            [] { return array::quotient_tally.computed.count(); }},
    Counter{"quotients_divided", "blocks of quotients by one number that were divided",
            [] { return array::quotient_tally.left.count(); }},
    Counter{"quotients_in_two", "blocks of quotients that took two operations each",
            [] { return array::quotients_in_two.count(); }},
    Counter{"histograms_computed", "calls of np.bincount that were computed here",
            [] { return array::histogram_tally.computed.count(); }},
    Counter{"histograms_left", "calls of np.bincount that were left to NumPy",
            [] { return array::histogram_tally.left.count(); }},
    Counter{"numpy_calls_direct", "calls of NumPy's functions without their frames and dispatchers",
            [] { return array::direct_calls.computed.count(); }},
    Counter{"numpy_calls_left", "calls of these functions that were made as usual",
            [] { return array::direct_calls.left.count(); }},
    Counter{"kept_memory_taken", "large results in memory that an earlier one had left",
            [] { return array::kept_memory_taken(); }},
    // --- recording
    Counter{"recorded_operations_computed", "operations on large arrays that were computed here while recording",
            [] { return recorder::proxy_tally.computed.count(); }},
    Counter{"recorded_operations_left", "operations on large arrays that were left to NumPy while recording",
            [] { return recorder::proxy_tally.left.count(); }},
    Counter{"expressions_as_one", "expressions of several operations that were computed as one while recording",
            [] { return recorder::expression_tally.computed.count(); }},
    Counter{"expressions_one_by_one", "expressions of several operations that were computed one by one while recording",
            [] { return recorder::expression_tally.left.count(); }},
};

// One for each reason.
template <std::size_t... kPlaces>
constexpr auto reason_counters(std::index_sequence<kPlaces...> /*places*/) {
  return std::array{Counter{array::kFusionReasons[kPlaces + 1].name, array::kFusionReasons[kPlaces + 1].text,
                            [] { return std::uint64_t{fusion_counts.reasons.of[kPlaces + 1]}; }}...};
}
constexpr auto kReasonCounters = reason_counters(std::make_index_sequence<array::kFusionReasons.size() - 1>());

}  // namespace

std::span<const Counter> counters() { return kCounters; }
std::span<const Counter> fusion_reason_counters() { return kReasonCounters; }

}  // namespace tagalong::runtime
