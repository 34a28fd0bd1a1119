// The memory of arrays of several shapes and layouts. A run whose arrays have the layouts of the run before, and whose
// subscripts have the same numbers, only computes addresses.
#include "replay/arrays/fusion/space.h"

#include <algorithm>

#include "replay/arrays/fusion/binding.h"

namespace tagalong::array {
namespace {

constexpr int kFlags = kAligned | kWriteable | kWarnOnWrite;

void add_number(const ViewSpec::Number& number, std::vector<Space::KeptNumber>* numbers) {
  if (number.external >= 0 && std::ranges::find(*numbers, number, &Space::KeptNumber::number) == numbers->end()) {
    numbers->push_back({.number = number});
  }
}

void add_numbers(const ViewSpec& view, std::vector<Space::KeptNumber>* numbers) {
  const auto add_subscript = [numbers](const ViewSpec::Subscript& subscript) {
    for (const ViewSpec::Axis& axis : subscript) {
      add_number(axis.start, numbers);
      add_number(axis.stop, numbers);
      add_number(axis.step, numbers);
    }
  };
  add_subscript(view.axes);
  std::ranges::for_each(view.further, add_subscript);
  for (const ViewSpec::Roll& roll : view.rolls) {
    add_number(roll.shift, numbers);
  }
}

bool have_same_layout(const View& one, const View& other) {
  return one.shape == other.shape && one.is_aligned == other.is_aligned && one.is_rolled == other.is_rolled &&
         std::equal(one.strides.begin(), one.strides.begin() + one.shape.nd, other.strides.begin()) &&
         (!one.is_rolled || one.starts == other.starts);
}

}  // namespace

bool Space::Source::has_layout_of(const ArrayFields* array) const {
  if (array->nd != view.shape.nd || (array->flags & kFlags) != flags) {
    return false;
  }
  // A loop, since std::equal would call memcmp for these few numbers.
  for (int axis = 0; axis < array->nd; ++axis) {
    if (array->dimensions[axis] != view.shape.dims[axis] || array->strides[axis] != view.strides[axis]) {
      return false;
    }
  }
  return true;
}

bool Space::Source::keep(const ArrayFields* array) {
  flags = array->flags & kFlags;
  return view_of(array, &view);
}

Space::Space(const FusionPlan& plan) {
  const auto add = [&](std::uint16_t external, std::uint8_t type, std::int16_t view, std::vector<Place>* places) {
    const auto known = std::ranges::find_if(
        sources, [&](const Source& source) { return source.external == external && source.type == type; });
    places->push_back({.source = static_cast<std::size_t>(known - sources.begin())});
    if (known == sources.end()) {
      sources.push_back({.external = external, .type = type});
    }
    if (view >= 0) {
      add_numbers(plan.views[static_cast<std::size_t>(view)], &numbers);
    }
  };
  for (const PlanInput& input : plan.inputs) {
    add(input.external, input.type, input.view, &input_places);
  }
  for (const PlanTarget& target : plan.targets) {
    add(target.external, target.type, target.view, &target_places);
  }
  inputs.resize(plan.inputs.size());
  targets.resize(plan.targets.size());
  row_strides.resize(plan.inputs.size());
  output_strides.resize(plan.outputs.size());
  walked_outputs.resize(plan.outputs.size());
  target_strides.resize(plan.targets.size());
  gathered.reserve(plan.inputs.size());
  scattered.reserve(plan.outputs.size() + plan.targets.size());
}

FusionReason SpaceBinding::bind() {
  space_.scattered.clear();
  if (space_.is_bound && has_same_sources()) {
    move_views();
  } else {
    FusionReason reason = bind_sources();
    reason = reason == FusionReason::kNone ? bind_views() : reason;
    if (reason != FusionReason::kNone) {
      space_.is_bound = false;
      return reason;
    }
  }
  if (has_overlaps()) {
    return FusionReason::kOverlap;
  }
  if (space_.is_bound) {
    ++fusion_counts.as_before;
  } else if (const FusionReason reason = LayoutBinding(plan_, np_, externals_, &state_, &space_).bind();
             reason != FusionReason::kNone) {
    return reason;
  }
  place_inputs();
  return FusionReason::kNone;
}

// Null: it is no array of that dtype.
const ArrayFields* SpaceBinding::array_of(const Space::Source& source) const {
  PyObject* object = externals_[source.external];
  const bool is_array = Py_TYPE(object) == np_.array_type && as_array(object)->descr == np_.descr[source.type];
  return is_array ? as_array(object) : nullptr;
}

// --- As in the run before

bool SpaceBinding::has_same_sources() const {
  const auto is_same_array = [&](const Space::Source& source) {
    const ArrayFields* array = array_of(source);
    return array != nullptr && source.has_layout_of(array);
  };
  const auto is_same_number = [&](const Space::KeptNumber& kept) {
    return read_number(kept.number, externals_) == kept.value;
  };
  return std::ranges::all_of(space_.sources, is_same_array) && std::ranges::all_of(space_.numbers, is_same_number);
}

void SpaceBinding::move_views() {
  const auto move = [&](const std::vector<Space::Place>& places, std::vector<View>* views) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Space::Source& source = space_.sources[places[i].source];
      (*views)[i].data = as_array(externals_[source.external])->data + places[i].offset;
    }
  };
  move(space_.input_places, &space_.inputs);
  move(space_.target_places, &space_.targets);
}

