// Everything tagalong knows about one original code object: its replay code, its executors, what became of its
// recordings. Owned by the anchor in the replay code, so it lives as long as that code object.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/session.h"
#include "replay/executor/executor.h"
#include "runtime/policy/measured_speed.h"
#include "runtime/records/events.h"

namespace tagalong::runtime {

// A place where executors are attached: the start of a call, behind each yield of a generator or coroutine, headers of
// loops, and where side exits land.
struct Entry : replay::Attached {
  recorder::DecodedCode::Entry place;
  int failures = 0;     // recordings in vain, in a row
  int short_lived = 0;  // executors that an object's death has ended before they were of use
  int costs = 0;        // of a round, where that is why nothing is attached
  int put_off = 0;      // calls that were not recorded because recordings had cost enough
  int heat = 0;         // how often somebody has come here since the last recording, who went on as written
  // Of the replay code: where the stub begins, where the original goes on, and what stands there when it is in use.
  int stub = 0;
  int before = 0;  // the instruction in front of it
  int original = 0;
  std::uint16_t first_unit = 0;
  bool is_closed = false;   // who comes to the stub goes on as written
  bool is_paused = false;   // the same, as long as the code is being recorded
  bool is_resting = false;  // the same, as long as the call that goes on is better as written
  // What was measured, by the size of the arguments. A loop's, or a call's.
  struct Measured {
    int size_class = 0;
    MeasuredSpeed gain;
  };
  std::deque<Measured> measured;
  bool is_vain = false;              // by estimate
  int asleep = 0;                    // calls that run as written without asking
  MeasuredSpeed* current = nullptr;  // of the last size
  Nanoseconds last_ask = 0;          // by a round that may be recorded
  Nanoseconds written_guess = 0;     // how long a round or a call has taken before anything was attached
  [[nodiscard]] bool has_stub() const { return place.place != recorder::DecodedCode::Place::kExit; }
};

// From now on the log has the last fusion group that a quota lets be formed (replay/ir/stages.h).
void log_last_group();

class CodeRecord : public recorder::Sink, public replay::Keeper {
 public:
  explicit CodeRecord(std::shared_ptr<const recorder::DecodedCode> decoded);
  CodeRecord(const CodeRecord&) = delete;
  CodeRecord& operator=(const CodeRecord&) = delete;
  ~CodeRecord() override;

  [[nodiscard]] const recorder::DecodedCode& decoded() const { return *decoded_; }
  [[nodiscard]] std::shared_ptr<const recorder::DecodedCode> decoded_ref() const { return decoded_; }
  [[nodiscard]] std::string name() const;
  // Whether explain() without a function has a text of it.
  [[nodiscard]] bool is_worth_telling() const { return counters.records + counters.hits + counters.misses != 0; }

  // Worth recording what starts now at this entry?
  [[nodiscard]] bool wants_recording(PyThreadState* thread, std::size_t entry);
  // The same where it is not a call or a resumption that starts, but a round or what follows a side exit: counts, too.
  bool is_hot(PyThreadState* thread, std::size_t entry);
  // The entry where a frame goes on with this instruction and a stack of this depth; null: there can be none.
  [[nodiscard]] std::optional<std::size_t> entry_at(int instruction, std::size_t depth);
  // Whether what leaves an executor may go on in another one.
  [[nodiscard]] bool is_linked() const { return is_linked_; }

  void finished(recorder::Recorded recorded) override;
  bool may_inline(PyCodeObject* code) override;
  recorder::HomeRef home_of(PyCodeObject* code) override;
  // It is taken out at once, or when its run is over.
  void executor_died(const replay::Executor& executor) override;
  // The same, at somebody's wish.
  void forget(const replay::Executor& executor);
  // Frees executors that have died, of all records; from a place where it does no harm that destructors run.
  static void free_the_dead() {
    if (has_dead_) [[unlikely]] {
      free_deferred();
    }
  }

  static void expect_deferred_free() { has_dead_ = true; }

  // What a run has been worth, in ns against the original instructions. After `retire_after` of them that were worth
  // less than nothing together, the original instructions run as if there were no stub.
  // `stitches`: what of that is what going on in other executors has cost.
  void weigh(int gain, int trace_links = 0) {
    balance_ += gain;
    trace_links_ += trace_links;
    if (++weighed_ >= limit_of_runs()) [[unlikely]] {
      judge();
    }
  }
  // By the runs that are weighed now, in ns; as much as may be where nothing is retired.
  [[nodiscard]] long earned() const;
  // The same if executors that go on in each other were one.
  [[nodiscard]] long earned_as_one() const { return earned() - trace_links_; }
  [[nodiscard]] bool is_retired() const { return is_retired_; }
  // From inside a run or behind it. `lost`: in ns, by a run.
  void retire(long lost);
  // The call that has come to the stub of retired code is the last one of its function's that does.
  void put_back(cpython::Frame* frame);
  // And the frame that has come there elsewhere goes on in the original code. False: as written, and no other one asks.
  bool lets_go_of(cpython::Frame* frame, std::size_t entry);
  void revive();
  // The program has named it: it is recorded whatever that costs, and unless it `retires`, replayed whether that pays
  // or not. `own`: limits that hold for it instead of those of the process.
  void ask_for(bool retires = false, const std::optional<recorder::Limits>& own = std::nullopt);
  [[nodiscard]] const recorder::Limits& limits() const { return *limits_; }
  // Code that makes functions of this one: the constant that it makes them of, and the one that takes its place while
  // this one is retired.
  void add_maker(const CodeRef& code, std::size_t used, std::size_t spare);
  [[nodiscard]] bool has_maker(const PyCodeObject* code) const;
  // Whether it is measured if replaying pays.
  [[nodiscard]] bool is_measured() const;
  void cannot_be_measured() { can_be_measured_ = false; }
  MeasuredSpeed& measured(std::size_t entry, cpython::Frame* frame);
  // Of the loop with this count; null: it is none, or nothing has been measured.
  MeasuredSpeed* measured_at(const replay::Arrivals& arrivals, cpython::Frame* frame);
  // A call or a round goes on as written. Where that is because replaying was measured to be slower, its loops do, too,
  // and what is short is not asked any more.
  void rest(std::size_t entry, cpython::Frame* frame);
  // The call that begins is replayed: its loops are, too.
  void wakes() {
    if (has_resting_) [[unlikely]] {
      wake_loops();
    }
  }
  // `from` goes on in `next` so often, from this step, that it takes that in (replay/executor/trace_trees.h).
  void grow(const replay::Executor& from, const replay::Step& step, const replay::Executor& next);

