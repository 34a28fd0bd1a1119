#include "recorder/code/decoded_code.h"

#include <map>

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::ExceptionRange;
using rewriter::Instruction;

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

// Headers of the loops that can be reached without an exception.
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
    const auto number = static_cast<int>(index);
    if (rewriter::start_of_call(assembly, number) != number) {
      shown[index - 1] = shown[index];
    }
  }
  return shown;
}

int DecodedCode::previous(int instruction) const {
  const auto& instructions = assembly.instructions;
  if (instruction == 0 ||
      rewriter::info(instructions[static_cast<std::size_t>(instruction - 1)].opcode).falls_through()) {
    return instruction - 1;
  }
  int jump = instruction - 1;
  while (jump >= 0 && instructions[static_cast<std::size_t>(jump)].target != instruction) {
    --jump;
  }
  return jump;
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

}  // namespace tagalong::recorder