// --- Anew

FusionReason SpaceBinding::bind_sources() {
  for (Space::Source& source : space_.sources) {
    const ArrayFields* array = array_of(source);
    if (array == nullptr || array->nd == 0) {
      return FusionReason::kKinds;
    }
    if (!source.keep(array)) {
      return FusionReason::kLayout;
    }
  }
  for (Space::KeptNumber& kept : space_.numbers) {
    kept.value = read_number(kept.number, externals_).value_or(0);  // take_view() refuses an object that is no number
  }
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_view(std::int16_t number, Space::Place* place, View* kept) {
  const View& whole = space_.sources[place->source].view;
  View view;
  if (number < 0) {
    view = whole;
  } else if (!take_view(plan_.views[static_cast<std::size_t>(number)], whole, externals_, &view)) {
    return FusionReason::kLayout;
  }
  place->offset = view.data - whole.data;
  space_.is_bound = space_.is_bound && have_same_layout(view, *kept);
  *kept = view;
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_views() {
  space_.shape = {};
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    if (const FusionReason reason = bind_view(plan_.inputs[i].view, &space_.input_places[i], &space_.inputs[i]);
        reason != FusionReason::kNone) {
      return reason;
    }
    if (!broadcast(space_.inputs[i].shape, &space_.shape)) {
      return FusionReason::kShape;
    }
  }
  // A rolled array is copied as it is, and the copy has its shape.
  if (std::ranges::any_of(space_.inputs,
                          [&](const View& view) { return view.is_rolled && !(view.shape == space_.shape); })) {
    return FusionReason::kShape;
  }
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    if (const FusionReason reason = bind_target(i); reason != FusionReason::kNone) {
      return reason;
    }
  }
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_target(std::size_t number) {
  const PlanTarget& target = plan_.targets[number];
  View& view = space_.targets[number];
  if (const FusionReason reason = bind_view(target.view, &space_.target_places[number], &view);
      reason != FusionReason::kNone) {
    return reason;
  }
  const int flags = space_.sources[space_.target_places[number].source].flags;
  if ((flags & kWriteable) == 0 || (flags & kWarnOnWrite) != 0) {
    return FusionReason::kInPlace;
  }
  if (!(view.shape == space_.shape)) {
    return FusionReason::kShape;
  }
  return view.is_aligned && is_injective(view, np_.item_size[target.type]) ? FusionReason::kNone
                                                                           : FusionReason::kLayout;
}

// Whether an operation would read what an earlier one writes, or two targets have elements in common. It depends on
// addresses, so every run looks.
bool SpaceBinding::has_overlaps() const {
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const View& view = space_.targets[i];
    const Extent item_size = np_.item_size[plan_.targets[i].type];
    for (std::size_t other = 0; other < plan_.inputs.size(); ++other) {
      if ((plan_.targets[i].later >> other & 1U) != 0 &&
          overlap(view, item_size, space_.inputs[other], np_.item_size[plan_.inputs[other].type])) {
        return true;
      }
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (overlap(view, item_size, space_.targets[other], np_.item_size[plan_.targets[other].type])) {
        return true;
      }
    }
  }
  return false;
}

// --- The addresses of a run

void SpaceBinding::place_inputs() {
  state_.count = space_.shape.count();
  state_.row = space_.row;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const Slot slot = plan_.inputs[i].slot;
    state_.data[slot] = space_.inputs[i].data;
    state_.strides[slot] = space_.row_strides[i];
  }
  for (Space::Port& port : space_.gathered) {
    port.data = space_.inputs[port.input].data;
  }
  space_.walk->begin();
}

}  // namespace tagalong::array
