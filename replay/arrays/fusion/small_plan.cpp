#include "replay/arrays/fusion/small_plan.h"

#include <algorithm>

#include "replay/arrays/fusion/binding.h"
#include "replay/arrays/numpy/float_status.h"

namespace tagalong::array {
namespace {

constexpr Extent kFew = 64;  // elements, where there are several loops
constexpr std::size_t kMostBuffers = 8;
constexpr std::size_t kMostSlots = 128;
using SmallPointers = std::array<char*, kMostSlots>;

// Runs without the short path after one that bailed out, for example because of NaNs.
constexpr unsigned kRunsWithoutSmall = 15;

// Without std::equal, which calls memcmp here.
bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  bool is_same = one->nd == other->nd;
  for (int i = 0; i < one->nd && is_same; ++i) {
    is_same = one->dimensions[i] == other->dimensions[i];
  }
  return is_same;
}

// Computes the steps in order. False: vector code has bailed out, or a loop has set an exception.
bool compute_steps(const FusionPlan& plan, const SmallPointers& data, Extent count) {
  for (const PlanStep& step : plan.steps) {
    if (step.code != nullptr) {
      if (!step.code->run(data.data(), count)) {
        return false;
      }
      continue;
    }
    const PlanOperation& operation = plan.operations[step.operation];
    if (operation.collects && float_status_raised(plan.float_units)) {
      return false;
    }
    std::array<char*, kMaxInputs + 1> places{};
    std::array<Extent, kMaxInputs + 1> strides{};
    for (unsigned i = 0; i <= operation.nin; ++i) {
      places[i] = data[operation.slots[i]];
      strides[i] = plan.item_sizes[operation.slots[i]];
    }
    if (operation.loop(operation.context, places.data(), &count, strides.data(), operation.auxdata) != 0) {
      PyErr_Clear();  // the general path sets it again
      return false;
    }
  }
  // Some older loops set an exception and return 0 (integer power).
  if (PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();
    return false;
  }
  return true;
}

}  // namespace

bool may_be_small(const FusionPlan& plan) {
  const auto is_simple = [&](const PlanStep& step) {
    const PlanOperation& operation = plan.operations[step.operation];
    return step.code != nullptr ||
           (operation.extent == OperationExtent::kElements && !operation.is_masked && !operation.is_cast);
  };
  return !plan.steps.empty() && std::ranges::all_of(plan.steps, is_simple) &&
         (!plan.is_fused || plan.steps.front().code != nullptr) && plan.buffers <= kMostBuffers &&
         plan.slots <= kMostSlots && !plan.shows_signs && !plan.has_masks && plan.views.empty() &&
         plan.targets.empty() && plan.reductions.empty() && plan.axis_reductions.empty() &&
         std::ranges::all_of(plan.outputs, [](const PlanOutput& output) { return output.descr != nullptr; });
}

bool run_small(const FusionPlan& plan, const Numpy& np, PyObject* const* externals, Ref* outputs, Backoff* backoff) {
  if (backoff->skips_run()) {
    return false;
  }
  SmallPointers data;  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  Scalars scalars;
  const ArrayFields* shape = nullptr;
  for (const PlanInput& input : plan.inputs) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type] || array->nd == 0) {
      return false;
    }
    constexpr int kRow = kAligned | kCContiguous;
    const int flags = array->flags & (array->nd == 1 ? kRow : kRow | kFContiguous);
    if (flags != kRow || (shape != nullptr && !same_shape(shape, array))) {
      return false;
    }
    shape = array;
    data[input.slot] = array->data;
  }
  if (shape == nullptr || !bind_numbers(plan, np, externals, data, &scalars)) {
    return false;
  }
  Extent count = 1;
  for (int i = 0; i < shape->nd; ++i) {
    count *= shape->dimensions[i];
  }
  if (count == 0 || (count == 1 && plan.may_differ_alone) || count > (plan.is_fused ? kBlock : kFew) ||
      count * plan.cost > kGilThreshold) {
    return false;
  }
  // One cache line more, as between blocks. Some of NumPy's loops treat adjacent buffers as overlapping, and have other
  // bits then (1.26 with AVX-512: arctan, tanh).
  alignas(kCacheLine)
      std::array<std::array<char, static_cast<std::size_t>(kFew) * kLargestItemSize + kCacheLine>, kMostBuffers>
          buffers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before they are read
  for (std::size_t i = 0; i < plan.temporaries.size() && !plan.is_fused; ++i) {
    data[plan.temporaries[i].slot] = buffers[plan.temporaries[i].buffer].data();
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    Py_INCREF(plan.outputs[i].descr);
    outputs[i] = Ref::steal(np.new_from_descr(np.array_type, plan.outputs[i].descr, shape->nd, shape->dimensions,
                                              nullptr, nullptr, 0, nullptr));
    if (!outputs[i]) {
      PyErr_Clear();
      return false;
    }
    data[plan.outputs[i].slot] = as_array(outputs[i].get())->data;
  }
  const auto compute = [&] {
    return plan.is_fused ? plan.steps.front().code->run(data.data(), count) : compute_steps(plan, data, count);
  };
  const auto raises = [&] { return plan.float_units != FloatUnits::kNone && float_status_raised(plan.float_units); };
  // The flags may have been set before. Testing them first would take longer than a loop over a few elements.
  bool is_done = compute();
  if ((is_done || !plan.is_fused) && raises()) [[unlikely]] {
    clear_float_status();
    is_done = compute() && !raises();
  }
  backoff->start(is_done ? 0 : kRunsWithoutSmall);
  return is_done;
}

}  // namespace tagalong::array