  [[nodiscard]] std::string explain() const;
  [[nodiscard]] std::size_t executor_count() const;
  // Of all entries.
  [[nodiscard]] std::vector<replay::Executor*> executors() const;

  // --- of the compare mode (comparing.h)
  std::uint64_t calls_seen = 0;
  bool has_missed = false;  // a copy of the process found no graph for a call: the next one is recorded

  // --- filled in by whoever makes the replay code (replay_code.cpp)
  Ref replay_code;         // weak reference: it owns the anchor that owns this
  std::vector<int> units;  // of the original instructions in the replay code
  std::vector<int> shown;  // replay::CodeShape::shown of it
  std::vector<int> starts;
  std::vector<int> pads;   // where to land with an empty stack
  recorder::HomeRef home;  // of generators

  std::deque<Entry> entries;  // as in DecodedCode, then those of side exits
  Counters counters;
  bool keeps_recording_code = false;
  bool records_calls = true;                        // false: of a module's body, which is called once
  CodeRef recording_code;                           // of the last recording, if kept
  recorder::RecordingCodeRef known_recording_code;  // that the next recording of a loop may run
  std::vector<cpython::StackId> recording;          // stacks on which a recording of this code is under way
  double last_recording_seconds = 0;
  double last_synthesis_seconds = 0;
  recorder::Stop last_stop = recorder::Stop::kNone;
  int last_stop_line = 0;

 private:
  [[nodiscard]] int limit_of_runs() const;
  [[nodiscard]] bool may_retire() const;
  void judge();
  static bool close(Entry& entry, PyCodeObject* code);
  static void open(Entry& entry, PyCodeObject* code);
  void close_if_given_up(Entry& entry);
  void exchange_in_makers();
  void pause();
  void resume();
  void weigh_anew(const replay::Executor& executor);
  [[nodiscard]] bool records_in_vain() const;
  void measure_anew(Entry& entry);
  [[nodiscard]] const std::shared_ptr<replay::Arrivals>& arrivals_of(const Entry& entry,
                                                                     const replay::Executor& executor) const;
  void wake_loops();
  [[nodiscard]] int size_class(cpython::Frame* frame) const;
  [[nodiscard]] bool has_verdict(MeasuredSpeed::Verdict verdict) const;
  bool puts_off(Entry& place);
  static void try_the_next_one();
  [[nodiscard]] bool is_of_loop(const Entry& place) const;
  bool is_within_quota();
  static constexpr int kMostPutOff = 500;
  static constexpr int kMostUnmeasured = 8;
  void count_limits(const replay::Reached& reached);
  void keep_for_next(const recorder::RecordingCodeRef& code);
  static inline CodeRecord* keeps_for_next_ = nullptr;  // one of all, so that little memory is kept
  static void explain_measured(const Entry& entry, const Entry::Measured& each, std::string& text);
  void explain_entry(std::size_t index, std::string& text) const;
  // Where an executor is kept; null: it has grown or died while it was running.
  struct Place {
    Entry* entry = nullptr;
    std::vector<std::shared_ptr<replay::Executor>>::iterator executor;
    explicit operator bool() const { return entry != nullptr; }
  };
  Place find(const replay::Executor& wanted);
  static void defer_free(std::shared_ptr<replay::Executor> executor);
  static void free_deferred();
  static inline bool has_dead_ = false;

  [[nodiscard]] bool is_of_use(const recorder::Recorded& recorded) const;

  std::shared_ptr<const recorder::DecodedCode> decoded_;
  bool is_linked_;
  std::unordered_map<int, std::size_t> entry_at_;  // by instruction
  long balance_ = 0;                               // of the runs that are weighed now
  long trace_links_ = 0;
  int weighed_ = 0;
  bool is_retired_ = false;
  bool is_asked_for_ = false;
  bool can_be_measured_ = true;
  bool has_arrays_ = false;
  bool has_resting_ = false;
  bool has_rested_ = false;  // by now
  int unmeasured_ = 0;       // verdicts by estimate alone that waited for a measurement
  bool retires_ = true;
  std::optional<recorder::Limits> own_limits_;
  const recorder::Limits* limits_;       // its own, or those of the process
  std::optional<bool> is_within_quota_;  // once it was asked
  bool is_put_off_ = false;              // it is retired because recordings had cost enough
  int put_back_ = 0;                     // functions, since then
  int let_go_ = 0;                       // frames, since then
  struct Maker {
    Ref code;  // weak reference
    std::size_t used;
    std::size_t spare;
  };
  std::vector<Maker> makers_;
  int refused_ = 0;  // calls, because this very code was being recorded
  long lost_ = 0;    // in a run, when it was retired
};

}  // namespace tagalong::runtime
