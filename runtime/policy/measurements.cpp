#include "runtime/policy/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::runtime {
namespace {

// Elements of an array, in powers of two; 0: the object is none.
int size_of_array(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || object == nullptr || Py_TYPE(object) != np->array_type) {
    return 0;
  }
  const auto* fields = reinterpret_cast<const array::ArrayFields*>(object);
  std::uint64_t size = 1;
  for (int axis = 0; axis < fields->nd; ++axis) {
    size *= static_cast<std::uint64_t>(fields->dimensions[axis]);
  }
  return std::bit_width(size);
}

}  // namespace

Measurements::Measurements(TracedCode& code) : code_(code) {
  constexpr int kSuspended = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  can_be_measured_ = (code.original()->co_flags & kSuspended) == 0;
}

Measurements::OfEntry& Measurements::at(std::size_t entry) {
  if (entry >= entries_.size()) [[unlikely]] {
    entries_.resize(code_.entries.size());
  }
  return entries_[entry];
}

const std::deque<Measurements::OfSize>& Measurements::of(std::size_t entry) const {
  static const auto* nothing = new std::deque<OfSize>();
  return entry < entries_.size() ? entries_[entry].sizes : *nothing;
}

void Measurements::note_arrival(std::size_t entry) {
  const Entry& place = code_.entries[entry];
  if (!are_on() || !place.has_stub()) {
    return;
  }
  OfEntry& own = at(entry);
  const Nanoseconds now = clock_now();
  own.original_guess = place.attempts.heat == 0 ? 0 : now - own.last_arrival;
  own.last_arrival = now;
}

// A trace that goes round from the target of a side exit does the rounds of the loop around it.
const std::shared_ptr<replay::Arrivals>& Measurements::arrivals_of(const Entry& entry,
                                                                   const replay::Executor& executor) const {
  const Entry* loop = nullptr;
  const auto contains_entry = [&entry](const Entry& other) {
    return other.is(Entry::Kind::kHeader) && other.place.first <= entry.place.first &&
           entry.place.first <= other.place.resume;
  };
  if (entry.is(Entry::Kind::kExit) && !executor.loop().ops.empty()) {
    for (const Entry& other : code_.entries) {
      const bool is_inner = loop == nullptr || other.place.first > loop->place.first;
      loop = contains_entry(other) && is_inner ? &other : loop;
    }
  }
  return loop == nullptr ? entry.arrivals : loop->arrivals;
}

void Measurements::prepare(std::size_t entry, replay::Executor& executor) {
  const Entry& place = code_.entries[entry];
  executor.arrivals = arrivals_of(place, executor);
  reset(entry);
  if (are_on() && (executor.arrivals != place.arrivals || place.has_stub())) {
    executor.arrivals->left = MeasuredSpeed::rounds_between_looks(at(entry).original_guess);
  }
}

void Measurements::reset(std::size_t entry) {
  for (const std::size_t each : {entry, std::size_t{0}}) {
    std::ranges::for_each(at(each).sizes, [](OfSize& known) { known.speed.reset(); });
  }
}

void Measurements::forget(std::size_t entry) {
  OfEntry& own = at(entry);
  own.is_stub_closed = false;
  own.sizes.clear();
  own.current = nullptr;
  if (entry == 0) {
    skipped_calls_ = 0;
  }
}

// Of the largest array among the arguments.
int Measurements::size_class(cpython::Frame* frame) const {
  constexpr int kMost = 8;
  int largest = 0;
  for (int slot = 0; slot < std::min(code_.original()->co_argcount, kMost); ++slot) {
    largest = std::max(largest, size_of_array(cpython::locals_of(frame)[slot]));
  }
  return largest;
}

MeasuredSpeed& Measurements::speed(std::size_t entry, cpython::Frame* frame) {
  constexpr std::size_t kMost = 32;
  OfEntry& own = at(entry);
  const int wanted = has_arrays_ ? size_class(frame) : 0;
  const auto known = std::ranges::find(own.sizes, wanted, &OfSize::size_class);
  if (known != own.sizes.end() || own.sizes.size() >= kMost) {
    own.current = &(known != own.sizes.end() ? *known : own.sizes.front()).speed;
    return *own.current;
  }
  const bool is_call = code_.entries[entry].is(Entry::Kind::kCall);
  OfSize& made = own.sizes.emplace_back(
      OfSize{wanted, MeasuredSpeed(is_call ? MeasuredSpeed::Unit::kCall : MeasuredSpeed::Unit::kRound)});
  made.speed.guess(own.original_guess);
  made.speed.expect_loss(own.expects_loss);
  own.current = &made.speed;
  return made.speed;
}

MeasuredSpeed* Measurements::speed_at(const replay::Arrivals& arrivals, cpython::Frame* frame) {
  const auto has_them = [&arrivals](const Entry& entry) { return entry.arrivals.get() == &arrivals; };
  const auto found = std::ranges::find_if(code_.entries, has_them);
  const bool is_loop = found != code_.entries.end() && found->is(Entry::Kind::kHeader) && !found->stub.is_closed;
  return is_loop ? &speed(static_cast<std::size_t>(found - code_.entries.begin()), frame) : nullptr;
}

bool Measurements::has_verdict(MeasuredSpeed::Verdict verdict) const {
  return std::ranges::any_of(entries_, [verdict](const OfEntry& entry) {
    return std::ranges::any_of(entry.sizes, [verdict](const OfSize& each) { return each.speed.verdict() == verdict; });
  });
}

void Measurements::request_trials() {
  for (OfEntry& entry : entries_) {
    std::ranges::for_each(entry.sizes, [](OfSize& each) { each.speed.request_trials(); });
  }
}

std::optional<long> Measurements::run_original(std::size_t entry, cpython::Frame* frame) {
  constexpr Nanoseconds kShortRound = 1'000;
  const MeasuredSpeed& known = speed(entry, frame);
  PyCodeObject* code = code_.replay_code.get();
  const bool is_timed = known.verdict() != MeasuredSpeed::Verdict::kEager;
  if (is_timed || code == nullptr) {
    return std::nullopt;
  }
  if (!std::exchange(has_ever_closed_stubs_, true) && is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: as written, since replaying was measured to be slower", code_.name()));
  }
  EntryTable& entries = code_.entries;
  if (entry != 0) {
    entries[entry].arrivals->left = 0;  // other graphs that reach the loop leave there
    if (known.eager_time() < kShortRound && !entries[entry].stub.is_closed) {
      rest(entry, code);
    }
    return std::nullopt;
  }
  if (!has_arrays_ && !code_.decoded().has_headers()) {  // the result holds for all arguments
    return static_cast<long>(known.replay_time() - known.eager_time());
  }
  if (at(entry).sizes.size() == 1) {  // no other size has been seen yet
    constexpr int kSkipped = 7;
    skipped_calls_ = kSkipped;
  }
  for (std::size_t index = 0; index < entries.size(); ++index) {
    if (entries[index].is(Entry::Kind::kHeader) && !entries[index].stub.is_closed) {
      rest(index, code);
    }
  }
  return std::nullopt;
}

void Measurements::rest(std::size_t entry, PyCodeObject* replay_code) {
  at(entry).is_stub_closed = code_.entries[entry].stub.close(replay_code);
  has_closed_stubs_ = true;
}

void Measurements::reopen_stubs() {
  has_closed_stubs_ = false;
  PyCodeObject* code = code_.replay_code.get();
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    if (std::exchange(entries_[index].is_stub_closed, false) && code != nullptr) {
      code_.entries[index].stub.open(code);
    }
  }
}

}  // namespace tagalong::runtime
