#include "runtime/specialize/specialized_code.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/ir/code_shape.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/edit.h"
#include "rewriter/unit_map.h"

namespace tagalong::runtime {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::Instruction;

constexpr int kStubStack = 3;

std::vector<Instruction> dispatching_stub(Assembly& assembly, const Ref& dispatcher, const Ref& redirect_iterator,
                                          const Ref& redirect_frame) {
  const auto constant = [&assembly](const Ref& object) {
    return static_cast<std::uint32_t>(rewriter::add_constant(assembly, object));
  };
  constexpr std::int32_t kNoItem = 3;
  constexpr std::int32_t kOriginal = 12;
  return {
      {op::kLOAD_CONST, constant(dispatcher)},  // 0: has the dispatcher an item?
      {op::kFOR_ITER, 0, kNoItem},
      {op::kRETURN_VALUE},  // 2: yes: it is the result; the frame frees the dispatcher below it
      {op::kLOAD_CONST, constant(redirect_iterator)},  // 3: no: does the call continue in other code?
      {op::kFOR_ITER, 0, kOriginal},
      {op::kPOP_TOP},  // 5: yes: the function changes this frame while it waits
      {op::kPOP_TOP},
      {op::kPUSH_NULL},
      {op::kLOAD_CONST, constant(redirect_frame)},
      {op::kPRECALL, 0},
      {op::kCALL, 0},
      {op::kRETURN_VALUE},  // never reached
  };
}

// Programs see the code it was made of, whose instructions are now at the units `to`.
void show_as(PyCodeObject* made, PyCodeObject* original, const Assembly& assembly, const std::vector<int>& to,
             std::vector<std::pair<int, int>> exceptions) {
  const rewriter::Encoded as_it_was = rewriter::encode(assembly, {.stack_size = assembly.stack_size});
  cpython::UnitMap map = rewriter::unit_map(made, {.original = assembly,
                                                   .from = as_it_was.offsets,
                                                   .starts = replay::starts_of(original, as_it_was.offsets),
                                                   .to = to,
                                                   .exceptions = std::move(exceptions)});
  if (!cpython::set_shown(made, cpython::shown_of(original), std::move(map))) {
    throw PythonError();
  }
}

}  // namespace

CodeRef dispatching_code(PyCodeObject* original, const Ref& dispatcher, const Ref& redirect_iterator,
                         const Ref& redirect_frame, int slots) {
  const Assembly plain = rewriter::decode(original);
  rewriter::stack_depths(plain);  // refuses code that overruns its stack
  Assembly assembly = plain;
  std::vector<Instruction> stub = dispatching_stub(assembly, dispatcher, redirect_iterator, redirect_frame);
  const rewriter::Edited edited = rewriter::insert(
      assembly, {{.before = 0, .code = std::move(stub), .follows = rewriter::Follows::kNone, .jumps_see_it = false}});
  const int stack = std::max({plain.stack_size, kStubStack, slots - original->co_nlocalsplus});
  const rewriter::Encoded encoded = rewriter::encode(edited.assembly, {.stack_size = stack});
  std::vector<int> to;
  to.reserve(edited.index.size());
  for (const int index : edited.index) {
    to.push_back(encoded.offsets[static_cast<std::size_t>(index)]);
  }
  show_as(encoded.code.get(), original, plain, to, {});
  return encoded.code;
}

EnteredCode entered_code(PyCodeObject* specialised) {
  const Assembly plain = rewriter::decode(specialised);
  const int needed = rewriter::largest_depth(plain, rewriter::stack_depths(plain));
  Assembly assembly = plain;
  const auto pad = static_cast<std::size_t>(assembly.size());
  assembly.instructions.push_back({op::kPOP_TOP});
  assembly.instructions.push_back({op::kJUMP_BACKWARD_NO_INTERRUPT, 0, 0});
  const rewriter::Encoded encoded = rewriter::encode(assembly, {.stack_size = std::max({plain.stack_size, needed, 1})});
  const std::vector<int> to(encoded.offsets.begin(), encoded.offsets.begin() + static_cast<std::ptrdiff_t>(pad));
  const int unit = encoded.offsets[pad];
  show_as(encoded.code.get(), specialised, plain, to, {{unit, 0}});
  return {encoded.code, unit};
}

Ref constant_result(PyCodeObject* code) {
  constexpr int kOther = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  const Assembly assembly = rewriter::decode(code);
  const auto& all = assembly.instructions;
  if ((code->co_flags & kOther) != 0 || all.size() != 3 || all[0].opcode != op::kRESUME ||
      all[1].opcode != op::kLOAD_CONST || all[2].opcode != op::kRETURN_VALUE) {
    return {};
  }
  return assembly.constants[all[1].arg];
}

}  // namespace tagalong::runtime
