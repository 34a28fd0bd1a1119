#include "recorder/recording_code.h"

#include <algorithm>
#include <array>
#include <map>

#include "recorder/deferred/preparation.h"
#include "recorder/leaving.h"
#include "recorder/rules/rule_table.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/hook_key.h"
#include "rewriter/instrument.h"
#include "rewriter/unit_map.h"

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::ExceptionRange;
using rewriter::Instruction;

// Behind the original instructions stand the pads where a landing starts the recording, and the handler that tells the
// session when an exception leaves the frame.
std::vector<int> add_pads_and_handler(Assembly& assembly, const DecodedCode& decoded,
                                      const std::vector<DecodedCode::Entry>& starts, std::uint32_t hook_constant,
                                      std::uint32_t key_constant) {
  const int end = assembly.size();
  std::vector<int> pads;
  for (const DecodedCode::Entry& entry : starts) {
    pads.push_back(assembly.size());
    // In front of the jump, which may have an EXTENDED_ARG.
    assembly.instructions.push_back({entry.depth == 0 ? op::kPOP_TOP : op::kNOP});
    assembly.instructions.push_back({op::kJUMP_BACKWARD_NO_INTERRUPT, 0, entry.first});
  }
  const int handler = assembly.size();
  for (const Instruction& instruction : std::array<Instruction, 7>{{{op::kPUSH_NULL},
                                                                    {op::kLOAD_CONST, hook_constant},
                                                                    {op::kLOAD_CONST, key_constant},
                                                                    {op::kPRECALL, 1},
                                                                    {op::kCALL, 1},
                                                                    {op::kPOP_TOP},
                                                                    {op::kRERAISE, 1}}}) {
    assembly.instructions.push_back(instruction);
  }
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

std::vector<bool> regular_places(const DecodedCode& decoded) {
  const auto& instructions = decoded.assembly.instructions;
  std::vector<bool> regular(instructions.size() + 1, false);
  std::vector<std::size_t> open = {static_cast<std::size_t>(decoded.first)};
  while (!open.empty()) {
    std::size_t place = open.back();
    open.pop_back();
    while (place < instructions.size() && !regular[place]) {
      regular[place] = true;
      const rewriter::OpcodeInfo& info = rewriter::info(instructions[place].opcode);
      if (info.jumps()) {
        open.push_back(static_cast<std::size_t>(instructions[place].target));
      }
      if (!info.falls_through()) {
        break;
      }
      ++place;
    }
  }
  return regular;
}

std::vector<DecodedCode::Entry> entries_of(const DecodedCode& decoded) {
  std::vector<DecodedCode::Entry> entries = {{decoded.first - 1, decoded.first, 0}};
  const auto& instructions = decoded.assembly.instructions;
  for (int index = decoded.first + 1; decoded.is_generator && index + 1 < decoded.assembly.size(); ++index) {
    const auto place = static_cast<std::size_t>(index);
    if (instructions[place].opcode != op::kRESUME || instructions[place - 1].opcode != op::kYIELD_VALUE ||
        !decoded.regular[place]) {
      continue;
    }
    DecodedCode::Entry entry{index, index + 1, decoded.shape->depths[place + 1], DecodedCode::Place::kYield};
    constexpr unsigned kDelegates = 2;
    if ((instructions[place].arg & 3U) >= kDelegates) {
      const Instruction& back = instructions[place + 1];
      if (back.opcode != op::kJUMP_BACKWARD_NO_INTERRUPT || back.target != index - 2 ||
          instructions[place - 2].opcode != op::kSEND) {
        continue;
      }
      entry.first = back.target;
    }
    if (entry.depth > 0) {
      entries.push_back(entry);
    }
  }
  return entries;
}

// Loops that are reached without an exception, by their headers.
void add_headers(DecodedCode& decoded) {
  std::map<int, int> last_jumps;
  for (int index = decoded.first; index < decoded.assembly.size(); ++index) {
    const Instruction& instruction = decoded.assembly.instructions[static_cast<std::size_t>(index)];
    const bool jumps_back = rewriter::info(instruction.opcode).jumps() && instruction.target <= index &&
                            instruction.opcode != op::kJUMP_BACKWARD_NO_INTERRUPT;
    if (jumps_back && decoded.regular[static_cast<std::size_t>(index)]) {
      last_jumps[instruction.target] = index;
    }
  }
  for (const auto& [header, jump] : last_jumps) {
    decoded.entries.push_back(
        {jump, header, decoded.shape->depths[static_cast<std::size_t>(header)], DecodedCode::Place::kHeader});
  }
}

// What stands in front of each yield of a generator's recording code: a landing at that yield in the frame's home.
class Departures {
 public:
  Departures(Assembly& assembly, const HomeRef& home) : keys_(assembly.instructions.size()) {
    iterator_ = add(assembly, departure_iterator());
    function_ = add(assembly, leaving_function());
    add(assembly, home_constant(home));
    for (std::size_t index = 0; index < keys_.size(); ++index) {
      if (assembly.instructions[index].opcode == op::kYIELD_VALUE) {
        keys_[index] = add(assembly, rewriter::hook_key(2 * static_cast<int>(index)));
      }
    }
  }

  [[nodiscard]] std::vector<Instruction> code(int yield) const {
    constexpr std::int32_t kNoDeparture = 10;
    return {{op::kLOAD_CONST, iterator_},
            {op::kFOR_ITER, 0, kNoDeparture},
            {op::kPOP_TOP},
            {op::kPOP_TOP},
            {op::kPUSH_NULL},
            {op::kLOAD_CONST, function_},
            {op::kLOAD_CONST, keys_[static_cast<std::size_t>(yield)]},
            {op::kPRECALL, 1},
            {op::kCALL, 1},
            {op::kPOP_TOP}};
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

// Only then there are operations that need hooks for arrays.
bool has_arrays_now() { return array::imported_module("numpy") != nullptr; }

}  // namespace

bool is_namespace(const PyCodeObject* code) {
  constexpr int kFunction = CO_OPTIMIZED | CO_NEWLOCALS;
  return (code->co_flags & kFunction) != kFunction;
}

const rewriter::ExceptionRange* DecodedCode::range_of(int instruction) const {
  const auto covers = [instruction](const ExceptionRange& range) {
    return range.start <= instruction && instruction < range.end;
  };
  const auto found = std::ranges::find_if(assembly.ranges, covers);
  return found == assembly.ranges.end() ? nullptr : &*found;
}

int DecodedCode::call_start(int instruction) const {
  const auto opcode_at = [this](int index) { return assembly.instructions[static_cast<std::size_t>(index)].opcode; };
  int start = instruction;
  if (opcode_at(start) == op::kCALL && start > 0 && opcode_at(start - 1) == op::kPRECALL) {
    --start;
  }
  if (opcode_at(start) == op::kPRECALL && start > 0 && opcode_at(start - 1) == op::kKW_NAMES) {
    --start;
  }
  return start;
}

std::size_t DecodedCode::call_place() const {
  const auto end = assembly.instructions.begin() + first;
  const auto found = std::find_if(assembly.instructions.begin(), end, [](const Instruction& instruction) {
    return instruction.opcode == op::kRETURN_GENERATOR || instruction.opcode == op::kRESUME;
  });
  return static_cast<std::size_t>(found - assembly.instructions.begin());
}

bool DecodedCode::polls_eval_breaker(int instruction, bool is_after) const {
  const auto opcode = assembly.instructions[static_cast<std::size_t>(instruction)].opcode;
  return is_after ? opcode == op::kCALL || opcode == op::kCALL_FUNCTION_EX : opcode == op::kJUMP_BACKWARD;
}

std::vector<int> shown_units(const Assembly& assembly, const std::vector<int>& units) {
  std::vector<int> shown = units;
  for (std::size_t index = assembly.instructions.size(); index-- > 1;) {
    const int before = assembly.instructions[index - 1].opcode;
    const int opcode = assembly.instructions[index].opcode;
    if ((before == op::kPRECALL && opcode == op::kCALL) || (before == op::kKW_NAMES && opcode == op::kPRECALL)) {
      shown[index - 1] = shown[index];
    }
  }
  return shown;
}

std::shared_ptr<const DecodedCode> DecodedCode::make(PyCodeObject* code, bool with_headers) {
  auto decoded = std::make_shared<DecodedCode>();
  decoded->assembly = rewriter::decode(code);
  decoded->is_namespace = recorder::is_namespace(code);
  decoded->first = rewriter::first_resume(decoded->assembly) + 1;
  decoded->is_handler.assign(decoded->assembly.instructions.size(), false);
  for (const ExceptionRange& range : decoded->assembly.ranges) {
    decoded->is_handler[static_cast<std::size_t>(range.target)] = true;
  }
  auto shape = std::make_shared<replay::CodeShape>();
  decoded->code = CodeRef::create(code);
  shape->code = replay::BorrowedCode(code);
  shape->depths = rewriter::stack_depths(decoded->assembly);
  rewriter::EncodeOptions options;
  options.stack_size = decoded->assembly.stack_size;
  shape->units = rewriter::encode(decoded->assembly, options).offsets;
  shape->shown = shown_units(decoded->assembly, shape->units);
  shape->starts = replay::starts_of(code, shape->units);
  decoded->shape = std::move(shape);
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  decoded->is_generator = (code->co_flags & kSuspends) != 0;
  decoded->spans = find_array_spans(decoded->assembly, decoded->is_generator);
  decoded->regular = regular_places(*decoded);
  decoded->entries = entries_of(*decoded);
  decoded->is_joined = with_headers;
  if (decoded->is_joined) {
    add_headers(*decoded);
  }
  return decoded;
}

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
  const bool has_arrays = has_arrays_now();
  plan.before = [&](int index) {
    if (index >= count) {
      return false;
    }
    const auto place = static_cast<std::size_t>(index);
    const std::uint8_t opcode = assembly.instructions[place].opcode;
    return decoded->is_handler[place] || wants_before(opcode) ||
           (has_arrays && (may_have_array_proxy(opcode) || decoded->spans.wants_hook(index)));
  };
  plan.after = [&](int index) {
    if (index >= count) {
      return false;
    }
    const std::uint8_t opcode = assembly.instructions[static_cast<std::size_t>(index)].opcode;
    return wants_after(opcode) || (has_every_hook && rule_time(opcode) == When::kLater);
  };
  if (home != nullptr) {
    plan.departure = [departures = Departures(assembly, home)](int yield) { return departures.code(yield); };
    if (PyObject* code = PyWeakref_GetObject(home->code.get()); code != Py_None && !decoded->is_generator) {
      plan.stack_size = reinterpret_cast<PyCodeObject*>(code)->co_stacksize;  // the frame goes there again
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

bool RecordingCode::serves_again(const DecodedCode& wanted, const HomeRef& its_home, bool every_hook) const {
  const bool is_unused = Py_REFCNT(reinterpret_cast<PyObject*>(code.get())) == 1;
  return is_unused && decoded.get() == &wanted && home == its_home && has_every_hook == every_hook && !has_elsewhere &&
         has_array_hooks == has_arrays_now();
}

void RecordingCode::take_hook(const Ref& hook) const { cpython::replace_constant(code.get(), callable_constant, hook); }

}  // namespace tagalong::recorder
