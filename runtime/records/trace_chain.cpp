#include "runtime/records/trace_chain.h"

#include <algorithm>
#include <utility>

#include "runtime/policy/cost_model.h"
#include "runtime/policy/recording_budget.h"
#include "runtime/policy/timing_trials.h"

namespace tagalong::runtime {

using cpython::Frame;

namespace {

constexpr int kMostGain = 1'000'000;

}  // namespace

// A generator's frame needs room for the hooks. A traceback that names an instruction of the frame's present code must
// not find the frame in other code.
bool can_record(Frame* frame, std::size_t entry) {
  return cpython::has_room(frame, cpython::code_of(frame)) && (entry == 0 || !cpython::is_held(frame));
}

// Most runs continue with the registers of the executor before (replay/executor/machine/trace_link.h); otherwise the
// frame is as after a side exit. Its stack then is as the next executor expects it, so the anchor, which lies on it, is
// put aside.
bool TraceChain::run(Ref* result) {
  const std::size_t start = entry_;
  Entry& place = code_.entries[start];
  Tried tried = try_executors(place, 0, Event::kHit, result);
  FrameChange change = FrameChange::kSideExit;
  while (tried == Tried::kSideExit && code_.is_linked() && !record_.retirement.is_retired() &&
         continue_elsewhere(result, &tried, &change)) {
  }
  cpython::stack_base(frame_)[place.place.depth] = anchor_;
  if (tried == Tried::kMissed) {
    return false;
  }
  if (tried == Tried::kReturned) {
    const bool is_shown = cpython::is_held(frame_) || cpython::is_watched(thread_);
    if (start == 0 && (!is_shown || side_exit_.instruction < 0)) {
      return true;
    }
    // Holders of the frame object and trace functions must see the frame at its own return, not at the stub's.
    // Some returns have a constant instead of a value on the stack.
    Ref returned = std::move(*result);
    if (std::cmp_less(side_exit_.stack.size(),
                      code_.decoded().shape->depths[static_cast<std::size_t>(side_exit_.instruction)])) {
      side_exit_.stack.push_back(returned.release());
    }
  }
  set_pending_change(change, entry_, std::move(side_exit_));
  return false;
}

void TraceChain::prepare(replay::Run& run, PyObject* const* slots) {
  run.thread = thread_;
  run.root = frame_;
  run.function = reinterpret_cast<PyObject*>(cpython::function_of(frame_));
  run.slots = slots;
  run.names = cpython::names_of(frame_);
  run.root_units = &code_.replay_code.shown;
  run.linker = code_.is_linked() ? this : nullptr;
  run.grow_after = static_cast<std::uint32_t>(code_.limits().grow_after);
  run.native_after = static_cast<std::uint32_t>(code_.limits().native_after);
}

// Tries the executors of one entry whose traces are newer than `newer_than`. A side exit in front of the first
// instruction has done nothing: like a miss it leaves the frame as it was, and the next executor may try. So whatever
// traces are linked, each run completes an instruction, or the interpreter does.
TraceChain::Tried TraceChain::try_executors(Entry& place, std::uint64_t newer_than, Event event, Ref* result) {
  auto& executors = place.executors;
  PyObject* const* slots = cpython::locals_of(frame_);
  for (std::size_t index = 0; index < executors.size(); ++index) {
    // The caller keeps the anchor, the anchor keeps its record, and executors that are running are not freed.
    const replay::Executor* executor = executors[index].get();
    if (executor->trace() <= newer_than || (executors.size() > 1 && executor->misses(slots))) {
      continue;
    }
    replay::Run run;
    prepare(run, slots);
    event_ = event;
    gain_ = 0;
    trace_links_ = 0;
    const replay::Outcome outcome = executor->run(run);
    is_stopped_ = run.is_stopped;
    if (run.has_made_native) {
      count_limit(code_.counters, replay::Limit::k_native_after);
    }
    if (outcome == replay::Outcome::kMiss) {
      continue;
    }
    if (outcome != replay::Outcome::kLeft && index != 0 && index < executors.size()) {
      std::swap(executors[0], executors[index]);
    }
    count_run(run, outcome);
    if (outcome == replay::Outcome::kReturned) {
      side_exit_.instruction = run.last->return_instruction(*run.returned);
      *result = std::move(run.result);
      return Tried::kReturned;
    }
    const Entry& last = run.place == nullptr ? place : static_cast<const Entry&>(*run.place);
    without_progress_ = code_.is_linked() && !run.side_exit->raise ? run.without_progress : 0;
    if (without_progress_ == 0 || &last != &place) {
      side_exit_ = std::move(*run.side_exit);
      return Tried::kSideExit;
    }
    std::copy(run.side_exit->stack.begin(), run.side_exit->stack.end(), cpython::stack_base(frame_));
  }
  if (!executors.empty()) {
    count(code_.counters, Event::kMiss);
    record_.retirement.weigh(kMissGain);
  }
  return Tried::kMissed;
}

void TraceChain::count_run(const replay::Run& run, replay::Outcome outcome) {
  if (!is_stopped_) {  // a stopped run will continue soon
    count(code_.counters, std::exchange(event_, Event::kTraceLink));
  }
  const int gain = gain_ + gain_of(run, outcome, run.last->gain(), run.place != nullptr);
  record_.retirement.weigh(gain, trace_links_);
  // A long loop gains more than a run is weighed with.
  recording_budget().ran(std::max<std::int64_t>(gain, run.gain));
  if (outcome != replay::Outcome::kReturned && !run.is_complete) {
    count(code_.counters, Event::kExit);
  }
}

// From a side exit to the executors that are attached at its target. False: the interpreter continues, or a recording.
bool TraceChain::continue_elsewhere(Ref* result, Tried* tried, FrameChange* change) {
  if (side_exit_.raise || is_stopped_ || requested_ || steps_aside(thread_) || is_too_deep(thread_, code_)) {
    return false;
  }
  const int next = behind_jump(side_exit_.instruction);
  const std::optional<std::size_t> entry = code_.entries.at(next, side_exit_.stack.size());
  if (!entry) {
    return false;
  }
  Entry& place = code_.entries[*entry];
  const auto is_untried = [this](const auto& executor) { return executor->trace() > without_progress_; };
  if (std::ranges::any_of(place.executors, is_untried)) {
    PyObject** base = cpython::stack_base(frame_);
    std::ranges::copy(side_exit_.stack, base);
    side_exit_.stack.clear();
    *tried = try_executors(place, without_progress_, Event::kTraceLink, result);
    if (*tried != Tried::kMissed) {
      return true;
    }
    side_exit_.stack.assign(base, base + place.place.depth);
    side_exit_.instruction = next;
    *tried = Tried::kSideExit;
  }
  if (record_.policy.is_hot(thread_, *entry) && can_record(frame_, *entry)) {
    side_exit_.instruction = next;
    *change = FrameChange::kRecord;
    entry_ = *entry;
  }
  return false;
}

int TraceChain::behind_jump(int instruction) const {
  const auto& jump = code_.decoded().assembly.instructions[static_cast<std::size_t>(instruction)];
  return jump.opcode == rewriter::op::kJUMP_BACKWARD ? jump.target : instruction;
}

replay::Attached* TraceChain::attached(int instruction, std::size_t depth) {
  const std::optional<std::size_t> entry = code_.entries.at(behind_jump(instruction), depth);
  return entry ? &code_.entries[*entry] : nullptr;
}

void TraceChain::linked_trace(const replay::Run& run, const replay::Executor& from, bool is_complete) {
  const bool was_linked = event_ == Event::kTraceLink && gain_ != 0;
  gain_ = std::clamp(gain_ + gain_of(run, replay::Outcome::kReturned, from.gain(), was_linked), -kMostGain, kMostGain);
  trace_links_ = std::max(trace_links_ + kTraceLink, -kMostGain);
  count(code_.counters, std::exchange(event_, Event::kTraceLink));
  if (!is_complete) {
    count(code_.counters, Event::kExit);
  }
}

bool TraceChain::is_hot_link(const replay::Executor& from, const replay::Step& step, const replay::Executor& next) {
  const bool may_stay = record_.retirement.total_gain_if_merged() + gain_ - trace_links_ >= 0;
  if (may_stay) {
    record_.grow(from, step, next);
  }
  return may_stay;
}

bool TraceChain::stops_at(replay::Arrivals& arrivals) {
  if (record_.measurements.are_on()) {
    return stops_for_trial(record_.measurements, frame_, arrivals);
  }
  arrivals.left = replay::Arrivals::kNever;
  return false;
}

}  // namespace tagalong::runtime
