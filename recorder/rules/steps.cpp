#include "recorder/rules/steps.h"

#include "recorder/code/rule_times.h"

namespace tagalong::recorder {

using replay::kNoValue;

int Steps::run_pending_rules(int instruction) {
  int place = top().next;
  while (place != instruction) {
    const Instruction& passed = instruction_at(place);
    const When when = rule_time(passed.opcode);
    const bool is_local = passed.opcode == rewriter::op::kLOAD_FAST || passed.opcode == rewriter::op::kLOAD_FAST_CHECK;
    const bool is_unbound = is_local && top().locals[passed.arg] == kNoValue;
    if ((when != When::kLater && when != When::kNone) || is_unbound) {
      break;
    }
    if (when == When::kLater) {
      current_ = place;
      is_before_ = false;
      run(passed);
    }
    place = passed.opcode == rewriter::op::kJUMP_FORWARD ? passed.target : place + 1;
    top().next = place;
  }
  return place;
}

void Steps::run(const Instruction& instruction) {
  if (unrecorded_code_ran_ && ran_ != current_) {
    look_for_watchers();
  }
  ran_ = current_;
  run_rule(instruction);
  note_unrecorded_code_in(current_);
}

// The hook behind a branch fires if the branch is not taken. So a branch that is pending at the hook of another
// instruction was taken.
bool Steps::advance_to(int instruction) {
  if (top().pending >= 0 && top().pending != instruction) {
    resolve_branch(instruction, false);
  }
  if (!finished_ && top().pending < 0) {
    run_pending_rules(instruction);
  }
  return !finished_;
}

void Steps::note_unrecorded_code() {
  bool is_specialised = false;
  unrecorded_code_in_ = instruction_under_way(&is_specialised);
  if (unrecorded_code_in_ >= 0 && rule_time(instruction_at(unrecorded_code_in_).opcode) == When::kBefore) {
    note_unrecorded_code_in(unrecorded_code_in_);
  }
}

void Steps::look_for_watchers() {
  const auto place = static_cast<std::size_t>(current_);
  const int opcode = instruction_at(current_).opcode;
  // A SEND loop has a side exit only at its yield, and a raising path only at the handler.
  const bool is_place = top().code->decoded->regular[place] && opcode != rewriter::op::kSEND &&
                        opcode != rewriter::op::kRESUME && opcode != rewriter::op::kYIELD_VALUE &&
                        opcode != rewriter::op::kJUMP_BACKWARD_NO_INTERRUPT;
  if (is_place && !finished_ && !has_raised_ && top().raising.instruction < 0 && top().checked == kNoValue &&
      top().call_result == kNoValue && top().declined == kNotDeclined) {
    unrecorded_code_ran_ = false;
    flush_drops();
    emit(replay::Op::guard_unwatched, {},
         call_start() == current_ ? snapshot() : snapshot_at(call_start(), top().stack));
  }
}

}  // namespace tagalong::recorder
