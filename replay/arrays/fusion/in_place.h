// Chooses how the in-place destinations of a run get their new contents.
#pragma once

#include <optional>

#include "replay/arrays/fusion/run_state.h"

namespace tagalong::array {

// kCopied: from memory of the run's own, once all is computed. kInPlace: blocks are computed straight into the array.
// kSpeculative: as kInPlace, after all blocks have been computed once only to see whether anything has to be reported.
enum class WriteMode : std::uint8_t { kCopied, kSpeculative, kInPlace };

class InPlaceTargets {
 public:
  // `space`: null where the run has no in-place destinations.
  InPlaceTargets(const FusionPlan& plan, const Numpy& np, const RunState& state, const Space* space)
      : plan_(plan), np_(np), state_(state), space_(space) {}

  // Whether blocks may go straight into the arrays, since the program cannot notice when reports come.
  [[nodiscard]] bool are_unnoticed();
  // `parts`: threads that may look at the inputs.
  [[nodiscard]] WriteMode mode(std::size_t parts);
  void write_directly(Space* space) const;

 private:
  [[nodiscard]] bool may_be_direct() const;
  [[nodiscard]] bool cannot_raise(std::size_t parts) const;
  [[nodiscard]] bool are_bounded(double most) const;

  const FusionPlan& plan_;
  const Numpy& np_;
  const RunState& state_;
  const Space* space_;
  std::optional<bool> are_unnoticed_;
};

}  // namespace tagalong::array
