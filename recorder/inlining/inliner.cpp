#include "recorder/inlining/inliner.h"

#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/deferred/deferred_expression.h"
#include "replay/ir/stages.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoValue;

int Inliner::instruction_under_way(bool* is_specialised) const {
  if (Expression::is_raising_late()) {
    // A Python class of an exception is being called: the shadow state is behind the instruction.
    *is_specialised = false;
    return -1;
  }
  const auto unit = static_cast<std::size_t>(cpython::unit_of(top().live));
  const std::vector<int>& map = top().code->instruction_at;
  const int instruction = unit < map.size() ? map[unit] : -1;
  // A specialised PRECALL makes the call itself, of a C function.
  *is_specialised = instruction >= 0 && instruction_at(instruction).opcode == op::kPRECALL;
  return instruction + (*is_specialised ? 1 : 0);
}

bool Inliner::try_inline(cpython::Frame* callee) {
  PyCodeObject* code = cpython::original_of(cpython::code_of(callee));
  const auto depth = static_cast<int>(frames_.size());
  // A trace function is called between instructions, not by one. Other watchers must see the original code.
  const bool is_watched = thread_->tracing != 0 || cpython::is_watched(thread_);
  if (is_watched || !sink_.may_inline(code)) {
    return false;
  }
  if (depth >= replay::kMaxFrames || depth > limits_.inline_depth || !is_on(replay::Stage::inlining)) {
    ++times(reached_, replay::Limit::k_inline_depth);
    return false;
  }
  int same = 0;
  for (const ShadowFrame& frame : frames_) {
    same += frame.code->decoded->shape->code.get() == code ? 1 : 0;
  }
  if (same >= limits_.recursion) {
    ++times(reached_, replay::Limit::k_recursion);
    return false;
  }
  bool is_specialised = false;
  const int instruction = instruction_under_way(&is_specialised);
  const bool is_iteration =
      instruction >= 0 && top().pending == instruction &&
      (instruction_at(instruction).opcode == op::kFOR_ITER || instruction_at(instruction).opcode == op::kSEND);
  // A frame handles signals at its RESUME, before it executes anything else.
  if (instruction < 0 || instruction_at(instruction).opcode == op::kRESUME ||
      instruction == top().finished_resumption || (!is_iteration && !may_call(instruction)) ||
      (is_iteration && (top().call_result != kNoValue || top().raising.instruction >= 0))) {
    return false;
  }
  try {
    if (is_consumed(callee)) {
      return consume_more(callee);
    }
    if (top().consuming.consumer != replay::Consumer::kNone) {
      return false;  // the consumer has called it
    }
    if (!is_iteration && !advance_to(instruction)) {
      return false;
    }
    current_ = instruction;
    if (try_inline_generator(callee, instruction)) {
      return true;
    }
    if (try_consume(callee, instruction)) {
      return true;
    }
    if (is_specialised) {
      return false;
    }
    const CallTarget target = find_target(instruction, callee);
    if (target.form == CallForm::kNone || depends_on_made_class(target, callee)) {
      return false;
    }
    std::shared_ptr<const DecodedCode> decoded = DecodedCode::make(code);
    if (decoded->is_namespace || decoded->is_generator) {
      return false;
    }
    RecordingCode& recording = codes_.of(std::move(decoded));
    if (!cpython::exchange_code(thread_, callee, recording.code.get())) {
      return false;
    }
    inline_call(callee, target);
    return true;
  } catch (const std::exception&) {
    PyErr_Clear();
    stop(Stop::k_internal);
    return false;
  }
}

void Inliner::inline_call(cpython::Frame* callee, const CallTarget& target) {
  const SnapshotId here = snapshot_at(call_start(), top().stack);
  RecordingCode* recording = codes_.find(cpython::code_of(callee));
  TAGALONG_CHECK(recording != nullptr, "no recording code for {}", graph_.name);
  PyCodeObject* code = recording->decoded->shape->code.get();
  ShadowFrame frame;
  frame.live = callee;
  frame.code = recording;
  frame.next = recording->decoded->first;
  frame.number = static_cast<std::int32_t>(graph_.frames.size());
  frame.return_kind = target.returns;
  frame.operation = target.operation;
  const Values arguments = take_operands(frame, target, here);
  // A plain call moves its operands into the callee; in other forms the caller keeps them as well.
  const bool moves_operands = frame.pops == 0 && target.form < CallForm::kEnter;
  if (!moves_operands) {
    for (const Value argument : arguments) {
      hold(argument);
    }
    hold(frame.function);
  }
  PyObject* given = target.keywords ? target.keywords.get() : keyword_names();
  bind_arguments(frame, code, arguments, given, here);
  top().declined = kNotDeclined;
  top().next_method = nullptr;

  Values& stack = top().stack;
  if (moves_operands) {
    if (names_on_stack(instruction_at(current_).opcode) != 0) {
      release(stack.back());
    }
    stack.resize(stack.size() - static_cast<std::size_t>(target.operands));
  }
  if (target.form == CallForm::kEnter) {
    release(arguments[0]);  // the manager's slot on the stack
  }
  state_changed_ = true;
  const int call_instruction = current_;
  frame.parent = snapshot_at(call_instruction, stack);
  top().next = call_start();
  top().call_kind = target.returns;
  top().call_pops = frame.pops;
  top().call_instruction = call_instruction;
  flush_drops();
  transfer_arguments(callee);
  graph_.frames.push_back({Ref::create(reinterpret_cast<PyObject*>(code)), frame.function, frames_.back().number,
                           target.returns, frame.instance, frame.pops, target.operation});
  shapes_.push_back(recording->decoded->shape);
  frames_.push_back(std::move(frame));
  current_ = 0;
  state_changed_ = true;
  run_prologue(top());
}

}  // namespace tagalong::recorder
