#include "replay/arrays/fusion/multi_pass.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>

#include "replay/arrays/fusion/fusion_group.h"
#include "replay/arrays/kernels/histogram.h"

namespace tagalong::array {

MultiPassPlan::MultiPassPlan() = default;
MultiPassPlan::~MultiPassPlan() = default;

std::size_t MultiPassPlan::operation_count() const {
  std::size_t count = calls_.size();
  for (const auto& group : groups_) {
    count += group->plan().calls;
  }
  return count;
}

bool MultiPassPlan::is_better_apart() const {
  constexpr unsigned kOften = 4;
  return refused_ >= kOften;
}

FusionReason MultiPassPlan::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (groups_.size() == 1 && calls_.empty()) {
    return groups_.front()->run(np, externals, outputs);
  }
  return run_all(np, externals, outputs, false);
}

FusionReason MultiPassPlan::run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const {
  boost::container::static_vector<Ref, kMostResults> results;
  std::array<std::size_t, kMostPasses> first{};                // index of each pass's first result
  std::array<PyObject*, kMostExternals + kMostResults> known;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::copy_n(externals, externals_, known.begin());
  std::size_t next = 0;  // the next carried result, in the order in which they are made
  boost::container::static_vector<Ref, kMostCalls> call_results;
  const auto result_of = [&](const Result& result) -> const Ref& {
    return result.second >= kOfCall ? call_results[result.second - kOfCall]
                                    : results[first.at(result.first) + result.second];
  };
  const auto carry = [&](std::size_t pass) {
    for (; next < carried_.size() && carried_[next].first <= pass; ++next) {
      const unsigned number = carried_[next].second;
      if (number >= kOfCall && number - kOfCall >= call_results.size()) {
        return;  // the call has not been made yet
      }
      known.at(kMostExternals + next) = result_of(carried_[next]).get();
    }
  };
  for (std::size_t pass = 0; pass < groups_.size(); ++pass) {
    const FusionGroup& group = *groups_[pass];
    first.at(pass) = results.size();
    results.resize(results.size() + group.plan().outputs.size());
    const FusionReason reason = group.run(np, known.data(), results.data() + first.at(pass));
    if (reason != FusionReason::kNone) {
      if (!is_again && group.may_retry_without_reuse()) {
        return run_all(np, externals, outputs, true);
      }
      refused_ += pass > 0 ? 1 : 0;
      return reason;
    }
    carry(pass);
    while (call_results.size() < calls_.size() && calls_[call_results.size()].pass == pass) {
      const Call& call = calls_[call_results.size()];
      PyObject* weights = call.weights < 0 ? nullptr : known.at(static_cast<std::size_t>(call.weights));
      Ref bins = Ref::steal(count_bins(np, known.at(static_cast<std::size_t>(call.labels)), weights, call.least));
      if (!bins) {
        ++refused_;
        return FusionReason::kException;
      }
      call_results.push_back(std::move(bins));
      carry(pass);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[i] = result_of(outputs_[i]);
  }
  ++fusion_counts.in_passes;
  return FusionReason::kNone;
}

KernelVariants::Kernels MultiPassPlan::kernels() const {
  KernelVariants::Kernels all;
  for (const auto& group : groups_) {
    const auto of_pass = group->kernels();
    all.insert(all.end(), of_pass.begin(), of_pass.end());
  }
  return all;
}

}  // namespace tagalong::array
