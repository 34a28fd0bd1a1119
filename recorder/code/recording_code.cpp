#include "recorder/code/recording_code.h"

#include <algorithm>

#include "recorder/code/leaving.h"
#include "recorder/code/rule_times.h"
#include "recorder/deferred/preparation.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/hook_key.h"
#include "rewriter/instrument.h"
#include "rewriter/snippet.h"
#include "rewriter/unit_map.h"

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::ExceptionRange;
using rewriter::Instruction;
using rewriter::Snippet;

// Behind the original instructions come the pads, where a redirect starts the recording, and the handler that tells the
// session that an exception leaves the frame.
std::vector<int> add_pads_and_handler(Assembly& assembly, const DecodedCode& decoded,
                                      const std::vector<DecodedCode::Entry>& starts, std::uint32_t hook_constant,
                                      std::uint32_t key_constant) {
  const int end = assembly.size();
  std::vector<int> pads;
  for (const DecodedCode::Entry& entry : starts) {
    pads.push_back(assembly.size());
    // In front of the jump, which may need an EXTENDED_ARG.
    Snippet().put(entry.depth == 0 ? op::kPOP_TOP : op::kNOP).jump_back(entry.first).append_to(&assembly);
  }
  const int handler = assembly.size();
  Snippet().call(hook_constant, {key_constant}).pop().put(op::kRERAISE, 1).append_to(&assembly);
  std::vector<ExceptionRange> ranges;
  int covered = decoded.first;
  for (const ExceptionRange& range : assembly.ranges) {
    if (range.start > covered) {
      ranges.push_back({covered, range.start, handler, 0, true});
    }
    ranges.push_back(range);
    covered = std::max(covered, range.end);
  }
  if (covered < end) {
    ranges.push_back({covered, end, handler, 0, true});
  }
  assembly.ranges = std::move(ranges);
  return pads;
}

// The departure in front of each yield of a generator's recording code: a redirect to the same yield of the frame's
// home.
class Departures {
 public:
  Departures(Assembly& assembly, const HomeRef& home) : keys_(assembly.instructions.size()) {
    iterator_ = add(assembly, leaving_iterator());
    function_ = add(assembly, leaving_function());
    add(assembly, home_constant(home));
    for (std::size_t index = 0; index < keys_.size(); ++index) {
      if (assembly.instructions[index].opcode == op::kYIELD_VALUE) {
        keys_[index] = add(assembly, rewriter::hook_key(2 * static_cast<int>(index)));
      }
    }
  }

  [[nodiscard]] std::vector<Instruction> code(int yield) const {
    return Snippet()
        .ask(iterator_, Snippet().pop(2).call(function_, {keys_[static_cast<std::size_t>(yield)]}).pop())
        .code();
  }

 private:
  static std::uint32_t add(Assembly& assembly, const Ref& object) {
    if (!object) {
      throw PythonError();
    }
    return static_cast<std::uint32_t>(rewriter::add_constant(assembly, object));
  }

  std::uint32_t iterator_ = 0;
  std::uint32_t function_ = 0;
  std::vector<std::uint32_t> keys_;
};

// Only if NumPy is imported can there be operations that need hooks for arrays.
bool has_arrays_now() { return array::imported_module("numpy") != nullptr; }

}  // namespace

