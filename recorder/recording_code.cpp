#include "recorder/recording_code.h"

#include <algorithm>
#include <array>

#include "recorder/rule_table.h"
#include "rewriter/instrument.h"
#include "rewriter/interp/code_link.h"
#include "rewriter/interp/errors.h"
#include "rewriter/unit_map.h"

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::ExceptionRange;
using rewriter::Instruction;

// Behind the original instructions stand the pad where a landing starts the recording, and the handler that tells the
// session when an exception leaves the frame.
struct Additions {
  int pad = 0;
  int handler = 0;
};

Additions add_pad_and_handler(Assembly& assembly, int first, std::uint32_t hook_constant, std::uint32_t key_constant) {
  Additions additions;
  additions.pad = assembly.size();
  assembly.instructions.push_back({op::kPOP_TOP});
  assembly.instructions.push_back({op::kJUMP_BACKWARD_NO_INTERRUPT, 0, first});
  additions.handler = assembly.size();
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
  int covered = first;
  for (const ExceptionRange& range : assembly.ranges) {
    if (range.start > covered) {
      ranges.push_back({covered, range.start, additions.handler, 0, true});
    }
    ranges.push_back(range);
    covered = std::max(covered, range.end);
  }
  if (covered < additions.pad) {
    ranges.push_back({covered, additions.pad, additions.handler, 0, true});
  }
  assembly.ranges = std::move(ranges);
  return additions;
}

const char* refusal_of(const PyCodeObject* code) {
  if ((code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE)) != 0) {
    return "generator";
  }
  constexpr int kFunction = CO_OPTIMIZED | CO_NEWLOCALS;
  return (code->co_flags & kFunction) == kFunction ? nullptr : "namespace";
}

}  // namespace

const rewriter::ExceptionRange* DecodedCode::range_of(int instruction) const {
  const auto covers = [instruction](const ExceptionRange& range) {
    return range.start <= instruction && instruction < range.end;
  };
  const auto found = std::find_if(assembly.ranges.begin(), assembly.ranges.end(), covers);
  return found == assembly.ranges.end() ? nullptr : &*found;
}

int DecodedCode::call_start(int instruction) const {
  const auto opcode_at = [this](int index) { return assembly.instructions[static_cast<std::size_t>(index)].opcode; };
  int start = instruction;
  if (opcode_at(start) == op::kCALL && start > 0 && opcode_at(start - 1) == op::kPRECALL) {
    --start;
    if (start > 0 && opcode_at(start - 1) == op::kKW_NAMES) {
      --start;
    }
  }
  return start;
}

std::shared_ptr<const DecodedCode> DecodedCode::make(PyCodeObject* code) {
  auto decoded = std::make_shared<DecodedCode>();
  decoded->assembly = rewriter::decode(code);
  decoded->refusal = refusal_of(code);
  decoded->first = rewriter::first_resume(decoded->assembly) + 1;
  decoded->is_handler.assign(decoded->assembly.instructions.size(), false);
  for (const ExceptionRange& range : decoded->assembly.ranges) {
    decoded->is_handler[static_cast<std::size_t>(range.target)] = true;
  }
  auto shape = std::make_shared<replay::CodeShape>();
  shape->code = CodeRef::create(code);
  shape->depths = rewriter::stack_depths(decoded->assembly);
  rewriter::EncodeOptions options;
  options.stack_size = decoded->assembly.stack_size;
  shape->units = rewriter::encode(decoded->assembly, options).offsets;
  shape->starts = replay::starts_of(code, shape->units);
  decoded->shape = std::move(shape);
  return decoded;
}

std::unique_ptr<RecordingCode> RecordingCode::make(std::shared_ptr<const DecodedCode> decoded, const Ref& hook) {
  auto recording = std::make_unique<RecordingCode>();
  Assembly assembly = decoded->assembly;
  const int count = assembly.size();
  const Ref key = Ref::steal(PyLong_FromLong(kUnwound));
  if (!key) {
    throw PythonError();
  }
  const auto hook_constant = static_cast<std::uint32_t>(rewriter::add_constant(assembly, hook));
  const auto key_constant = static_cast<std::uint32_t>(rewriter::add_constant(assembly, key));
  const Additions additions = add_pad_and_handler(assembly, decoded->first, hook_constant, key_constant);

  rewriter::HookPlan plan;
  plan.callable = hook;
  plan.before = [&](int index) {
    return index < count && (decoded->is_handler[static_cast<std::size_t>(index)] ||
                             wants_before(assembly.instructions[static_cast<std::size_t>(index)].opcode));
  };
  plan.after = [&](int index) {
    return index < count && wants_after(assembly.instructions[static_cast<std::size_t>(index)].opcode);
  };
  rewriter::Instrumented instrumented = rewriter::instrument(assembly, plan);

  std::vector<std::pair<int, int>> exceptions;
  for (int index = 0; index < count; ++index) {
    exceptions.emplace_back(instrumented.before_hook_offsets[static_cast<std::size_t>(index)], index);
  }
  exceptions.emplace_back(instrumented.offsets[static_cast<std::size_t>(additions.pad)], decoded->first);
  interp::UnitMap units = rewriter::unit_map(instrumented.code.get(), {.original = decoded->assembly,
                                                                       .from = decoded->shape->units,
                                                                       .starts = decoded->shape->starts,
                                                                       .to = instrumented.offsets,
                                                                       .exceptions = std::move(exceptions)});
  if (!interp::set_original(instrumented.code.get(), decoded->shape->code.get(), std::move(units))) {
    throw PythonError();
  }
  recording->callable_constant = instrumented.callable_constant_index;
  recording->start_pad = instrumented.offsets[static_cast<std::size_t>(additions.pad)];
  recording->instruction_at.assign(static_cast<std::size_t>(Py_SIZE(instrumented.code.get())), -1);
  for (int index = 0; index < count; ++index) {
    const int caches = rewriter::info(assembly.instructions[static_cast<std::size_t>(index)].opcode).caches;
    for (int unit = 0; unit <= caches; ++unit) {
      recording
          ->instruction_at[static_cast<std::size_t>(instrumented.offsets[static_cast<std::size_t>(index)] + unit)] =
          index;
    }
  }
  recording->code = std::move(instrumented.code);
  recording->decoded = std::move(decoded);
  return recording;
}

}  // namespace tagalong::recorder
