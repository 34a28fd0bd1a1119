#include "runtime/policy/retirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/first_call.h"
#include "runtime/entries/deferred_frees.h"
#include "runtime/policy/retired_functions.h"
#include "runtime/policy/timing_trials.h"

namespace tagalong::runtime {

using Verdict = MeasuredSpeed::Verdict;
using replay::Limit;

namespace {

// Code that was retired because the recording budget was used up, the first one first. Code that dies or is revived is
// removed. Used under the GIL.
std::deque<Retirement*>& waiting_for_budget() {
  static auto* waiting = new std::deque<Retirement*>();
  return *waiting;
}

}  // namespace

Retirement::~Retirement() { leave_queue(); }

void Retirement::leave_queue() {
  if (std::exchange(waits_for_budget_, false)) {
    std::erase(waiting_for_budget(), this);
  }
}

void Retirement::reset_balance(const replay::Executor& executor) {
  if (executor.gain().round > 0) {
    balance_ = 0;
    trace_links_ = 0;
    weighed_ = 0;
  }
}

long Retirement::total_gain() const {
  constexpr long kUnlimited = INT_MAX;  // so that sums with it do not overflow
  return code_.may_retire() && !measurements_.has_verdict(Verdict::kReplay) ? balance_ : kUnlimited;
}

void Retirement::decide_retirement() {
  const long balance = std::exchange(balance_, 0);
  trace_links_ = 0;
  const int runs = std::exchange(weighed_, 0);
  if (balance >= 0 || !code_.may_retire() || is_retired_) {
    return;
  }
  // Estimates are against replaying, but a measurement has the last word.
  if (measurements_.are_on() && (measurements_.has_verdict(Verdict::kReplay) || ++unmeasured_ < kMostUnmeasured)) {
    count_limit(code_.counters, Limit::k_retire_after, unmeasured_ == 1 ? 1 : 0);
    measurements_.request_trials();
    return;
  }
  count_limit(code_.counters, Limit::k_retire_after);
  retire(-balance / std::max(runs, 1));
}

bool Retirement::no_graph_pays() const {
  constexpr std::size_t kGraphs = 3;
  const auto pays = [](const replay::Executor* executor) {
    return executor->gain().straight >= 0 || executor->gain().round > 0;
  };
  const std::vector<replay::Executor*> executors = code_.entries.executors();
  return executors.size() >= kGraphs && std::ranges::none_of(executors, pays);
}

void Retirement::retire_if_no_graph_pays() {
  if (code_.may_retire() && no_graph_pays() && !measurements_.has_verdict(Verdict::kReplay)) {
    unmeasured_ = kMostUnmeasured;
    balance_ = std::min(balance_, -1L);
    decide_retirement();
  }
}

void Retirement::retire(long loss) {
  PyCodeObject* code = code_.replay_code.get();
  if (is_retired_ || code == nullptr) {
    return;
  }
  cancel_trials(measurements_);
  restored_functions_ = 0;
  restored_frames_ = 0;
  recordings_.resume();
  measurements_.run_replay();
  close_stubs(code);
  is_retired_ = true;
  cpython::disarm(code_.original());
  makers_.make_of_original(true);
  loss_ = loss;
  count(code_.counters, Event::kRetire);
  if (is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: retired, a replay costs about {} ns more", code_.name(), loss_));
  }
}

// The stub of the call stays open to restore the function, the others to restore the frame, for which they need a value
// on the stack.
void Retirement::close_stubs(PyCodeObject* replay_code) {
  for (Entry& entry : code_.entries) {
    const bool is_call = &entry == &code_.entries.front();
    const bool stays_open = is_call ? code_.records_calls : entry.place.depth > 0;
    if (entry.has_stub() && !stays_open && !entry.stub.close(replay_code)) {
      continue;
    }
    if (!is_call && stays_open) {
      entry.stub.open(replay_code);
    }
    for (auto& executor : std::exchange(entry.executors, {})) {
      defer_free(std::move(executor));
    }
  }
}

void Retirement::retire_until_affordable() {
  retire(0);
  if (is_retired_ && !std::exchange(waits_for_budget_, true)) {
    waiting_for_budget().push_back(this);
  }
}

void Retirement::revive_next() {
  if (waiting_for_budget().empty()) {
    return;
  }
  Retirement& next = *waiting_for_budget().front();
  PyCodeObject* code = next.code_.replay_code.get();
  next.revive();
  if (code != nullptr) {
    const CodeRef replay = CodeRef::create(code);
    install_replay_code(replay.get(), next.code_.original());
  }
}

void Retirement::revive() {
  cancel_trials(measurements_);
  leave_queue();
  PyCodeObject* code = code_.replay_code.get();
  if (code == nullptr) {
    return;
  }
  const bool was_retired = std::exchange(is_retired_, false);
  if (was_retired) {
    makers_.make_of_original(false);
  }
  for (std::size_t index = 0; index < code_.entries.size(); ++index) {
    Entry& entry = code_.entries[index];
    const bool is_given_up = entry.attempts.loss > 0 || (entry.stub.is_closed && !recordings_.has_paused(index));
    if (was_retired || (is_given_up && !code_.retires())) {
      entry.stub.open(code);
      entry.attempts.reset();
      measurements_.forget(index);
    }
  }
  unmeasured_ = 0;
}

void Retirement::restore_function(cpython::Frame* frame) {
  // If functions of this code are made again and again, the jump over the stub costs less than restoring each.
  constexpr int kMost = 16;
  PyCodeObject* code = cpython::code_of(frame);
  PyFunctionObject* function = cpython::function_of(frame);
  if (function->func_code == reinterpret_cast<PyObject*>(code) && code_.replay_code.get() == code) {
    install_original_code(function, code, code_.original());
  }
  if (++restored_functions_ >= kMost) {
    code_.entries.front().stub.close(code);
  }
}

bool Retirement::can_restore_frame(cpython::Frame* frame, std::size_t entry) {
  constexpr int kMost = 64;
  // If the frame object is referenced, a traceback may name an instruction of its present code.
  if (restored_frames_ < kMost && !cpython::is_held(frame)) {
    ++restored_frames_;
    return true;
  }
  code_.entries[entry].stub.close(cpython::code_of(frame));
  return false;
}

}  // namespace tagalong::runtime