std::shared_ptr<RecordingCode> RecordingCode::make(std::shared_ptr<const DecodedCode> decoded, const Ref& hook,
                                                   const HomeRef& home, bool has_every_hook,
                                                   const DecodedCode::Entry* elsewhere) {
  auto recording = std::make_shared<RecordingCode>();
  Assembly assembly = decoded->assembly;
  const int count = assembly.size();
  const Ref key = rewriter::hook_key(kUnwound);
  const auto hook_constant = static_cast<std::uint32_t>(rewriter::add_constant(assembly, hook));
  const auto key_constant = static_cast<std::uint32_t>(rewriter::add_constant(assembly, key));
  const Ref known = decoded_constant(decoded);
  if (!known) {
    throw PythonError();
  }
  rewriter::add_constant(assembly, known);
  std::vector<DecodedCode::Entry> starts = decoded->entries;
  if (elsewhere != nullptr) {
    starts.push_back(*elsewhere);
  }
  const std::vector<int> pads = add_pads_and_handler(assembly, *decoded, starts, hook_constant, key_constant);

  rewriter::HookPlan plan;
  plan.callable = hook;
  plan.splits_super = true;
  const bool has_arrays = has_arrays_now();
  plan.before = [&](int index) {
    if (index >= count) {
      return false;
    }
    const auto place = static_cast<std::size_t>(index);
    const rewriter::Opcode opcode = assembly.instructions[place].opcode;
    return decoded->is_handler[place] || wants_before(opcode) ||
           (has_arrays && (may_have_array_proxy(opcode) || decoded->spans.wants_hook(index)));
  };
  plan.after = [&](int index) {
    if (index >= count) {
      return false;
    }
    const rewriter::Opcode opcode = assembly.instructions[static_cast<std::size_t>(index)].opcode;
    return wants_after(opcode) || (has_every_hook && rule_time(opcode) == When::kLater);
  };
  if (home != nullptr) {
    plan.departure = [departures = Departures(assembly, home)](int yield) { return departures.code(yield); };
    if (PyObject* code = PyWeakref_GET_OBJECT(home->code.get());
        code != Py_None && (!decoded->is_generator || !version::kGeneratorsHaveSize)) {
      plan.stack_size = reinterpret_cast<PyCodeObject*>(code)->co_stacksize;  // the frame goes back to that code
    }
  }
  rewriter::Instrumented instrumented = rewriter::instrument(assembly, plan);

  std::vector<std::pair<int, int>> exceptions;
  exceptions.reserve(static_cast<std::size_t>(count) + pads.size());
  for (int index = 0; index < count; ++index) {
    exceptions.emplace_back(instrumented.before_hook_offsets[static_cast<std::size_t>(index)], index);
  }
  for (std::size_t entry = 0; entry < pads.size(); ++entry) {
    exceptions.emplace_back(instrumented.offsets[static_cast<std::size_t>(pads[entry])], starts[entry].first);
  }
  cpython::UnitMap units = rewriter::unit_map(instrumented.code.get(), {.original = decoded->assembly,
                                                                        .from = decoded->shape->units,
                                                                        .starts = decoded->shape->starts,
                                                                        .to = instrumented.offsets,
                                                                        .exceptions = std::move(exceptions)});
  if (!cpython::set_original(instrumented.code.get(), decoded->shape->code.get(), std::move(units))) {
    throw PythonError();
  }
  recording->callable_constant = instrumented.callable_constant_index;
  for (const int pad : pads) {
    recording->start_pads.push_back(instrumented.offsets[static_cast<std::size_t>(pad)]);
  }
  recording->start_pad = recording->start_pads.back();
  recording->instruction_at.assign(static_cast<std::size_t>(Py_SIZE(instrumented.code.get())), -1);
  for (int index = 0; index < count; ++index) {
    const int caches = rewriter::info(assembly.instructions[static_cast<std::size_t>(index)].opcode).caches;
    for (int unit = 0; unit <= caches; ++unit) {
      recording
          ->instruction_at[static_cast<std::size_t>(instrumented.offsets[static_cast<std::size_t>(index)] + unit)] =
          index;
    }
  }
  for (const auto& [unit, send] : instrumented.send_copies) {
    recording->instruction_at[static_cast<std::size_t>(unit)] = send;
  }
  recording->home = home;
  recording->has_every_hook = has_every_hook;
  recording->has_array_hooks = has_arrays;
  recording->has_elsewhere = elsewhere != nullptr;
  recording->code = std::move(instrumented.code);
  recording->decoded = std::move(decoded);
  return recording;
}

bool RecordingCode::is_reusable(const DecodedCode& wanted, const HomeRef& its_home, bool every_hook) const {
  const bool is_unused = Py_REFCNT(reinterpret_cast<PyObject*>(code.get())) == 1;
  return is_unused && decoded.get() == &wanted && home == its_home && has_every_hook == every_hook && !has_elsewhere &&
         has_array_hooks == has_arrays_now();
}

void RecordingCode::take_hook(const Ref& hook) const { cpython::replace_constant(code.get(), callable_constant, hook); }

}  // namespace tagalong::recorder
