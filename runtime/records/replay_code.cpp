#include "runtime/records/replay_code.h"

#include <algorithm>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/watch.h"
#include "rewriter/edit.h"
#include "rewriter/snippet.h"
#include "rewriter/unit_map.h"
#include "runtime/base/options.h"
#include "runtime/records/anchor.h"
#include "runtime/records/first_calls.h"
#include "runtime/records/frame_changes.h"
#include "version/snippets.h"

namespace tagalong::runtime {
namespace {

namespace op = rewriter::op;
using recorder::DecodedCode;
using rewriter::Assembly;
using rewriter::Snippet;

// Recording code runs in the same frames and needs this much more stack for its hooks.
constexpr int kHookStack = cpython::kStubStack;

std::uint32_t constant_of(Assembly& assembly, const Ref& object) {
  return static_cast<std::uint32_t>(rewriter::add_constant(assembly, object));
}

// A change of the frame is pending when the iterator has an item: the function makes it while the frame waits.
Snippet redirect_question(Assembly& assembly, const Ref& iterator) {
  const std::uint32_t asked = constant_of(assembly, iterator);
  const std::uint32_t function = constant_of(assembly, redirect_function());
  return Snippet().ask(asked, Snippet().pop(2).call(function).return_value());
}

// The anchor's item is the result.
Snippet entry_stub(Assembly& assembly, const Ref& anchor) {
  Snippet stub = Snippet().ask(constant_of(assembly, anchor), Snippet().put(op::kSWAP, 2).pop().return_value());
  const Snippet question = redirect_question(assembly, redirect_iterator());
  return stub.append(question);
}

// The stub behind the RESUME of a yield, and at the header of a loop. It has the position of the yield, or of the
// header, so that a trace function is not called for the same line again.
Snippet redirect_stub(Assembly& assembly, const Ref& anchor, const rewriter::Position& position) {
  return redirect_question(assembly, anchor).at(position);
}

// Pads, behind the original instructions: a frame that is redirected gets a value pushed. If its stack is to be empty,
// it is redirected to the pad of its instruction, which removes the value and jumps there.
std::vector<int> add_pads(Assembly& assembly, const std::vector<int>& depths) {
  std::vector<int> pads(depths.size(), -1);
  const int count = assembly.size();
  for (int index = 0; index < count; ++index) {
    if (depths[static_cast<std::size_t>(index)] == 0) {
      pads[static_cast<std::size_t>(index)] = assembly.size();
      // Signals are polled where eager execution polls them, not here.
      Snippet().pop().jump_back(index).append_to(&assembly);
    }
  }
  return pads;
}

// Programs see the original in place of this code, in which the original instructions are at these units.
void link(const CodeRef& code, const recorder::DecodedCode& decoded, const std::vector<int>& units,
          std::vector<std::pair<int, int>> exceptions) {
  cpython::UnitMap map = rewriter::unit_map(code.get(), {.original = decoded.assembly,
                                                         .from = decoded.shape->units,
                                                         .starts = decoded.shape->starts,
                                                         .to = units,
                                                         .exceptions = std::move(exceptions)});
  if (!cpython::set_original(code.get(), decoded.shape->code.get(), std::move(map))) {
    throw PythonError();
  }
}

// `sizes`: by entry, the instructions of its stub.
std::vector<rewriter::Insertion> stubs_of(Assembly& assembly, const DecodedCode& decoded,
                                          const std::shared_ptr<CodeRecord>& record, const Ref& anchor,
                                          std::vector<int>* sizes) {
  std::vector<rewriter::Insertion> stubs;
  for (std::size_t index = 0; index < decoded.entries.size(); ++index) {
    const DecodedCode::Entry& entry = decoded.entries[index];
    const bool is_header = entry.place == DecodedCode::Place::kHeader;
    const auto shown = static_cast<std::size_t>(is_header ? entry.first : entry.resume);
    // Where handlers are looked up in front of an instruction, the handler of the next one must be found in the stub.
    const bool is_covered = version::kHandlerIsInFront && index != 0;
    stubs.push_back(
        {.before = is_header ? entry.first : entry.resume + 1,
         .code =
             index == 0
                 ? entry_stub(assembly, anchor).code()
                 : redirect_stub(assembly, make_anchor(record, index), assembly.instructions[shown].position).code(),
         .follows = is_covered ? rewriter::Follows::kNext : rewriter::Follows::kNone,
         .jumps_see_it = is_header});
    sizes->push_back(static_cast<int>(stubs.back().code.size()));
  }
  // In the order of the code; the stubs that jumps lead to come last.
  std::ranges::stable_sort(stubs, {}, &rewriter::Insertion::before);
  return stubs;
}

// This code makes functions of armed code (first_calls.h). As soon as that has replay code, functions are made of it:
// spare constants are reserved for that.
void note_armed(const CodeRef& made, const std::vector<std::pair<std::size_t, std::size_t>>& armed) {
  if (armed.empty()) {
    return;
  }
  const Ref maker = cpython::weak_reference(reinterpret_cast<PyObject*>(made.get()));
  if (!maker) {
    throw PythonError();
  }
  for (const auto& [used, spare] : armed) {
    auto* code = reinterpret_cast<PyCodeObject*>(PyTuple_GET_ITEM(made->co_consts, static_cast<Py_ssize_t>(used)));
    cpython::set_defining_code(code, {maker, static_cast<int>(spare)});
  }
}

// Exchanges code constants for their replay code. The originals are kept behind the other constants; for armed code a
// spare constant is added there.
std::vector<std::pair<std::size_t, std::size_t>> exchange_nested(Assembly& assembly) {
  std::vector<std::pair<std::size_t, std::size_t>> armed;
  const std::size_t count = assembly.constants.size();
  for (std::size_t index = 0; index < count; ++index) {
    PyObject* constant = assembly.constants[index].get();
    auto* code = PyCode_Check(constant) ? reinterpret_cast<PyCodeObject*>(constant) : nullptr;
    if (code == nullptr || cpython::original_of(code) != code) {
      continue;
    }
    PyObject* anchor = anchor_of(code);
    auto* replay = reinterpret_cast<PyObject*>(anchor == nullptr ? nullptr : record_of(anchor)->code.replay_code.get());
    if (replay != nullptr && cpython::code_to_make(constant) == replay) {
      assembly.constants.push_back(assembly.constants[index]);
      assembly.constants[index] = Ref::create(replay);
    } else if (cpython::is_armed(code)) {
      armed.emplace_back(index, assembly.constants.size());
      assembly.constants.emplace_back(Ref::create(Py_None));
    }
  }
  return armed;
}

// Tells the records of replay code among the constants that `made` makes functions of it.
void note_maker(const CodeRef& made, const Assembly& assembly) {
  const auto& constants = assembly.constants;
  for (std::size_t replay = 0; replay < constants.size(); ++replay) {
    if (!PyCode_Check(constants[replay].get())) {
      continue;
    }
    auto* code = reinterpret_cast<PyCodeObject*>(constants[replay].get());
    auto* original = reinterpret_cast<PyObject*>(cpython::original_of(code));
    const auto found = std::ranges::find(constants, original, &cpython::KeptRef::get);
    PyObject* anchor = anchor_of(code);
    if (original == constants[replay].get() || found == constants.end() || anchor == nullptr) {
      continue;
    }
    const auto other = static_cast<std::size_t>(found - constants.begin());
    record_of(anchor)->retirement.makers().add(made, std::min(replay, other), std::max(replay, other));
  }
}

CodeRef build(const std::shared_ptr<const recorder::DecodedCode>& decoded, Ref* anchor_out) {
  const auto owned = std::make_shared<CodeRecord>(decoded);
  TracedCode& code = owned->code;
  ReplayCode& made = code.replay_code;
  Ref anchor = make_anchor(owned, 0);
  Assembly assembly = decoded->assembly;
  const auto count = static_cast<std::size_t>(assembly.size());
  const std::vector<int> pads = add_pads(assembly, decoded->shape->depths);
  const auto armed = exchange_nested(assembly);
  std::vector<int> stub_sizes;
  rewriter::Edited edited = rewriter::insert(assembly, stubs_of(assembly, *decoded, owned, anchor, &stub_sizes));
  for (const DecodedCode::Entry& entry : decoded->entries) {
    const int pad = entry.place == DecodedCode::Place::kHeader ? pads[static_cast<std::size_t>(entry.first)] : -1;
    if (pad >= 0) {  // a frame that is redirected to a header must not run into its stub again
      const auto jump = static_cast<std::size_t>(edited.index[static_cast<std::size_t>(pad)]) + 1;
      edited.assembly.instructions[jump].target = edited.index[static_cast<std::size_t>(entry.first)];
    }
  }
  rewriter::EncodeOptions options;
  options.stack_size = assembly.stack_size + kHookStack;
  const rewriter::Encoded encoded = rewriter::encode(edited.assembly, options);
  const std::vector<int> starts = replay::starts_of(encoded.code.get(), encoded.offsets);
  for (std::size_t index = 0; index < count; ++index) {
    const auto place = static_cast<std::size_t>(edited.index[index]);
    made.units.push_back(encoded.offsets[place]);
    made.starts.push_back(starts[place]);
    made.pads.push_back(
        pads[index] < 0 ? -1 : starts[static_cast<std::size_t>(edited.index[static_cast<std::size_t>(pads[index])])]);
  }
  for (std::size_t index = 0; index < decoded->entries.size(); ++index) {
    const DecodedCode::Entry& place = decoded->entries[index];
    const bool is_header = place.place == DecodedCode::Place::kHeader;
    const int stub = is_header ? edited.index[static_cast<std::size_t>(place.first)] - stub_sizes[index]
                               : edited.index[static_cast<std::size_t>(place.resume)] + 1;
    code.entries[index].stub.first = starts[static_cast<std::size_t>(stub)];
    code.entries[index].stub.before = encoded.offsets[static_cast<std::size_t>(stub - 1)];
    code.entries[index].stub.original =
        made.starts[static_cast<std::size_t>(is_header ? place.first : place.resume + 1)];
  }
  made.shown = recorder::shown_units(decoded->assembly, made.units);
  made.weak = cpython::weak_reference(reinterpret_cast<PyObject*>(encoded.code.get()));
  if (!made.weak) {
    throw PythonError();
  }
  std::vector<std::pair<int, int>> pad_places;
  pad_places.reserve(count + code.entries.size());
  for (std::size_t index = 0; index < count; ++index) {
    pad_places.emplace_back(made.pads[index], static_cast<int>(index));
  }
  for (const Entry& entry : code.entries) {
    if (entry.is(Entry::Kind::kHeader)) {  // a jump to the stub is shown as one to the header
      pad_places.emplace_back(entry.stub.first, entry.place.first);
    }
  }
  link(encoded.code, *decoded, made.units, std::move(pad_places));
  version::copy_local_events(decoded->shape->code.get(), encoded.code.get());
  note_maker(encoded.code, assembly);
  note_armed(encoded.code, armed);
  const bool has_headers = decoded->entries.back().place == DecodedCode::Place::kHeader;
  if (decoded->is_generator || has_headers) {
    auto shape = std::make_shared<replay::CodeShape>(*decoded->shape);
    shape->units = made.units;
    shape->shown = made.shown;
    shape->starts = made.starts;
    shape->starts.push_back(static_cast<int>(Py_SIZE(encoded.code.get())));
    shape->pads = made.pads;
    made.home = std::make_shared<recorder::Home>(recorder::Home{made.weak, std::move(shape), decoded});
  }
  *anchor_out = std::move(anchor);
  return encoded.code;
}

}  // namespace

CodeRef replay_code_of(PyCodeObject* code, std::optional<bool> loops) {
  PyCodeObject* original = cpython::original_of(code);
  const auto known = [original, loops]() -> PyCodeObject* {
    PyObject* anchor = anchor_of(original);
    const TracedCode* code = anchor == nullptr ? nullptr : &record_of(anchor)->code;
    const bool fits = code != nullptr && loops.value_or(code->is_linked()) == code->is_linked();
    return fits ? code->replay_code.get() : nullptr;
  };
  if (PyCodeObject* replay = known()) {
    return CodeRef::create(replay);
  }
  const std::shared_ptr<const DecodedCode> decoded =
      DecodedCode::make(original, loops.value_or(options().limits.loops != 0));
  Ref anchor;
  CodeRef replay = build(decoded, &anchor);
  if (PyCodeObject* other = known()) {  // made meanwhile, by the garbage collection of an allocation here
    return CodeRef::create(other);
  }
  register_anchor(original, anchor.get());
  return replay;
}

CodeRef private_replay_code(const std::shared_ptr<const recorder::DecodedCode>& decoded, Ref* anchor) {
  return build(decoded, anchor);
}

CodeRef graph_code(const recorder::DecodedCode& decoded, const Ref& graph, const std::vector<int>& slots) {
  Assembly assembly = decoded.assembly;
  const PyCodeObject* code = decoded.shape->code.get();
  const auto graph_constant = static_cast<std::uint32_t>(rewriter::add_constant(assembly, graph));
  Snippet stub = Snippet().begin_call(graph_constant);
  for (const int slot : slots) {
    const auto kind = static_cast<unsigned char>(PyBytes_AS_STRING(code->co_localspluskinds)[slot]);
    constexpr unsigned kCellOrFree = 0x40 | 0x80;
    stub.put((kind & kCellOrFree) != 0 ? version::kLoadCell : op::kLOAD_FAST, static_cast<std::uint32_t>(slot));
  }
  stub.put(op::kBUILD_TUPLE, static_cast<std::uint32_t>(slots.size())).end_call(1).return_value();
  // In front of RESUME the frame is invisible. It only hands its arguments over; the graph makes the frame that
  // tracebacks and callees show.
  const rewriter::Edited edited = rewriter::insert(
      assembly,
      {{.before = decoded.first - 1, .code = stub.code(), .follows = rewriter::Follows::kNone, .jumps_see_it = false}});
  rewriter::EncodeOptions options;
  options.stack_size = assembly.stack_size + static_cast<int>(slots.size()) + kHookStack;
  const rewriter::Encoded encoded = rewriter::encode(edited.assembly, options);
  std::vector<int> units;
  units.reserve(edited.index.size());
  for (const int index : edited.index) {
    units.push_back(encoded.offsets[static_cast<std::size_t>(index)]);
  }
  link(encoded.code, decoded, units, {});
  return encoded.code;
}

CodeRef wrap_nested(PyCodeObject* code) {
  Assembly assembly = rewriter::decode(code);
  bool changed = false;
  std::vector<cpython::KeptRef> originals;
  for (cpython::KeptRef& constant : assembly.constants) {
    if (PyCode_Check(constant.get())) {
      const CodeRef inner = wrap_nested(reinterpret_cast<PyCodeObject*>(constant.get()));
      // Bodies of classes run once; only tagalong.record() records them.
      const CodeRef replay = recorder::is_namespace(inner.get()) ? inner : replay_code_of(inner.get());
      changed = changed || reinterpret_cast<PyObject*>(replay.get()) != constant.get();
      if (replay.get() != inner.get()) {
        originals.emplace_back(Ref::create(reinterpret_cast<PyObject*>(cpython::original_of(replay.get()))));
      }
      constant = Ref::create(reinterpret_cast<PyObject*>(replay.get()));
    }
  }
  if (!changed) {
    return CodeRef::create(code);
  }
  assembly.constants.insert(assembly.constants.end(), originals.begin(), originals.end());
  CodeRef wrapped = rewriter::encode(assembly).code;
  note_maker(wrapped, assembly);
  if (!cpython::set_shown(wrapped.get(), cpython::shown_of(code))) {
    throw PythonError();
  }
  return wrapped;
}

CodeRef wrap_module(PyCodeObject* code) {
  if (cpython::original_of(code) != code) {
    return CodeRef::create(code);
  }
  arm_nested(code);
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  if (options().limits.loops == 0 || (code->co_flags & kSuspends) != 0 || !cpython::has_backward_jump(code)) {
    return CodeRef::create(code);
  }
  CodeRef replay = replay_code_of(code);
  record_of(anchor_of(replay.get()))->code.records_calls = false;
  return replay;
}

}  // namespace tagalong::runtime
