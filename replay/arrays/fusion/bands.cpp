// Two sweeps, of which the second one takes parts of what the first one makes: rows that lie beside each other, as
// filters do along one axis after another. Both go through some rows at a time ("loop tiling"; Wolfe, "More iteration
// space tiling", 1989): so the first one's result is in the cache when it is read, and it is never there as a whole.
// The rows that two bands take are computed twice.
#include <algorithm>
#include <limits>

#include "replay/arrays/fusion/region_run.h"
#include "replay/arrays/fusion/sweeps.h"
#include "replay/arrays/kernels/parallel.h"

namespace tagalong::array {
namespace {

// Of the first one's result. For several threads each band is cut into parts, which takes longer rows; measured with a
// filter of five taps along both axes of 10^6 and 10^7 doubles, 128 KiB to 2 MiB (inner caches of 1 MiB).
constexpr Extent kBandBytes = 512 * 1024;
constexpr Extent kBandBytesOfThread = 1024 * 1024;  // where there are several
constexpr Extent kLeastPerTwice = 2;                // rows of a band for each that is computed twice

Extent band_bytes() {
  const auto threads = static_cast<Extent>(thread_count());
  return threads == 1 ? kBandBytes : kBandBytesOfThread * threads;
}

}  // namespace

long rows_of_band = 0;
long worth_bands = 2L << 20;

// One array of all, computed by one loop of our own from arrays that are there already. What else there is depends on
// more than one element of each.
bool RegionPlan::may_be_banded() const {
  return is_joined_ && outputs_.size() == 1 && outputs_.front().descr != nullptr && targets_.empty() &&
         reductions_.empty() && folds_.empty() && !is_serial_ && !has_masks_ && !depends_on_strides_ && !shows_signs_;
}

bool RegionPlan::takes_only_parts_of(unsigned external) const {
  const auto begins_with_rows = [](const ViewSpec& spec) { return !spec.axes.empty() && spec.axes.front().is_slice; };
  return std::ranges::all_of(inputs_, [&](const Input& input) {
    return input.external != external ||
           (input.view >= 0 && begins_with_rows(views_[static_cast<std::size_t>(input.view)]));
  });
}

bool RegionPlan::shape_of_run(const Numpy& np, PyObject* const* externals, Shape* shape) const {
  Space space;
  space.inputs.resize(inputs_.size());
  const bool is_known = bind_views(np, externals, nullptr, &space) == RegionReason::kNone;
  *shape = space.shape;
  return is_known;
}

bool RegionPlan::rows_of_parts(PyObject* const* externals, unsigned external, Extent rows, PartRows* found) const {
  *found = {.lowest = std::numeric_limits<Extent>::max(), .highest = -1, .count = -1};
  for (const Input& input : inputs_) {
    if (input.external != external) {
      continue;
    }
    const ViewSpec& spec = views_[static_cast<std::size_t>(input.view)];
    // Rows of one byte, so that a place is a number of them.
    View column{.shape = {.nd = 1, .dims = {rows}}, .strides = {1}};
    View part;
    char origin = 0;
    column.data = &origin;
    const ViewSpec first{.external = spec.external, .axes = {spec.axes.front()}};
    if (!take_view(first, column, externals, &part) || part.strides[0] != 1 ||
        (found->count >= 0 && part.shape.dims[0] != found->count)) {
      return false;
    }
    found->count = part.shape.dims[0];
    found->lowest = std::min<Extent>(found->lowest, part.data - &origin);
    found->highest = std::max<Extent>(found->highest, part.data - &origin);
  }
  return found->count > 0;
}

// From the whole space to these rows of it.
RegionReason RegionPlan::narrow(const Band& band, Space* space) const {
  if (space->shape.nd == 0 || space->shape.dims[0] != band.rows) {
    return RegionReason::kLayout;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    View& view = space->inputs[i];
    if (view.shape.nd == space->shape.nd && view.shape.dims[0] == band.rows) {
      view.data += band.begin * view.strides[0];
      view.shape.dims[0] = band.count;
    } else if (inputs_[i].external == band.partial) {
      return RegionReason::kLayout;
    }
  }
  space->shape.dims[0] = band.count;
  return RegionReason::kNone;
}

// Whether the rows of results follow each other, as they would if all were computed together.
bool RegionPlan::lies_in_rows(const Space& space) const {
  return space.output_strides[0] == contiguous_strides(space.shape, outputs_.front().item_size, false);
}

RegionReason RegionPlan::run_band(const Numpy& np, PyObject* const* externals, Ref* outputs, const Band& band) const {
  Frame frame;
  frame.band = &band;
  const RegionReason reason = bind(np, externals, &frame);
  return reason == RegionReason::kLayout ? run_in_space(np, externals, outputs, &frame) : reason;
}

// --- Both together

bool Sweeps::may_be_banded() const {
  return plans_.size() == 2 && calls_.empty() && carried_.size() == 1 && outputs_.size() == 1 &&
         outputs_.front().first == 1 && plans_[0]->may_be_banded() && plans_[1]->may_be_banded() &&
         plans_[1]->takes_only_parts_of(kMostExternals);
}

bool Sweeps::cut_bands(const Numpy& np, PyObject* const* externals, Bands* bands) const {
  if (not_banded_ > 0) {
    --not_banded_;
    return false;
  }
  Shape shape;
  if (!plans_[0]->shape_of_run(np, externals, &shape) || shape.nd == 0) {
    return false;
  }
  bands->rows = shape.dims[0];
  const Extent bytes = shape.count() * plans_[0]->item_size();
  if (bytes < worth_bands || !plans_[1]->rows_of_parts(externals, kMostExternals, bands->rows, &bands->parts)) {
    return false;
  }
  const Extent twice = bands->parts.highest - bands->parts.lowest;
  const Extent fitting = band_bytes() / (bytes / bands->rows) - twice;
  bands->each = rows_of_band > 0 ? rows_of_band : fitting >= kLeastPerTwice * twice ? fitting : 0;
  return bands->each >= 2 && bands->parts.count >= 2 * bands->each;
}

// kLayout: nothing has happened, and all may do together.
RegionReason Sweeps::run_in_bands(const Numpy& np, PyObject* const* externals, Ref* outputs, const Bands& bands) const {
  std::array<PyObject*, kMostExternals + kMostResults> known;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::copy_n(externals, externals_, known.begin());
  const Extent twice = bands.parts.highest - bands.parts.lowest;
  Ref whole;
  for (Extent begin = 0; begin < bands.parts.count;) {
    const Extent left = bands.parts.count - begin;
    const Extent count = left < 2 * bands.each ? left : bands.each;
    const Extent first = begin + bands.parts.lowest;
    Ref rows;
    Ref same_whole;
    RegionReason reason =
        plans_[0]->run_band(np, known.data(), &rows, {.begin = first, .count = count + twice, .rows = bands.rows});
    if (reason == RegionReason::kNone) {
      known.at(kMostExternals) = rows.get();
      reason = plans_[1]->run_band(np, known.data(), &same_whole,
                                   {.begin = begin,
                                    .count = count,
                                    .rows = bands.parts.count,
                                    .partial = kMostExternals,
                                    .first = first,
                                    .all = bands.rows,
                                    .whole = &whole});
    }
    if (reason != RegionReason::kNone) {
      return reason;
    }
    begin += count;
  }
  outputs[0] = std::move(whole);
  ++region_counts.in_sweeps;
  ++region_counts.in_bands;
  return RegionReason::kNone;
}

}  // namespace tagalong::array
