// Two neighbouring rows at once, where the lower one takes what the upper one takes, too, as filters and differences
// along the first axis do: it is read once for both ("unroll and jam"; Callahan, Carr, Kennedy, "Improving register
// allocation for subscripted variables", 1990). Several long rows are more than the innermost cache holds, and come
// from the next one each time.
#include <algorithm>
#include <limits>

#include "replay/arrays/fusion/region_run.h"
#include "replay/arrays/fusion/row_pairs.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kMostPairs = 4;  // ways in which a region's arrays lie to each other

}  // namespace

long worth_pairing = 4096;
long least_distance = 64;
long shared_rows = 4;  // of fewer the innermost cache holds enough

// Which rows there are is what the arrays tell: where these are one row each, it is how far the nearest two of them are
// from each other.
void RegionPlan::begin_pairs(Frame* frame, const Space* space) const {
  if (space == nullptr || frame->count < worth_pairing || static_cast<long>(rows_.size()) < shared_rows ||
      !targets_.empty() || frame->is_donated || frame->streaming != nullptr || !has_rows_together(*frame, *space)) {
    return;
  }
  const Walk& walk = *space->walk;
  const bool are_apart = walk.nd() > 1 && walk.row() <= kMostTogether / 2;
  struct Array {
    Slot slot;
    const char* data;
    Extent step;
  };
  boost::container::static_vector<Array, kMaxRegionInputs> arrays;
  for (const auto& [slot, item_size] : rows_) {
    const auto port = std::ranges::find(space->gathered, slot, &Space::Port::slot);
    const bool is_port = port != space->gathered.end();
    const Extent step = !are_apart ? 0 : is_port ? port->strides[1] : walk.row() * item_size;
    if (item_size == static_cast<Extent>(kItemSize)) {
      arrays.push_back({.slot = slot, .data = is_port ? port->data : frame->data[slot], .step = step});
    }
  }
  Extent distance = std::numeric_limits<Extent>::max();
  for (const Array& one : arrays) {
    for (const Array& other : arrays) {
      const Extent bytes = other.data - one.data;
      if (!are_apart && bytes >= least_distance * static_cast<Extent>(kItemSize) && bytes % kItemSize == 0) {
        distance = std::min(distance, bytes);
      }
    }
  }
  if (!are_apart && distance > kMostTogether / 2 * static_cast<Extent>(kItemSize)) {
    return;
  }
  boost::container::static_vector<SlotPair, kMaxRegionInputs> shared;
  for (const Array& one : arrays) {
    const char* const next = one.data + (are_apart ? one.step : distance);
    const auto same =
        std::ranges::find_if(arrays, [&](const Array& other) { return other.data == next && other.step == one.step; });
    if (same != arrays.end()) {
      shared.emplace_back(one.slot, same->slot);
    }
  }
  if (static_cast<long>(shared.size()) < shared_rows) {
    return;
  }
  frame->pairs = pairs_of({shared.data(), shared.size()});
  frame->paired_row = are_apart ? 0 : distance / static_cast<Extent>(kItemSize);
}

const RegionPlan::Pairs* RegionPlan::pairs_of(std::span<const SlotPair> shared) const {
  const auto known =
      std::ranges::find_if(pairs_, [&](const auto& pairs) { return std::ranges::equal(pairs->shared, shared); });
  if (known != pairs_.end()) {
    return (*known)->code == nullptr ? nullptr : known->get();
  }
  if (pairs_.size() == kMostPairs) {
    return nullptr;
  }
  auto made = std::make_unique<Pairs>(Pairs{.shared = {shared.begin(), shared.end()}});
  made->code = steps_.front().code->paired(shared, &made->own);
  const Pairs* const pairs = pairs_.emplace_back(std::move(made)).get();
  return pairs->code == nullptr ? nullptr : pairs;
}

// What the rows that are one leave at the end, and the last one of an odd number, are computed alone.
bool RegionPlan::run_pairs(const Frame& frame, Places* data, const Together& together, const Steps& steps) const {
  const ExactCode& code = *steps_.front().code;
  const bool are_apart = frame.paired_row == 0;
  const Extent row = are_apart ? together.row : frame.paired_row;
  const Extent pairs = (are_apart ? together.rows : together.row / row) / 2;
  Places two = *data;
  Steps two_steps = steps;
  const auto place = [&](Slot slot, Extent item_size) {
    const Extent step = are_apart ? steps[slot] : row * item_size;
    const auto own = std::ranges::find(frame.pairs->own, slot, &SlotPair::first);
    if (own != frame.pairs->own.end()) {
      two[own->second] = (*data)[slot] + step;
      two_steps[own->second] = 2 * step;
    }
    two_steps[slot] = 2 * step;
    (*data)[slot] += 2 * pairs * step;
  };
  for (const auto& [slot, item_size] : rows_) {
    place(slot, item_size);
  }
  for (const Output& output : outputs_) {
    if (output.descr != nullptr) {
      place(output.slot, output.item_size);
    }
  }
  if (pairs > 0 && !frame.pairs->code->run_rows(two.data(), row, pairs, two_steps.data())) {
    return false;
  }
  region_counts.rows_in_pairs.add(static_cast<std::uint64_t>(2 * pairs));
  const Extent rows = are_apart ? together.rows - 2 * pairs : 1;
  const Extent left = are_apart ? together.row : together.row - 2 * pairs * row;
  return rows == 0 || left == 0 || code.run_rows(data->data(), left, rows, steps.data());
}

}  // namespace tagalong::array
