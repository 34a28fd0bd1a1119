#include "rewriter/snippet.h"

#include "version/snippets.h"

namespace tagalong::rewriter {

Snippet& Snippet::pop(int count) {
  for (; count > 0; --count) {
    put(op::kPOP_TOP);
  }
  return *this;
}

Snippet& Snippet::begin_call(std::uint32_t callable) {
  if (version::kNullBelowCallable) {
    return put(op::kPUSH_NULL).load_constant(callable);
  }
  return load_constant(callable).put(op::kPUSH_NULL);
}

Snippet& Snippet::end_call(std::uint32_t arguments) {
  if (version::kHasPrecall) {
    put(op::kPRECALL, arguments);
  }
  return put(op::kCALL, arguments);
}

Snippet& Snippet::call(std::uint32_t callable, std::initializer_list<std::uint32_t> arguments) {
  begin_call(callable);
  for (const std::uint32_t argument : arguments) {
    load_constant(argument);
  }
  return end_call(static_cast<std::uint32_t>(arguments.size()));
}

Snippet& Snippet::ask(std::uint32_t iterator, const Snippet& then) {
  load_constant(iterator);
  const bool jumps = !version::kEndOfLoop.empty() && info(then.code_.back().opcode).falls_through();
  const std::int32_t end = size() + 1 + then.size() + (jumps ? 1 : 0);
  code_.push_back({.opcode = op::kFOR_ITER, .target = end});
  append(then);
  if (jumps) {
    code_.push_back(
        {.opcode = op::kJUMP_FORWARD, .target = end + static_cast<std::int32_t>(version::kEndOfLoop.size())});
  }
  for (const Opcode opcode : version::kEndOfLoop) {
    put(opcode);
  }
  return *this;
}

Snippet& Snippet::append(const Snippet& other) {
  const std::int32_t offset = size();
  for (Instruction instruction : other.code_) {
    instruction.target += instruction.target >= 0 ? offset : 0;
    code_.push_back(instruction);
  }
  return *this;
}

Snippet& Snippet::jump_back(std::int32_t target) {
  code_.push_back({.opcode = op::kJUMP_BACKWARD_NO_INTERRUPT, .target = target});
  return *this;
}

Snippet& Snippet::at(const Position& position) {
  for (Instruction& instruction : code_) {
    instruction.position = position;
  }
  return *this;
}

}  // namespace tagalong::rewriter
