#include "rewriter/instrument.h"

#include <algorithm>

#include "rewriter/base/errors.h"
#include "rewriter/edit.h"
#include "rewriter/hook_key.h"
#include "rewriter/snippet.h"
#include "version/snippets.h"

namespace tagalong::rewriter {

namespace {

constexpr int kHookLength = 6;
constexpr int kHookSlots = Snippet::kCallStack;

class Instrumenter {
 public:
  Instrumenter(const Assembly& assembly, const HookPlan& plan)
      : assembly_(assembly),
        plan_(plan),
        size_(assembly.size()),
        first_resume_(first_resume(assembly)),
        layout_(assembly, assembly.instructions.size() * (1 + 2 * kHookLength)),
        extra_constants_(assembly.constants.size()) {
    result_.depths = stack_depths(assembly);
    deepest_ = std::max(largest_depth(assembly, result_.depths), plan.stack_size);
    before_.assign(assembly.instructions.size(), -1);
    after_.assign(assembly.instructions.size(), -1);
    callable_ = extra_constants_++;
  }

  Instrumented run() {
    for (int i = 0; i < size_; ++i) {
      put_before_hook(i);
      put_departure(i);
      if (closes_send_loop(i)) {
        if (send_copy(at(i).target) >= 0 && !is(i - 1, op::kRESUME)) {
          entering_.push_back(i);
        } else {
          layout_.bypass_insertions(i);
        }
      }
      layout_.append(i);
      split_super(i);
      put_after_hooks(i);
    }
    Edited edited = layout_.finish();
    for (const int jump : entering_) {
      const int place = edited.index[static_cast<std::size_t>(jump)];
      edited.assembly.instructions[static_cast<std::size_t>(place)].target = send_copy(at(jump).target);
    }
    edited.assembly.constants.reserve(extra_constants_);
    edited.assembly.constants.emplace_back(plan_.callable);
    for (const int key : keys_) {
      edited.assembly.constants.emplace_back(hook_key(key));
    }
    const Encoded encoded = encode(edited.assembly, {.stack_size = deepest_});
    result_.code = encoded.code;
    result_.offsets = offsets_of(edited.index, encoded);
    result_.before_hook_offsets = offsets_of(before_, encoded);
    result_.after_hook_offsets = offsets_of(after_, encoded);
    for (const auto& [copy, send] : copies_) {
      result_.send_copies.emplace_back(encoded.offsets[static_cast<std::size_t>(copy)], send);
    }
    result_.callable_constant_index = static_cast<int>(callable_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] const Instruction& at(int index) const {
    return assembly_.instructions[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool is(int index, Opcode opcode) const {
    return index >= 0 && index < size_ && at(index).opcode == opcode;
  }
  [[nodiscard]] int depth(int index) const { return result_.depths[static_cast<std::size_t>(index)]; }

  // The CALL of the group that starts here, the instruction itself if it may have a hook in front, or -1 for no hook.
  [[nodiscard]] int hooked_before(int index) const {
    int call = index;
    while (is(call, op::kKW_NAMES) || is(call, op::kPRECALL)) {
      ++call;
    }
    if (call != index || is(call, op::kCALL)) {
      return is(call, op::kCALL) && start_of_call(assembly_, call) == index ? call : -1;
    }
    const bool inside = (is(index, op::kYIELD_VALUE) && is(index - 1, op::kSEND)) ||
                        (is(index, op::kRESUME) && is(index - 1, op::kYIELD_VALUE)) || closes_send_loop(index);
    return inside || is_end_of_loop(index) ? -1 : index;
  }

  // Whether this is one of the instructions at the target of a FOR_ITER, which the interpreter may skip.
  [[nodiscard]] bool is_end_of_loop(int index) const {
    return is(index, op::kEND_FOR) || (version::kEndOfLoop.size() > 1 && is(index - 1, op::kEND_FOR));
  }

  [[nodiscard]] bool closes_send_loop(int index) const {
    return is(index, op::kJUMP_BACKWARD_NO_INTERRUPT) && is(at(index).target, op::kSEND);
  }

  // Whether this is a RESUME 2 or 3: in a generator or coroutine that delegates to another.
  [[nodiscard]] bool resumes_delegation(int index) const {
    return is(index, op::kRESUME) && (at(index).arg & 3U) >= 2 && is(index - 1, op::kYIELD_VALUE);
  }

  [[nodiscard]] bool may_have_hook(int index) const {
    return first_resume_ >= 0 && index > first_resume_ && depth(index) >= 0;
  }

  void put_before_hook(int index) {
    const int hooked = hooked_before(index);
    if (hooked < 0 || !may_have_hook(index) || !plan_.before || !plan_.before(hooked)) {
      return;
    }
    layout_.label(index);
    before_[static_cast<std::size_t>(hooked)] = put_hook(2 * hooked, index, depth(index));
    if (info(at(index).opcode).jumps() && at(index).target == index) {
      layout_.bypass_insertions(index);  // so an empty endless loop causes no line events, as without hooks
    }
  }

  void split_super(int index) {
    const Instruction& load = at(index);
    if (plan_.splits_super && load.opcode == op::kLOAD_SUPER_ATTR && has_second_value(load.opcode, load.arg)) {
      layout_.set_argument(index, load.arg & ~1U);
      layout_.add({.opcode = op::kPUSH_NULL, .position = load.position}, index);
    }
  }

  void put_departure(int index) {
    if (!plan_.departure || !may_have_hook(index)) {
      return;
    }
    if (is(index, op::kYIELD_VALUE) && !is(index - 1, op::kSEND)) {
      add_departure(index, index);
    } else if (is_send_loop(index)) {
      layout_.label(index);
      copies_.emplace_back(layout_.here(), index);
      Instruction send = at(index);
      send.target = original_label(send.target);
      layout_.add(send, index);
      const int yield = index + 1;
      if (plan_.before && plan_.before(yield)) {
        before_[static_cast<std::size_t>(yield)] = put_hook(2 * yield, index, depth(yield));
      }
      add_departure(yield, index);
      layout_.add({.opcode = op::kJUMP_FORWARD, .target = original_label(yield), .position = at(index).position},
                  index);
    }
  }

  // Index of the copy of this SEND, -1: it has none.
  [[nodiscard]] int send_copy(int send) const {
    const auto copy = std::ranges::find_if(copies_, [send](const auto& pair) { return pair.second == send; });
    return copy == copies_.end() ? -1 : copy->first;
  }

  void add_departure(int yield, int owner) {
    const int base = layout_.here();
    for (Instruction instruction : plan_.departure(yield)) {
      instruction.position = at(yield).position;
      if (instruction.target >= 0) {
        instruction.target += base;
      }
      layout_.add(instruction, owner);
    }
    deepest_ = std::max(deepest_, depth(yield) + kHookSlots);
  }

  // Whether this is the SEND, YIELD_VALUE, RESUME or jump back of a SEND loop.
  [[nodiscard]] bool is_send_loop(int index) const {
    return is(index, op::kSEND) && is(index + 1, op::kYIELD_VALUE) && is(index + 2, op::kRESUME) &&
           is(index + 3, op::kJUMP_BACKWARD_NO_INTERRUPT) && at(index + 3).target == index;
  }

  void put_after_hooks(int index) {
    if ((is(index, op::kYIELD_VALUE) && is(index + 1, op::kRESUME)) || resumes_delegation(index)) {
      return;  // the hook behind a YIELD_VALUE is put in at its RESUME
    }
    if (is(index, op::kRESUME) && is(index - 1, op::kYIELD_VALUE)) {
      put_after_hook(index - 1, index);
    }
    const bool inside = is(index, op::kKW_NAMES) || is(index, op::kPRECALL) ||
                        (is_end_of_loop(index) && is_end_of_loop(index + 1)) ||
                        (is(index, op::kSEND) && is(index + 1, op::kYIELD_VALUE));
    if (!inside && info(at(index).opcode).falls_through()) {
      put_after_hook(index, index);
    }
  }

  // Adds the hook behind instruction `hooked`, behind `place` in the source.
  void put_after_hook(int hooked, int place) {
    if (place != first_resume_ && !may_have_hook(place)) {
      return;
    }
    if (plan_.after && plan_.after(hooked) && depth(place) >= 0) {
      const Instruction& instruction = at(place);
      const std::int64_t depth_after = depth(place) - pops(instruction.opcode, instruction.arg) +
                                       pushes(instruction.opcode, instruction.arg, Edge::kNext);
      after_[static_cast<std::size_t>(hooked)] = put_hook(2 * hooked + 1, place, static_cast<int>(depth_after));
    }
  }

  int put_hook(int key, int neighbour, int depth_here) {
    const int start = layout_.here();
    // The first RESUME has no line event, so the hook behind it has no position.
    const Position position = neighbour == first_resume_ ? kNoPosition : at(neighbour).position;
    const std::uint32_t constant = constant_of(key);
    const Snippet hook = Snippet().call(static_cast<std::uint32_t>(callable_), {constant}).pop().at(position);
    for (const Instruction& instruction : hook.code()) {
      layout_.add(instruction, neighbour);
    }
    deepest_ = std::max(deepest_, depth_here + kHookSlots);
    return start;
  }

  std::uint32_t constant_of(int key) {
    keys_.push_back(key);
    return static_cast<std::uint32_t>(extra_constants_++);
  }

  static std::vector<int> offsets_of(const std::vector<int>& indices, const Encoded& encoded) {
    std::vector<int> offsets(indices.size(), -1);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] >= 0) {
        offsets[i] = encoded.offsets[static_cast<std::size_t>(indices[i])];
      }
    }
    return offsets;
  }

  const Assembly& assembly_;
  const HookPlan& plan_;
  int size_;
  int first_resume_;
  Layout layout_;
  std::size_t extra_constants_;
  std::size_t callable_ = 0;
  std::vector<int> keys_;                    // keys of the hooks, whose constants follow the callable
  std::vector<std::pair<int, int>> copies_;  // copies of SENDs: index in the result, and index of the original
  std::vector<int> entering_;                // jumps that enter a copy
  std::vector<int> before_;
  std::vector<int> after_;
  int deepest_ = 0;
  Instrumented result_;
};

}  // namespace

Instrumented instrument(const Assembly& assembly, const HookPlan& plan) {
  if (!plan.callable) {
    refuse("there is no callable to hook in");
  }
  return Instrumenter(assembly, plan).run();
}

}  // namespace tagalong::rewriter
