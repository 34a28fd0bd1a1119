#include "recorder/inlining/generators.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recorder/base/instruction_kinds.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/generators.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoValue;
using replay::ReturnKind;

namespace {

// The entry of its code at which the frame is suspended, -1: somewhere else.
int entry_of(const Home& home, cpython::Frame* frame) {
  const auto& units = home.shape->units;
  const auto& instructions = home.decoded->assembly.instructions;
  const int unit = cpython::unit_of(frame);
  for (std::size_t number = 0; number < home.decoded->entries.size(); ++number) {
    const auto resume = static_cast<std::size_t>(home.decoded->entries[number].resume);
    // The instructions are RETURN_GENERATOR, POP_TOP, RESUME or YIELD_VALUE, RESUME.
    const std::size_t last = number == 0 ? resume - 2 : resume - 1;
    const std::uint8_t expected = number == 0 ? op::kRETURN_GENERATOR : op::kYIELD_VALUE;
    if (last < resume && instructions[last].opcode == expected && units[last] + version::kBehindYield == unit) {
      return static_cast<int>(number);
    }
  }
  return -1;
}

}  // namespace

// The object that guard_generator compares: the code of the frame, and which of its local slots are bound. Equal
// objects are shared, so that the graph's run touches less memory.
Ref Generators::guard_object(const Home& home, cpython::Frame* frame) {
  const int count = cpython::slot_count(cpython::code_of(frame));
  Ref bound = Ref::steal(PyBytes_FromStringAndSize(nullptr, count));
  if (!bound) {
    throw PythonError();
  }
  for (int slot = 0; slot < count; ++slot) {
    PyBytes_AS_STRING(bound.get())[slot] = cpython::locals_of(frame)[slot] != nullptr ? 1 : 0;
  }
  for (const Ref& known : generator_guards_) {
    PyObject* other = PyTuple_GET_ITEM(known.get(), 1);
    if (PyTuple_GET_ITEM(known.get(), 0) == home.code.get() && PyBytes_GET_SIZE(other) == count &&
        std::memcmp(PyBytes_AS_STRING(other), PyBytes_AS_STRING(bound.get()), static_cast<std::size_t>(count)) == 0) {
      return known;
    }
  }
  Ref pair = Ref::steal(PyTuple_Pack(2, home.code.get(), bound.get()));
  if (!pair) {
    throw PythonError();
  }
  generator_guards_.push_back(pair);
  return pair;
}

bool Generators::try_inline_generator(cpython::Frame* callee, int instruction) {
  const Resumption resumption = find_resumption(callee, instruction);
  if (resumption.place == 0) {
    return false;
  }
  PyCodeObject* code = cpython::code_of(callee);
  const HomeRef home = sink_.home_of(code);
  const int entry = home == nullptr ? -1 : find_entry(callee, home);
  if (entry < 0) {
    return false;
  }
  enter_generator(callee, *home, entry, resumption);
  return true;
}

int Generators::find_entry(cpython::Frame* callee, const HomeRef& home) {
  const PyCodeObject* code = cpython::code_of(callee);
  if (!cpython::has_room(callee, code) || cpython::is_held(callee)) {
    return -1;
  }
  const int entry = entry_of(*home, callee);
  // Pending requests are handled at the generator's RESUME, but a recorded body begins behind it.
  if (entry < 0 || cpython::is_anything_to_run(thread_)) {
    return -1;
  }
  return cpython::has_room(callee, codes_.of(home->decoded, home).code.get()) ? entry : -1;
}

void Generators::guard_generator(cpython::Frame* callee, const Home& home, Value generator, SnapshotId here) {
  emit(Op::guard_generator, {generator}, here, cpython::unit_of(callee), guard_object(home, callee));
}

void Generators::enter_generator(cpython::Frame* callee, const Home& home, int entry, const Resumption& resumption) {
  const DecodedCode::Entry place = home.decoded->entries[static_cast<std::size_t>(entry)];
  const bool consumes = resumption.kind == replay::ReturnKind::kConsumer;
  SnapshotId guarded = resumption.here;
  Value iterator = resumption.generator;
  Value sent = constant(Py_None);
  if (!consumes) {
    guarded = call_start() == current_ ? snapshot() : snapshot_at(call_start(), top().stack);
    iterator = top().stack[top().stack.size() - static_cast<std::size_t>(resumption.place)];
    sent = guard_resumption(resumption, entry, guarded);
    guard_generator(callee, home, iterator, guarded);
  }
  ShadowFrame frame;
  frame.live = callee;
  frame.is_generator = true;
  frame.code = &codes_.of(home.decoded);
  frame.number = static_cast<std::int32_t>(graph_.frames.size());
  frame.next = place.first;
  frame.return_kind = resumption.kind;
  frame.operation = resumption.kind == replay::ReturnKind::kSend || consumes ? 0
                    : resumption.kind == replay::ReturnKind::kGenerator      ? end_of_loop(instruction_at(current_))
                                                                             : instruction_at(current_).target;
  frame.parent = consumes ? resumption.here : snapshot();
  const int slots = cpython::slot_count(cpython::code_of(callee));
  const int waiting = std::max(place.depth - 1, 0);
  Ref number = Ref::steal(PyLong_FromLong(frame.number));
  if (!number) {
    throw PythonError();
  }
  const Value first = emit(Op::enter_generator, {iterator}, guarded, 1 + slots + waiting, std::move(number));
  frame.function = first;
  hold(first);
  note(first, reinterpret_cast<PyObject*>(cpython::function_of(callee)));
  for (int slot = 0; slot < slots + waiting; ++slot) {
    PyObject* object = cpython::locals_of(callee)[slot];
    const Value value = first + 1 + slot;
    note(value, object);
    if (slot >= slots) {
      hold(value);
      frame.stack.push_back(value);
    } else if (object != nullptr) {
      hold(value);
      frame.locals.push_back(value);
    } else {
      frame.locals.push_back(kNoValue);
    }
  }
  if (place.depth > 0) {
    hold(sent);
    frame.stack.push_back(sent);
  }
  ShadowFrame& caller = top();
  caller.pending = -1;
  caller.next = call_start();
  caller.call_kind = resumption.kind;
  caller.call_pops = resumption.pops;
  caller.call_instruction = current_;
  graph_.frames.push_back({Ref::create(reinterpret_cast<PyObject*>(home.decoded->shape->code.get())), frame.function,
                           caller.number, resumption.kind, kNoValue, resumption.pops, frame.operation});
  shapes_.push_back(home.shape);
  frames_.push_back(std::move(frame));
  if (instruction_at(place.first).opcode == op::kSEND) {
    top().pending = place.first;  // the body is entered behind its hook
  }
  current_ = place.first;
  state_changed_ = true;
  // A generator that has not started also gets a None sent; the pad pops it.
  const RecordingCode& recording = codes_.of(home.decoded);
  cpython::redirect(callee, recording.code.get(), recording.start_pads[static_cast<std::size_t>(entry)],
                    std::max(place.depth, 1));
}

// From now on the generator's own frame holds the values.
void Generators::release_generator(const ShadowFrame& generator) {
  for (const Value value : generator.stack) {
    release(value);
  }
  for (const Value local : generator.locals) {
    if (local != kNoValue) {
      release(local);
    }
  }
  release(generator.function);
  flush_drops(generator.parent);
  frames_.pop_back();
  state_changed_ = true;
}

}  // namespace tagalong::recorder
