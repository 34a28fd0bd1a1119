#include <utility>

#include "replay/guards.h"
#include "replay/interpreter.h"

namespace tagalong::replay {

namespace {

constexpr std::size_t kMostRegions = 4;  // of one step: operands of other kinds
constexpr std::size_t kMostExternals = 32;

}  // namespace

// Nothing that the region would do can be noticed except its results.
bool Interpreter::region_holds(const PlannedRegion& region) const {
  for (const auto& [place, object] : region.same) {
    if (registers_[place] != object) {
      return false;
    }
  }
  if (!loads_hold(region, registers_)) {
    return false;
  }
  for (const PlannedRegion::Guard& guard : region.guards) {
    PyObject* value = guard.place < 0 ? guard.object : registers_[guard.place];
    if (!guard_holds(guard.step->op, value, guard.step->object, guard.step->immediate)) {
      return false;
    }
  }
  for (const std::int32_t frame : region.returned_frames) {
    if (run_.depth > 0 && run_.frame_numbers[run_.depth - 1] == frame) {
      return false;
    }
  }
  const auto most = static_cast<Py_ssize_t>(region.dropped.size() + region.locals.size());
  const auto is_quiet = [&](PyObject* object) {
    return object == nullptr || Py_REFCNT(object) > most || dies_alone(object);
  };
  for (const std::int32_t place : region.dropped) {
    if (!is_quiet(registers_[place])) {
      return false;
    }
  }
  for (const PlannedRegion::Local& local : region.locals) {
    const int level = real_level(local.frame);
    if (level >= 0 && !is_quiet(interp::locals_of(run_.frames[level])[local.slot])) {
      return false;
    }
  }
  return true;
}

void Interpreter::commit_region(const PlannedRegion& region, std::array<Ref, array::kMaxRegionOutputs> results) {
  for (const std::int32_t place : region.dropped) {
    Py_CLEAR(registers_[place]);
  }
  for (const auto& [place, output] : region.results) {
    registers_[place] = Ref(results.at(output)).release();
  }
  for (const auto& [place, object] : region.loaded) {
    registers_[place] = Py_NewRef(object);
  }
  for (const PlannedRegion::Local& local : region.locals) {
    const int level = real_level(local.frame);
    PyObject* value = local.source < 0 ? nullptr : registers_[local.source];
    if (level >= 0 && interp::locals_of(run_.frames[level])[local.slot] != value) {
      PyObject* old = std::exchange(interp::locals_of(run_.frames[level])[local.slot], Py_XNewRef(value));
      run_.synced_keys[level] = -1;
      Py_XDECREF(old);
    }
  }
  region_steps_ = region.count;
}

// False: nothing has happened, the steps are run one by one.
bool Interpreter::run_region(const Step& step) {
  if (!step.region) {
    step.region = std::make_unique<RegionSite>();
  }
  RegionSite& site = *step.region;
  if (site.wait > 0) {
    --site.wait;
    return false;
  }
  const array::Numpy* np = array::numpy_if_ready();
  if (np == nullptr || requested_) {
    return false;
  }
  const auto attempt = [&](const PlannedRegion& region) {
    if (!region_holds(region)) {
      return array::RegionOutcome::kMismatch;
    }
    std::array<PyObject*, kMostExternals> externals;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t index = 0; index < region.externals.size(); ++index) {
      const PlannedRegion::External& external = region.externals[index];
      externals[index] = external.place < 0 ? external.object : registers_[external.place];
    }
    std::array<Ref, array::kMaxRegionOutputs> results;
    const array::RegionOutcome outcome = region.plan->run(*np, externals.data(), results.data());
    if (outcome == array::RegionOutcome::kDone) {
      commit_region(region, std::move(results));
    }
    return outcome;
  };
  auto outcome = array::RegionOutcome::kMismatch;
  // By index: while a region computes without the GIL, another thread may come here and plan another one.
  for (std::size_t index = 0; index < site.regions.size() && outcome == array::RegionOutcome::kMismatch; ++index) {
    outcome = attempt(*site.regions[index]);
  }
  if (outcome == array::RegionOutcome::kMismatch && site.regions.size() < kMostRegions) {
    const Step* const end = executor_.steps_.data() + executor_.steps_.size();
    auto planned = plan_region(*np, {.first = &step,
                                     .end = end,
                                     .used = executor_.registers_used_.data(),
                                     .constants = executor_.constant_count_,
                                     .registers = registers_});
    if (planned != nullptr && planned->externals.size() <= kMostExternals) {
      site.regions.push_back(std::move(planned));
      outcome = attempt(*site.regions.back());
    }
  }
  if (outcome == array::RegionOutcome::kDone) {
    site.patience = 1;
    ++array::region_counts.run;
    return true;
  }
  array::region_counts.refused += outcome == array::RegionOutcome::kRefused ? 1 : 0;
  site.put_off();
  return false;
}

}  // namespace tagalong::replay
