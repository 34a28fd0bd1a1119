#include "recorder/deferred/deferred_arrays.h"

#include <algorithm>
#include <utility>

#include "recorder/base/hints.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/objects/collector.h"

namespace tagalong::recorder {
namespace {

// One per thread: between two deferred operations no other frame starts.
std::unique_ptr<DeferredArrays>& slot() {
  static thread_local std::unique_ptr<DeferredArrays> deferred;
  return deferred;
}

// Whether the program cannot notice when the object dies.
bool may_outlive_eager(PyObject* object) {
  if (object == nullptr || object == Py_None || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
      PyComplex_CheckExact(object) || PyBool_Check(object) || PyUnicode_CheckExact(object) ||
      PyBytes_CheckExact(object)) {
    return true;
  }
  while (object != nullptr && is_array_type(Py_TYPE(object)) && array::as_array(object)->weakreflist == nullptr) {
    object = array::as_array(object)->base;
  }
  return object == nullptr;
}

}  // namespace

DeferredArrays* DeferredArrays::of(const cpython::Frame* frame) {
  DeferredArrays* const deferred = slot().get();
  return deferred != nullptr && deferred->frame_ == frame ? deferred : nullptr;
}

DeferredArrays* DeferredArrays::begin(cpython::Frame* frame, DeferredShape shape) {
  std::unique_ptr<DeferredArrays>& deferred_arrays = slot();
  if (deferred_arrays == nullptr) {
    deferred_arrays = std::make_unique<DeferredArrays>(frame, std::move(shape));
  }
  return deferred_arrays->frame_ == frame ? deferred_arrays.get() : nullptr;
}

std::unique_ptr<DeferredArrays> DeferredArrays::take(const cpython::Frame* frame) {
  return of(frame) == nullptr ? nullptr : std::move(slot());
}

DeferredArrays::Aside::Aside(const cpython::Frame* frame) : deferred_(take(frame)) {
  if (deferred_ != nullptr) {
    deferred_->rewind();
  }
}

DeferredArrays::Aside::~Aside() {
  if (deferred_ != nullptr) {
    deferred_->bind_again();
    slot() = std::move(deferred_);
  }
}

// The hook reports frames that start, whether or not the recording goes on.
DeferredArrays::DeferredArrays(cpython::Frame* frame, DeferredShape shape) : frame_(frame), shape_(std::move(shape)) {
  cpython::acquire_hook();
  hold_collector();
}

DeferredArrays::~DeferredArrays() {
  release_collector();
  cpython::release_hook();
}

void DeferredArrays::hold_collector() {
  is_collector_held_ = is_collector_held_ || cpython::set_collecting(cpython::thread_state(), false);
}

void DeferredArrays::release_collector() {
  if (std::exchange(is_collector_held_, false)) {
    cpython::set_collecting(cpython::thread_state(), true);
  }
}

void DeferredArrays::add(ArrayOperator op, Expression::Operands operands, int unit, PyObject* proxy) {
  expression_.add(std::move(op), std::move(operands), unit);
  proxies_.push_back(proxy);
}

int DeferredArrays::node_of(PyObject* proxy) const {
  const auto found = proxy == nullptr ? proxies_.end() : std::ranges::find(proxies_, proxy);
  return found == proxies_.end() ? -1 : static_cast<int>(found - proxies_.begin());
}

void DeferredArrays::forget(PyObject* proxy) { std::ranges::replace(proxies_, proxy, nullptr); }

bool DeferredArrays::bind(int slot) {
  PyObject* const old = cpython::locals_of(frame_)[slot];
  if (node_of(old) < 0 && !may_outlive_eager(old)) {
    return false;
  }
  bindings_.push_back({.slot = slot, .before = expression_.size(), .old = Ref::create(old), .value = {}});
  rewound_ = bindings_.size();
  return true;
}

std::vector<DeferredArrays::Place> DeferredArrays::on_stack(PyObject** end,
                                                            std::vector<std::size_t>* beyond_end) const {
  PyObject** const base = cpython::stack_base(frame_);
  PyObject** const limit = end != nullptr ? end : base + cpython::code_of(frame_)->co_stacksize;
  std::vector<Place> places;
  std::vector<Py_ssize_t> left(proxies_.size());  // stack slots beyond the end have no references
  for (std::size_t node = 0; node < proxies_.size(); ++node) {
    left[node] = proxies_[node] == nullptr ? 0 : Py_REFCNT(proxies_[node]);
  }
  for (const Binding& binding : bindings_) {
    for (const Ref* kept : {&binding.old, &binding.value}) {
      if (const int node = node_of(kept->get()); node >= 0) {
        --left[static_cast<std::size_t>(node)];
      }
    }
  }
  for (PyObject** place = base; place < limit; ++place) {
    const int found = node_of(*place);
    if (found >= 0 && left[static_cast<std::size_t>(found)]-- > 0) {
      places.push_back({place, static_cast<std::size_t>(found)});
    }
  }
  for (std::size_t node = 0; node < left.size(); ++node) {
    if (left[node] > 0) {
      beyond_end->push_back(node);
    }
  }
  return places;
}

std::vector<std::size_t> DeferredArrays::bound(bool is_ever) const {
  std::vector<std::size_t> nodes;
  for (auto binding = bindings_.begin(); binding != bindings_.end(); ++binding) {
    const int node = node_of(binding->value.get());
    const bool is_last =
        std::none_of(binding + 1, bindings_.end(), [=](const Binding& later) { return later.slot == binding->slot; });
    if (node >= 0 && (is_ever || is_last)) {
      nodes.push_back(static_cast<std::size_t>(node));
    }
  }
  return nodes;
}

bool DeferredArrays::has_other_visible_results(PyObject* proxy, PyObject** end) const {
  const auto is_other = [&](PyObject* object) { return object != proxy && node_of(object) >= 0; };
  return Py_REFCNT(proxy) != 1 || node_of(proxy) + 1 != static_cast<int>(expression_.size()) ||
         std::any_of(cpython::locals_of(frame_), end, is_other);
}

void DeferredArrays::rewind() {
  PyObject** const names = cpython::locals_of(frame_);
  for (; rewound_ > 0; --rewound_) {
    Binding& binding = bindings_[rewound_ - 1];
    binding.value = Ref::steal(std::exchange(names[binding.slot], binding.old.release()));
  }
}

void DeferredArrays::bind_up_to(std::size_t node) {
  PyObject** const names = cpython::locals_of(frame_);
  for (; rewound_ < bindings_.size() && bindings_[rewound_].before <= node; ++rewound_) {
    Binding& binding = bindings_[rewound_];
    const int of = node_of(binding.value.get());
    Ref value = of < 0 ? binding.value : results_[static_cast<std::size_t>(of)];
    if (value) {
      const Ref old = Ref::steal(std::exchange(names[binding.slot], value.release()));
    }
  }
}

void DeferredArrays::bind_again() {
  for (; rewound_ < bindings_.size(); ++rewound_) {
    Binding& binding = bindings_[rewound_];
    binding.old = Ref::steal(std::exchange(cpython::locals_of(frame_)[binding.slot], binding.value.release()));
  }
}

bool DeferredArrays::compute(std::vector<std::size_t> seen, Scope scope) {
  using Fused = Expression::Fused;
  Fused outcome = std::exchange(is_returned_, false) ? Fused::kDone : Fused::kNotOneGroup;
  if (outcome != Fused::kDone && scope == Scope::kReturned && !cpython::is_held(frame_)) {
    outcome = expression_.compute_fused(seen, &results_);
    is_returned_ = outcome == Fused::kDone && !cpython::is_held(frame_);
  }
  if (is_returned_) {
    return true;
  }
  std::ranges::copy(bound(false), std::back_inserter(seen));
  std::erase_if(seen, [&](std::size_t node) { return node < results_.size() && results_[node]; });
  if (outcome == Fused::kDone && seen.empty()) {
    return true;  // all has been computed, and nothing had to be reported
  }
  if (outcome != Fused::kFailed) {
    outcome = expression_.compute_fused(seen, &results_);
  }
  return outcome == Fused::kDone || compute_rest(seen, outcome == Fused::kNotOneGroup);
}

// Computes what one fusion group could not. Results that exist stay.
bool DeferredArrays::compute_rest(const std::vector<std::size_t>& seen, bool tries_groups) {
  std::vector<std::size_t> visible = seen;
  std::ranges::copy(bound(true), std::back_inserter(visible));
  const auto is_needed = [&](std::size_t node) {
    return std::ranges::find(seen, node) != seen.end() ||
           std::any_of(bindings_.begin() + static_cast<std::ptrdiff_t>(rewound_), bindings_.end(),
                       [&](const Binding& later) { return node_of(later.value.get()) == static_cast<int>(node); });
  };
  return expression_.compute({.visible = visible,
                              .reach = [&](std::size_t node) { bind_up_to(node); },
                              .is_needed = is_needed,
                              .tries_groups = tries_groups},
                             &results_);
}

void DeferredArrays::resolve() {
  for (std::size_t node = 0; node < proxies_.size(); ++node) {
    if (PyObject* const proxy = std::exchange(proxies_[node], nullptr)) {
      resolve_proxy(proxy, node < results_.size() ? results_[node] : Ref());
    }
  }
}

void DeferredArrays::forget_likes() {
  for (PyObject* const proxy : proxies_) {
    if (proxy != nullptr) {
      forget_like(proxy);
    }
  }
}

bool DeferredArrays::force(PyObject** end, Scope scope) {
  if (is_returned_ && scope == Scope::kReturned) {
    return true;
  }
  release_collector();
  rewind();
  forget_likes();
  std::vector<std::size_t> seen;
  const std::vector<Place> places = on_stack(end, &seen);
  std::ranges::transform(places, std::back_inserter(seen), &Place::node);
  if (!compute(std::move(seen), scope)) {
    results_.clear();
    resolve();
    return false;
  }
  const auto put = [&] {
    for (const Place& found : places) {
      const Ref old = Ref::steal(std::exchange(*found.place, Py_NewRef(results_[found.node].get())));
    }
  };
  if (is_returned_) {
    hold_collector();
    bind_again();
    put();
    return true;
  }
  bind_up_to(expression_.size());
  put();
  resolve();
  return true;
}

void DeferredArrays::drop_all() {
  rewind();
  results_.clear();
  resolve();
}

bool DeferredArrays::store(PyObject* target) {
  release_collector();
  rewind();
  forget_likes();
  const bool is_done = expression_.store(target);
  if (is_done) {
    results_.resize(expression_.size());
    bind_up_to(expression_.size());
    resolve();
  }
  return is_done;
}

bool force_deferred(const cpython::Frame* frame, PyObject** end, DeferredArrays::Scope scope) {
  std::unique_ptr<DeferredArrays> deferred = DeferredArrays::take(frame);
  const bool is_done = deferred == nullptr || deferred->force(end, scope);
  if (is_done && deferred != nullptr && deferred->is_returned()) {
    slot() = std::move(deferred);
  }
  return is_done;
}

void discard_returned(const cpython::Frame* frame) {
  if (DeferredArrays* const deferred = DeferredArrays::of(frame); deferred != nullptr && deferred->is_returned()) {
    DeferredArrays::take(frame)->drop_all();
  }
}

}  // namespace tagalong::recorder
