// The short path for small fusion groups: arrays of one shape that are one row each, computed into new arrays by one
// fused kernel, or by several loops if there are few elements. It skips everything that would take longer than the
// loop: blocks, views, parts. In every other case, or where something has to be reported, it refuses, and the general
// path computes the group.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/numpy/float_status.h"

namespace tagalong::array {
namespace {

constexpr Extent kFew = 64;  // elements, where there are several loops
constexpr std::size_t kMostBuffers = 8;

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

}  // namespace

bool FusionPlan::may_be_small() const {
  const auto is_simple = [this](const Step& step) {
    const Operation& operation = operations_[step.operation];
    return step.code != nullptr || (operation.stage == Stage::kElements && !operation.is_masked && !operation.is_cast);
  };
  return !steps_.empty() && std::ranges::all_of(steps_, is_simple) && (!is_fused_ || steps_.front().code != nullptr) &&
         buffers_ <= kMostBuffers && !shows_signs_ && !has_masks_ && views_.empty() && targets_.empty() &&
         reductions_.empty() && axis_reductions_.empty() &&
         std::ranges::all_of(outputs_, [](const Output& output) { return output.descr != nullptr; });
}

// Computes the steps in order. False: vector code has bailed out, or a loop has set an exception.
bool FusionPlan::compute_small(const SlotPointers& data, Extent count) const {
  for (const Step& step : steps_) {
    if (step.code != nullptr) {
      if (!step.code->run(data.data(), count)) {
        return false;
      }
      continue;
    }
    const Operation& operation = operations_[step.operation];
    if (operation.collects && float_status_raised(float_units_)) {
      return false;
    }
    std::array<char*, kMaxInputs + 1> places{};
    std::array<Extent, kMaxInputs + 1> strides{};
    for (unsigned i = 0; i <= operation.nin; ++i) {
      places[i] = data[operation.slots[i]];
      strides[i] = item_sizes_[operation.slots[i]];
    }
    if (operation.loop(operation.context, places.data(), &count, strides.data(), operation.auxdata) != 0) {
      PyErr_Clear();  // the general path sets it again
      return false;
    }
  }
  return true;
}

bool FusionPlan::run_small(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (skip_small_ > 0) {
    --skip_small_;
    return false;
  }
  SlotPointers data;  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  Scalars scalars;
  const ArrayFields* shape = nullptr;
  for (const Input& input : inputs_) {
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
  if (shape == nullptr || !bind_scalar_values(np, externals, &data, &scalars)) {
    return false;
  }
  Extent count = 1;
  for (int i = 0; i < shape->nd; ++i) {
    count *= shape->dimensions[i];
  }
  if (count == 0 || count > (is_fused_ ? kBlock : kFew) || count * cost_ > kGilThreshold) {
    return false;
  }
  // One cache line more, as between blocks. Some of NumPy's loops treat adjacent buffers as overlapping, and have other
  // bits then (1.26 with AVX-512: arctan, tanh).
  alignas(kCacheLine)
      std::array<std::array<char, static_cast<std::size_t>(kFew) * kItemSize + kCacheLine>, kMostBuffers>
          buffers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before they are read
  for (std::size_t i = 0; i < temporaries_.size() && !is_fused_; ++i) {
    data[temporaries_[i].slot] = buffers[temporaries_[i].buffer].data();
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Py_INCREF(outputs_[i].descr);
    outputs[i] = Ref::steal(np.new_from_descr(np.array_type, outputs_[i].descr, shape->nd, shape->dimensions, nullptr,
                                              nullptr, 0, nullptr));
    if (!outputs[i]) {
      PyErr_Clear();
      return false;
    }
    data[outputs_[i].slot] = as_array(outputs[i].get())->data;
  }
  const auto compute = [&] {
    return is_fused_ ? steps_.front().code->run(data.data(), count) : compute_small(data, count);
  };
  const auto raises = [&] { return float_units_ != FloatUnits::kNone && float_status_raised(float_units_); };
  // The flags may have been set before. Testing them first would take longer than a loop over a few elements.
  bool is_done = compute();
  if ((is_done || !is_fused_) && raises()) [[unlikely]] {
    clear_float_status();
    is_done = compute() && !raises();
  }
  skip_small_ = is_done ? 0 : kRunsWithoutSmall;
  return is_done;
}

}  // namespace tagalong::array
