// Short pieces of new bytecode, in the shape that this version of CPython asks for: calls, and questions to iterators.
// Targets of jumps are those of inserted code (edit.h), so pieces follow each other, and the last one may lead to the
// instruction in front of which all of it is inserted.
//
//   Snippet stub;
//   stub.ask(iterator, Snippet().pop(2).call(function).pop());   // if the iterator has an item: function()
//   insertion.code = stub.code();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

class Snippet {
 public:
  Snippet& put(Opcode opcode, std::uint32_t argument = 0) {
    code_.push_back({.opcode = opcode, .arg = argument});
    return *this;
  }
  Snippet& load_constant(std::uint32_t constant) { return put(op::kLOAD_CONST, constant); }
  Snippet& pop(int count = 1);
  Snippet& return_value() { return put(op::kRETURN_VALUE); }

  // Calls a constant. Between the two parts, the code puts the arguments on the stack.
  Snippet& begin_call(std::uint32_t callable);
  Snippet& end_call(std::uint32_t arguments);
  Snippet& call(std::uint32_t callable, std::initializer_list<std::uint32_t> arguments = {});

  // Calls next() on a constant. If there is an item, `then` goes on with the iterator and the item on the stack, and
  // either leaves the frame or removes both.
  Snippet& ask(std::uint32_t iterator, const Snippet& then);

  Snippet& append(const Snippet& other);

  // Jumps backward without polling the eval breaker.
  Snippet& jump_back(std::int32_t target);

  // Gives all instructions this position.
  Snippet& at(const Position& position);

  // Adds the code behind the instructions of an assembly; targets of jumps are indices of the assembly.
  void append_to(Assembly* assembly) const {
    assembly->instructions.insert(assembly->instructions.end(), code_.begin(), code_.end());
  }

  [[nodiscard]] int size() const { return static_cast<int>(code_.size()); }
  [[nodiscard]] const std::vector<Instruction>& code() const& { return code_; }
  [[nodiscard]] std::vector<Instruction> code() && { return std::move(code_); }

  // Stack slots that a call of a constant with one argument needs.
  static constexpr int kCallStack = 3;

 private:
  std::vector<Instruction> code_;
};

}  // namespace tagalong::rewriter
