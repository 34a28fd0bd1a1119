// Whether calls and rounds of a code object are replayed or run as written, by what was measured for arguments of a
// size.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "replay/arrays/numpy/numpy_abi.h"
#include "runtime/records/code_record.h"
#include "runtime/records/options.h"

namespace tagalong::runtime {

using recorder::DecodedCode;

namespace {

// Of an array, in powers of two; 0: it is none.
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

// Of the largest array among the arguments.
int CodeRecord::size_class(cpython::Frame* frame) const {
  constexpr int kMost = 8;
  const PyCodeObject* code = decoded_->shape->code.get();
  int largest = 0;
  for (int slot = 0; slot < std::min(code->co_argcount, kMost); ++slot) {
    largest = std::max(largest, size_of_array(cpython::locals_of(frame)[slot]));
  }
  return largest;
}

// A trace that goes round from where a side exit lands does the rounds of the loop that it lies in.
const std::shared_ptr<replay::Arrivals>& CodeRecord::arrivals_of(const Entry& entry,
                                                                 const replay::Executor& executor) const {
  const Entry* loop = nullptr;
  const auto lies_in = [&entry](const Entry& other) {
    return other.place.place == DecodedCode::Place::kHeader && other.place.first <= entry.place.first &&
           entry.place.first <= other.place.resume;
  };
  if (entry.place.place == DecodedCode::Place::kExit && !executor.loop().ops.empty()) {
    for (const Entry& other : entries) {
      loop = lies_in(other) && (loop == nullptr || other.place.first > loop->place.first) ? &other : loop;
    }
  }
  return loop == nullptr ? entry.arrivals : loop->arrivals;
}

bool CodeRecord::is_measured() const { return can_be_measured_ && may_retire() && options().measuring; }

MeasuredSpeed& CodeRecord::measured(std::size_t entry, cpython::Frame* frame) {
  constexpr std::size_t kMost = 32;
  Entry& place = entries[entry];
  const int wanted = has_arrays_ ? size_class(frame) : 0;
  const auto known = std::ranges::find(place.measured, wanted, &Entry::Measured::size_class);
  if (known != place.measured.end() || place.measured.size() >= kMost) {
    place.current = &(known != place.measured.end() ? *known : place.measured.front()).gain;
    return *place.current;
  }
  const bool is_call = place.place.place == DecodedCode::Place::kCall;
  Entry::Measured& made = place.measured.emplace_back(
      Entry::Measured{wanted, MeasuredSpeed(is_call ? MeasuredSpeed::Unit::kCall : MeasuredSpeed::Unit::kRound)});
  made.gain.guess(place.written_guess);
  made.gain.expect_loss(place.is_vain);
  place.current = &made.gain;
  return made.gain;
}

MeasuredSpeed* CodeRecord::measured_at(const replay::Arrivals& arrivals, cpython::Frame* frame) {
  const auto has_it = [&arrivals](const Entry& entry) { return entry.arrivals.get() == &arrivals; };
  const auto found = std::ranges::find_if(entries, has_it);
  const bool is_loop = found != entries.end() && found->place.place == DecodedCode::Place::kHeader && !found->is_closed;
  return is_loop ? &measured(static_cast<std::size_t>(found - entries.begin()), frame) : nullptr;
}

// What runs there is not what was measured, and neither are the calls that it is a part of.
void CodeRecord::measure_anew(Entry& entry) {
  for (Entry* each : {&entry, &entries.front()}) {
    std::ranges::for_each(each->measured, [](Entry::Measured& known) { known.gain.begin_anew(); });
  }
}

bool CodeRecord::has_verdict(MeasuredSpeed::Verdict verdict) const {
  return std::ranges::any_of(entries, [verdict](const Entry& entry) {
    return std::ranges::any_of(entry.measured,
                               [verdict](const Entry::Measured& each) { return each.gain.verdict() == verdict; });
  });
}

void CodeRecord::rest(std::size_t entry, cpython::Frame* frame) {
  constexpr Nanoseconds kShortRound = 1'000;
  const MeasuredSpeed& gain = measured(entry, frame);
  if (gain.verdict() != MeasuredSpeed::Verdict::kWritten) {
    return;  // it is being measured
  }
  PyObject* object = PyWeakref_GET_OBJECT(replay_code.get());
  if (object == Py_None) {
    return;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  if (!std::exchange(has_rested_, true) && is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: as written, since replaying was measured to be slower", name()));
  }
  if (entry != 0) {
    entries[entry].arrivals->left = 0;  // who comes there from other graphs leaves
    if (gain.written_time() < kShortRound && !entries[entry].is_closed) {
      entries[entry].is_resting = close(entries[entry], code);
      has_resting_ = true;
    }
    return;
  }
  if (!has_arrays_ && !decoded_->has_headers()) {  // no size changes that
    retire(static_cast<long>(gain.replay_time() - gain.written_time()));
    return;
  }
  if (entries[entry].measured.size() == 1) {  // no other size has come yet
    constexpr int kSleep = 7;
    entries[entry].asleep = kSleep;
  }
  for (Entry& each : entries) {
    if (each.place.place == DecodedCode::Place::kHeader && each.has_stub() && !each.is_closed) {
      each.is_resting = close(each, code);
      has_resting_ = true;
    }
  }
}

void CodeRecord::wake_loops() {
  has_resting_ = false;
  PyObject* code = PyWeakref_GET_OBJECT(replay_code.get());
  for (Entry& entry : entries) {
    if (std::exchange(entry.is_resting, false) && code != Py_None) {
      open(entry, reinterpret_cast<PyCodeObject*>(code));
    }
  }
}
}  // namespace tagalong::runtime
