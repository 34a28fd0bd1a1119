// The usual call of a small region: rows of one shape, all computed by one loop of machine code into new arrays. What
// takes longer than the loop would on the general way, memory for blocks, views, parts, is not asked for here. Whatever
// is not so, or has to be reported, has not happened: the general way does it.
#include <algorithm>

#include "replay/array/float_status.h"
#include "replay/array/region_run.h"

namespace tagalong::array {
namespace {

constexpr unsigned kNotTried = 15;  // calls after one whose results were left open, as those with NaNs are

// Not by std::equal, which calls memcmp for it.
bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  bool is_same = one->nd == other->nd;
  for (int i = 0; i < one->nd && is_same; ++i) {
    is_same = one->dimensions[i] == other->dimensions[i];
  }
  return is_same;
}

}  // namespace

bool RegionPlan::may_be_small() const {
  return is_joined_ && steps_.front().code != nullptr && views_.empty() && targets_.empty() && reductions_.empty() &&
         folds_.empty() && std::ranges::all_of(outputs_, [](const Output& output) { return output.descr != nullptr; });
}

bool RegionPlan::run_small(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (not_small_ > 0) {
    --not_small_;
    return false;
  }
  Places data;  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
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
  if (shape == nullptr || !place_scalars(np, externals, &data, &scalars)) {
    return false;
  }
  Extent count = 1;
  for (int i = 0; i < shape->nd; ++i) {
    count *= shape->dimensions[i];
  }
  if (count == 0 || count > kBlock || count * cost_ > kGilThreshold) {
    return false;
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
  // What is up may have been up before. To ask first would take longer than a loop over ten elements.
  const ExactCode& code = *steps_.front().code;
  const auto raises = [&] { return float_units_ != FloatUnits::kNone && float_status_raised(float_units_); };
  bool is_done = code.run(data.data(), count);
  if (is_done && raises()) [[unlikely]] {
    clear_float_status();
    is_done = code.run(data.data(), count) && !raises();
  }
  not_small_ = is_done ? 0 : kNotTried;
  return is_done;
}

}  // namespace tagalong::array
