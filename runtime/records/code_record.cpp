#include "runtime/records/code_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <climits>
#include <iterator>
#include <utility>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/executor/trace_trees.h"
#include "replay/ir/printer.h"
#include "replay/ir/stages.h"
#include "replay/passes/optimise.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/watch.h"
#include "runtime/policy/cost_model.h"
#include "runtime/policy/recording_budget.h"
#include "runtime/records/anchor.h"
#include "runtime/records/dispatching_code.h"
#include "runtime/records/options.h"
#include "runtime/records/retired_functions.h"
#include "runtime/records/texts.h"
#include "runtime/records/timing_trials.h"

namespace tagalong::runtime {

using recorder::DecodedCode;
using recorder::Limits;
using replay::Limit;

CodeRecord::CodeRecord(std::shared_ptr<const recorder::DecodedCode> decoded)
    : decoded_(std::move(decoded)), is_linked_(decoded_->is_joined), limits_(&options().limits) {
  constexpr int kSuspended = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  can_be_measured_ = (decoded_->shape->code->co_flags & kSuspended) == 0;
  for (const DecodedCode::Entry& place : decoded_->entries) {
    if (place.place == DecodedCode::Place::kHeader) {
      entry_at_.emplace(place.first, entries.size());
    }
    entries.emplace_back().place = place;
  }
}

std::string CodeRecord::name() const { return cpython::readable(decoded_->shape->code->co_qualname); }

bool CodeRecord::wants_recording(PyThreadState* thread, std::size_t entry) {
  const bool is_recording =
      !recording.empty() && std::ranges::find(recording, cpython::stack_of(thread)) != recording.end();
  if (is_recording) {
    pause();
  }
  if (is_recording || (entry == 0 && !records_calls)) {
    return false;
  }
  const Limits& limits = *limits_;
  if (std::cmp_greater_equal(recording.size(), limits.recordings)) {
    count_limit(counters, Limit::k_recordings);
    return false;
  }
  Entry& place = entries[entry];
  if (place.failures >= limits.retries || place.short_lived >= limits.retries) {
    count_limit(counters, Limit::k_retries);
    return false;
  }
  if (std::cmp_greater_equal(place.executors.size(), limits.entries_per_anchor)) {
    count_limit(counters, Limit::k_entries_per_anchor);
    return false;
  }
  return !puts_off(place) && is_within_quota();
}

void log_last_group() {
  replay::on_last_group = [](PyCodeObject* code, std::int32_t last_line) {
    if (is_logged(Topic::kRecord)) {
      log(Topic::kRecord,
          fmt::format("{}: the last fusion group that is formed, it ends in line {} of {}",
                      cpython::readable(code->co_qualname), last_line, cpython::readable(code->co_filename)));
    }
  };
}

bool CodeRecord::is_within_quota() {
  replay::Quota& quota = replay::function_quota;
  if (!replay::is_on(replay::Stage::recording)) {
    return false;
  }
  if (!is_within_quota_) {
    is_within_quota_ = quota.take();
    if (*is_within_quota_ && quota.is_used_up() && is_logged(Topic::kRecord)) {
      const PyCodeObject* code = decoded_->shape->code.get();
      log(Topic::kRecord, fmt::format("{}: the last function that is recorded, line {} of {}", name(),
                                      code->co_firstlineno, cpython::readable(code->co_filename)));
    }
  }
  return *is_within_quota_;
}

// A loop, or another way through one that pays.
bool CodeRecord::is_of_loop(const Entry& place) const {
  const auto pays = [](const replay::Executor* executor) { return executor->gain().round > 0; };
  return place.place.place == DecodedCode::Place::kHeader ||
         (place.place.place == DecodedCode::Place::kExit && std::ranges::any_of(executors(), pays));
}

namespace {

// Records that were retired because recordings had cost enough, the first one first. Records that die, or are revived,
// take themselves out. Used under the GIL.
std::deque<CodeRecord*>& put_off_records() {
  static auto* records = new std::deque<CodeRecord*>();
  return *records;
}

}  // namespace

// Recordings may cost something again.
void CodeRecord::try_the_next_one() {
  CodeRecord& record = *put_off_records().front();
  PyObject* code = PyWeakref_GET_OBJECT(record.replay_code.get());
  const bool records_calls = record.records_calls;
  record.revive();
  record.records_calls = records_calls;
  if (code != Py_None) {
    const CodeRef replay = CodeRef::create(reinterpret_cast<PyCodeObject*>(code));
    take_back(replay.get(), record.decoded_->shape->code.get());
  }
}

// Asking takes longer than a short call gains: what is called again and again meanwhile is left as written until
// recordings may cost something again.
bool CodeRecord::puts_off(Entry& place) {
  if (is_asked_for_ || !may_retire() || is_of_loop(place)) {
    return false;
  }
  if (recording_budget().may_spend(limits_->share)) {
    if (!put_off_records().empty()) {
      try_the_next_one();
    }
    return false;
  }
  count_limit(counters, Limit::k_share);
  if (place.has_stub() && ++place.put_off >= kMostPutOff) {
    retire(0);
    if (is_retired_ && !std::exchange(is_put_off_, true)) {
      put_off_records().push_back(this);
    }
  }
  return true;
}

bool CodeRecord::is_hot(PyThreadState* thread, std::size_t entry) {
  constexpr int kMostPatience = 8;  // doublings
  Entry& place = entries[entry];
  const Limits& limits = *limits_;
  if (is_measured() && place.has_stub()) {
    const Nanoseconds now = clock_now();
    place.written_guess = place.heat == 0 ? 0 : now - place.last_ask;
    place.last_ask = now;
  }
  if (++place.heat < std::int64_t{limits.heat} << std::min(place.failures, kMostPatience)) {
    return false;
  }
  place.heat = 0;
  if (!wants_recording(thread, entry)) {
    return false;
  }
  if (std::cmp_greater_equal(executor_count(), limits.executors)) {
    count_limit(counters, Limit::k_executors);
    return false;
  }
  count_limit(counters, Limit::k_heat);
  return true;
}

namespace {

// Nothing goes on there: the frame is suspended, or looks for what it delegates to.
bool suspends(std::uint8_t opcode) {
  return opcode == rewriter::op::kYIELD_VALUE || opcode == rewriter::op::kRESUME || opcode == rewriter::op::kSEND ||
         opcode == rewriter::op::kJUMP_BACKWARD_NO_INTERRUPT;
}

}  // namespace

std::optional<std::size_t> CodeRecord::entry_at(int instruction, std::size_t depth) {
  const auto place = static_cast<std::size_t>(instruction);
  if (!is_linked_ || !decoded_->regular[place] || suspends(decoded_->assembly.instructions[place].opcode) ||
      std::cmp_not_equal(decoded_->shape->depths[place], depth)) {
    return std::nullopt;
  }
  const auto [known, is_new] = entry_at_.emplace(instruction, entries.size());
  if (is_new) {
    entries.emplace_back().place = {instruction, instruction, static_cast<int>(depth), DecodedCode::Place::kExit};
  }
  return known->second;
}

// A trace from the header of a loop that does not come back to it stands for the loop's end, which comes but once.
bool CodeRecord::is_of_use(const recorder::Recorded& recorded) const {
  const recorder::DecodedCode::Entry& place = entries[static_cast<std::size_t>(recorded.entry)].place;
  if (recorded.stop == recorder::Stop::k_internal || !recorded.useful) {
    return false;
  }
  if (place.place != DecodedCode::Place::kHeader) {
    return true;
  }
  const replay::Node& last = recorded.graph.nodes.back();
  if (last.op == replay::Op::link) {
    const int end = recorded.graph.snapshots[static_cast<std::size_t>(last.snapshot)].instruction;
    return place.first <= end && end <= place.resume;
  }
  return last.op == replay::Op::jump_back || last.op == replay::Op::leave;
}

void CodeRecord::count_limits(const replay::Reached& reached) {
  for (const replay::LimitRow& row : replay::kLimitRows) {
    count_limit(counters, row.limit, reached.at(static_cast<std::size_t>(row.limit)));
  }
}

std::vector<replay::Executor*> CodeRecord::executors() const {
  std::vector<replay::Executor*> all;
  for (const Entry& entry : entries) {
    std::ranges::transform(entry.executors, std::back_inserter(all), &std::shared_ptr<replay::Executor>::get);
  }
  return all;
}

std::size_t CodeRecord::executor_count() const {
  std::size_t number = 0;
  for (const Entry& entry : entries) {
    number += entry.executors.size();
  }
  return number;
}

namespace {

// What the recorded call has taken, without what recording takes.
Nanoseconds written_time_of(double seconds, std::size_t nodes) {
  constexpr double kSecond = 1e9;
  constexpr double kRecording = 150e3;
  constexpr double kNode = 2e3;
  const double own = seconds * kSecond - kRecording - kNode * static_cast<double>(nodes);
  return static_cast<Nanoseconds>(std::max(own, 0.0));
}

}  // namespace

void CodeRecord::finished(recorder::Recorded recorded) {
  std::erase(recording, recorded.stack);
  disturb_trials();
  resume();
  Entry& entry = entries[static_cast<std::size_t>(recorded.entry)];
  if (keeps_recording_code) {
    recording_code = recorded.recording_code->code;
  }
  keep_for_next(recorded.recording_code);
  // What is recorded anyway leaves others their share.
  if (!is_asked_for_ && !is_of_loop(entry)) {
    recording_budget().recorded(recorded.graph.nodes.size());
  }
  count(counters, entry.has_stub() ? Event::kRecord : Event::kBridge);
  count_stop(counters, recorded.stop);
  count_limits(recorded.reached);
  last_stop = recorded.stop;
  last_recording_seconds = recorded.seconds;
  const auto start = std::chrono::steady_clock::now();
  last_stop_line = recorded.stop_line;
  if (!is_of_use(recorded)) {
    ++entry.failures;
    close_if_given_up(entry);
    return;
  }
  if (recorded.has_lost) {
    ++entry.short_lived;
    return;
  }
  const std::size_t recorded_nodes = recorded.graph.nodes.size();
  if (replay::is_faulty(replay::Stage::recording)) [[unlikely]] {
    replay::make_faulty(recorded.graph);
  }
  if (replay::is_faulty(replay::Stage::inlining)) [[unlikely]] {
    replay::make_faulty(recorded.graph, 1);
  }
  replay::optimise(recorded.graph);
  for (const auto& known : entry.executors) {
    if (replay::same_graph(known->graph(), recorded.graph)) {
      // Another thread was faster; or what the trace does not guard at its entry has changed.
      entry.failures += entry.place.place == DecodedCode::Place::kCall ? 0 : 1;
      return;
    }
  }
  auto executor = replay::Executor::lower(std::move(recorded.graph), std::move(recorded.shapes), entry.place.first);
  if (executor->is_dead()) {
    ++entry.short_lived;
    return;
  }
  if (!replay::is_on(replay::Stage::replaying)) {
    entry.failures = limits_->retries;  // the next recording would tell the same
    return;
  }
  if (replay::is_faulty(replay::Stage::replaying)) [[unlikely]] {
    executor->make_faulty();
  }
  if (is_logged(Topic::kRecord)) {
    log(Topic::kRecord,
        fmt::format("{}: {} nodes, {}", name(), executor->graph().nodes.size(), recorder::stop_text(recorded.stop)));
  }
  if (is_logged(Topic::kGraph)) {
    log(Topic::kGraph, replay::print(executor->graph()));
  }
  if (is_logged(Topic::kGuards)) {
    for (const std::string& guard : guard_texts(*executor)) {
      log(Topic::kGuards, fmt::format("{}: {}", name(), guard));
    }
  }
  log_lowered(*executor);
  executor->set_gain(gain_of(*executor, recorded.largest_array), forgone_by(*executor, recorded.largest_array));
  has_arrays_ = has_arrays_ || recorded.largest_array > 0;
  const bool is_vain = may_retire() && is_in_vain(*executor, entry.place.place == DecodedCode::Place::kCall);
  entry.is_vain = is_vain;
  if (is_vain && !(is_measured() && entry.has_stub())) {
    entry.failures = limits_->retries;  // the next recording would tell the same
    entry.costs = -executor->gain().round;
    close_if_given_up(entry);
    return;
  }
  entry.failures = recorded.stop == recorder::Stop::kNone ? 0 : entry.failures + 1;
  executor->keeper = this;
  executor->groups = limits_->groups;
  executor->arrivals = arrivals_of(entry, *executor);
  weigh_anew(*executor);
  if (entry.place.place == DecodedCode::Place::kCall) {
    entry.written_guess = written_time_of(recorded.seconds, recorded_nodes);
  }
  measure_anew(entry);
  if (is_measured()) {
    constexpr std::int64_t kSoon = 64;
    if (executor->arrivals != entry.arrivals || entry.has_stub()) {
      executor->arrivals->left = kSoon;
    }
  }
  entry.executors.insert(entry.executors.begin(), std::move(executor));
  last_synthesis_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (may_retire() && records_in_vain() && !has_verdict(MeasuredSpeed::Verdict::kReplay)) {
    unmeasured_ = kMostUnmeasured;
    balance_ = std::min(balance_, -1L);
    judge();
  }
}

// A function of many loops is recorded as often.
void CodeRecord::keep_for_next(const recorder::RecordingCodeRef& code) {
  constexpr int kManyLoops = 4;
  const auto is_open = [](const Entry& entry) {
    return entry.place.place == DecodedCode::Place::kHeader && entry.executors.empty() && !entry.is_closed;
  };
  if (code->has_elsewhere) {
    return;
  }
  if (keeps_for_next_ != nullptr && keeps_for_next_ != this) {
    keeps_for_next_->known_recording_code.reset();
  }
  const bool is_worth_it = std::ranges::count_if(entries, is_open) >= kManyLoops;
  known_recording_code = is_worth_it ? code : nullptr;
  keeps_for_next_ = is_worth_it ? this : nullptr;
}

// Runs up to here have left where they will go on now, in a loop that pays.
void CodeRecord::weigh_anew(const replay::Executor& executor) {
  if (executor.gain().round > 0) {
    balance_ = 0;
    trace_links_ = 0;
    weighed_ = 0;
  }
}

// One more way through the function, and none of them pays: a recording costs as much as many calls.
bool CodeRecord::records_in_vain() const {
  constexpr std::size_t kWays = 3;
  const auto pays = [](const auto& executor) { return executor->gain().straight >= 0 || executor->gain().round > 0; };
  return executor_count() >= kWays && std::ranges::none_of(entries, [&pays](const Entry& entry) {
           return std::ranges::any_of(entry.executors, pays);
         });
}

namespace {

// An executor that has run so often was worth its recording.
constexpr std::uint64_t kOfUse = 8;

// Executors that nobody enters any more; freeing them may destroy what the program sees. Used under the GIL. The next
// call that asks for a graph empties it.
std::vector<std::shared_ptr<replay::Executor>>& deferred_frees() {
  static auto* dead = new std::vector<std::shared_ptr<replay::Executor>>();
  return *dead;
}

}  // namespace

void CodeRecord::defer_free(std::shared_ptr<replay::Executor> executor) {
  executor->keeper = nullptr;
  deferred_frees().push_back(std::move(executor));
  has_dead_ = true;
}

CodeRecord::~CodeRecord() {
  totals().functions_freed += is_worth_telling() ? 1 : 0;
  cancel_trials(*this);
  if (is_put_off_) {
    std::erase(put_off_records(), this);
  }
  if (keeps_for_next_ == this) {
    keeps_for_next_ = nullptr;
  }
  for (const Entry& entry : entries) {
    for (const auto& executor : entry.executors) {
      executor->keeper = nullptr;
    }
  }
}

void CodeRecord::executor_died(const replay::Executor& executor) {
  ++counters.invalidations;
  ++totals().invalidations;
  if (const Place place = find(executor)) {
    place.entry->short_lived += executor.hits + executor.exits < kOfUse ? 1 : 0;
    defer_free(std::move(*place.executor));
    place.entry->executors.erase(place.executor);
  }
}

void CodeRecord::forget(const replay::Executor& executor) {
  if (const Place place = find(executor)) {
    defer_free(std::move(*place.executor));
    place.entry->executors.erase(place.executor);
  }
}

CodeRecord::Place CodeRecord::find(const replay::Executor& wanted) {
  for (Entry& entry : entries) {
    const auto found = std::ranges::find(entry.executors, &wanted, &std::shared_ptr<replay::Executor>::get);
    if (found != entry.executors.end()) {
      return {&entry, found};
    }
  }
  return {};
}

int CodeRecord::limit_of_runs() const { return may_retire() ? limits_->retire_after : INT_MAX; }

// False: what does not pay is kept, too.
bool CodeRecord::may_retire() const { return retires_ && limits_->retire_after > 0 && !options().stress; }

long CodeRecord::earned() const {
  constexpr long kEnough = INT_MAX;  // what is added to it has room
  return may_retire() && !has_verdict(MeasuredSpeed::Verdict::kReplay) ? balance_ : kEnough;
}

// The first instruction of the stub becomes a jump to the original.
bool CodeRecord::close(Entry& entry, PyCodeObject* code) {
  if (!entry.is_closed) {
    entry.first_unit = cpython::code_units(code)[static_cast<std::size_t>(entry.stub)];
    entry.is_closed = cpython::jump_over(code, entry.stub, entry.original, entry.before);
  }
  return entry.is_closed;
}

void CodeRecord::open(Entry& entry, PyCodeObject* code) {
  if (std::exchange(entry.is_closed, false)) {
    cpython::write_unit(code, entry.stub, entry.first_unit);
  }
}

// Where nothing is recorded any more, and nothing is there to be run, asking costs time in each round. Where that is so
// everywhere the function need not be asked at all.
void CodeRecord::close_if_given_up(Entry& entry) {
  const bool is_given_up = entry.failures >= limits_->retries && entry.executors.empty();
  PyObject* object = PyWeakref_GET_OBJECT(replay_code.get());
  if (!is_given_up || !entry.has_stub() || !may_retire() || object == Py_None) {
    return;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  close(entry, code);
  const auto is_over = [](const Entry& each) { return each.executors.empty() && (!each.has_stub() || each.is_closed); };
  Entry& call = entries.front();
  if (call.is_closed && std::ranges::all_of(entries, is_over)) {
    open(call, code);
    retire(entry.costs);
  }
}

// A recursive function is recorded while all that it calls of itself runs, which may be the whole program.
void CodeRecord::pause() {
  constexpr int kPatience = 100;
  PyObject* code = PyWeakref_GET_OBJECT(replay_code.get());
  if (++refused_ < kPatience || options().stress || code == Py_None) {
    return;
  }
  for (Entry& entry : entries) {
    if (entry.has_stub() && entry.executors.empty() && !entry.is_closed) {
      entry.is_paused = close(entry, reinterpret_cast<PyCodeObject*>(code));
    }
  }
}

void CodeRecord::resume() {
  refused_ = 0;
  PyObject* code = PyWeakref_GET_OBJECT(replay_code.get());
  for (Entry& entry : entries) {
    if (std::exchange(entry.is_paused, false) && code != Py_None) {
      open(entry, reinterpret_cast<PyCodeObject*>(code));
    }
  }
}

// --- what is measured

void CodeRecord::judge() {
  const long balance = std::exchange(balance_, 0);
  trace_links_ = 0;
  const int runs = std::exchange(weighed_, 0);
  if (balance < 0 && may_retire() && !is_retired_) {
    if (is_measured() && (has_verdict(MeasuredSpeed::Verdict::kReplay) || ++unmeasured_ < kMostUnmeasured)) {
      count_limit(counters, Limit::k_retire_after, unmeasured_ == 1 ? 1 : 0);
      for (Entry& entry : entries) {
        std::ranges::for_each(entry.measured, [](Entry::Measured& each) { each.gain.hasten(); });
      }
      return;
    }
    count_limit(counters, Limit::k_retire_after);
    retire(-balance / std::max(runs, 1));
  }
}

// Executors that are running are freed when they have ended.
void CodeRecord::retire(long lost) {
  PyObject* object = PyWeakref_GET_OBJECT(replay_code.get());
  if (is_retired_ || object == Py_None) {
    return;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  cancel_trials(*this);
  put_back_ = 0;
  let_go_ = 0;
  resume();
  wakes();
  for (Entry& entry : entries) {
    const bool is_call = &entry == &entries.front();
    const bool stays_open = is_call ? records_calls : entry.place.depth > 0;  // a landing needs a value
    if (entry.has_stub() && !stays_open && !close(entry, code)) {
      continue;
    }
    if (!is_call && stays_open) {
      open(entry, code);
    }
    for (auto& executor : std::exchange(entry.executors, {})) {
      defer_free(std::move(executor));
    }
  }
  is_retired_ = true;
  cpython::disarm(decoded_->shape->code.get());
  exchange_in_makers();
  lost_ = lost;
  count(counters, Event::kRetire);
  if (is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: retired, a replay costs about {} ns more", name(), lost_));
  }
}

// Where functions of this code are made again and again, the jump over the stub costs less than looking at each.
void CodeRecord::put_back(cpython::Frame* frame) {
  constexpr int kMost = 16;
  PyCodeObject* code = cpython::code_of(frame);
  PyFunctionObject* function = cpython::function_of(frame);
  const bool is_its = function->func_code == reinterpret_cast<PyObject*>(code) &&
                      PyWeakref_GET_OBJECT(replay_code.get()) == function->func_code;
  if (is_its) {
    runtime::put_back(function, code, decoded_->shape->code.get());
  }
  if (++put_back_ >= kMost) {
    close(entries.front(), code);
  }
}

void CodeRecord::add_maker(const CodeRef& code, std::size_t used, std::size_t spare) {
  Ref weak = cpython::weak_reference(reinterpret_cast<PyObject*>(code.get()));
  if (!weak) {
    throw PythonError();
  }
  makers_.push_back({std::move(weak), used, spare});
  exchange_in_makers();
}

bool CodeRecord::has_maker(const PyCodeObject* code) const {
  return std::ranges::any_of(makers_, [code](const Maker& maker) {
    return PyWeakref_GET_OBJECT(maker.code.get()) == reinterpret_cast<const PyObject*>(code);
  });
}

bool CodeRecord::lets_go_of(cpython::Frame* frame, std::size_t entry) {
  constexpr int kMost = 64;
  // Who holds the frame may have a traceback, which names an instruction of its present code.
  if (let_go_ < kMost && !cpython::is_held(frame)) {
    ++let_go_;
    return true;
  }
  close(entries[entry], cpython::code_of(frame));
  return false;
}

// Functions that are made from now on have the original code from the start, or the replay code again.
void CodeRecord::exchange_in_makers() {
  PyObject* own = PyWeakref_GET_OBJECT(replay_code.get());
  if (own != Py_None) {
    cpython::make_of_original(reinterpret_cast<PyCodeObject*>(own), is_retired_);  // for graphs
  }
  std::erase_if(makers_, [this](const Maker& maker) {
    PyObject* code = PyWeakref_GET_OBJECT(maker.code.get());
    if (code == Py_None) {
      return true;
    }
    auto* made_by = reinterpret_cast<PyCodeObject*>(code);
    const auto place = static_cast<Py_ssize_t>(maker.used);
    const bool is_original =
        PyTuple_GET_ITEM(made_by->co_consts, place) == reinterpret_cast<PyObject*>(decoded_->shape->code.get());
    if (is_original != is_retired_) {
      cpython::swap_constants(made_by, maker.used, maker.spare);
    }
    return false;
  });
}

void CodeRecord::ask_for(bool retires, const std::optional<Limits>& own) {
  is_asked_for_ = true;
  retires_ = retires;
  own_limits_ = own;
  limits_ = own_limits_ ? &*own_limits_ : &options().limits;
  for (replay::Executor* executor : executors()) {
    executor->groups = limits_->groups;
  }
}

void CodeRecord::revive() {
  cancel_trials(*this);
  records_calls = true;
  if (std::exchange(is_put_off_, false)) {
    std::erase(put_off_records(), this);
  }
  PyObject* code = PyWeakref_GET_OBJECT(replay_code.get());
  if (code == Py_None) {
    return;
  }
  const bool was_retired = std::exchange(is_retired_, false);
  if (was_retired) {
    exchange_in_makers();
  }
  for (Entry& entry : entries) {
    const bool is_given_up = entry.costs > 0 || (entry.is_closed && !entry.is_paused);
    if (was_retired || (is_given_up && !retires_)) {
      open(entry, reinterpret_cast<PyCodeObject*>(code));
      entry.failures = 0;
      entry.costs = 0;
      entry.put_off = 0;
      entry.is_resting = false;
      entry.asleep = 0;
      entry.measured.clear();
      entry.current = nullptr;
    }
  }
  unmeasured_ = 0;
}

void CodeRecord::grow(const replay::Executor& from, const replay::Step& step, const replay::Executor& next) {
  const Place root = find(from);
  const Place part = find(next);
  if (!root || !part || !replay::is_on(replay::Stage::trace_trees)) {
    return;
  }
  replay::Reached reached{};
  ++times(reached, Limit::k_grow_after);
  auto grown = replay::grow(*root.executor, static_cast<std::size_t>(&step - from.steps().data()), *part.executor,
                            step.target, *limits_, reached);
  count_limits(reached);
  if (grown == nullptr) {
    return;
  }
  if (replay::is_faulty(replay::Stage::trace_trees)) [[unlikely]] {
    grown->make_faulty();
  }
  grown->keeper = this;
  weigh_anew(*grown);
  measure_anew(*root.entry);
  defer_free(std::exchange(*root.executor, std::move(grown)));
  count(counters, Event::kGrow);
  if (is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: line {} goes on in a trace of its own, {} in all", name(), step.line,
                                   (*root.executor)->part_count()));
  }
  log_lowered(**root.executor);
}

void CodeRecord::free_deferred() {
  has_dead_ = false;
  free_retired();
  auto dead = std::exchange(deferred_frees(), {});
  for (auto& executor : dead) {
    if (executor->is_running()) {
      deferred_frees().push_back(std::move(executor));
      has_dead_ = true;
    }
  }
}

recorder::HomeRef CodeRecord::home_of(PyCodeObject* code) {
  PyObject* anchor = anchor_of(code);
  const recorder::HomeRef home = anchor == nullptr ? nullptr : record_of(anchor)->home;
  const bool is_its = home != nullptr && PyWeakref_GET_OBJECT(home->code.get()) == reinterpret_cast<PyObject*>(code);
  return is_its ? home : nullptr;
}

bool CodeRecord::may_inline(PyCodeObject* code) {
  if (dispatcher_of_code(code) != nullptr) {
    return false;
  }
  // Loops are entered where they begin, and left for bridges: that is for the frame that an executor has entered.
  PyObject* anchor = anchor_of(code);
  if (anchor != nullptr && record_of(anchor)->decoded_->has_headers()) {
    return false;
  }
  if (options().opaque_paths.empty()) {
    return true;
  }
  const std::string path = cpython::readable(code->co_filename);
  const auto begins_path = [&path](const std::string& prefix) { return path.starts_with(prefix); };
  return std::ranges::none_of(options().opaque_paths, begins_path) ||
         std::ranges::binary_search(options().included_files, path);
}

}  // namespace tagalong::runtime
