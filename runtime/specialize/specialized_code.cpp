#include "runtime/specialize/specialized_code.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/ir/code_shape.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/edit.h"
#include "rewriter/snippet.h"
#include "rewriter/unit_map.h"

namespace tagalong::runtime {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::Snippet;

constexpr int kStubStack = Snippet::kCallStack;

// The dispatcher's item is the result, and the frame frees the dispatcher below it. Without an item, the call may
// continue in other code: then the function changes this frame while it waits.
Snippet dispatching_stub(Assembly& assembly, const Ref& dispatcher, const Ref& redirect_iterator,
                         const Ref& redirect_frame) {
  const auto constant = [&assembly](const Ref& object) {
    return static_cast<std::uint32_t>(rewriter::add_constant(assembly, object));
  };
  const std::uint32_t asked = constant(dispatcher);
  const std::uint32_t iterator = constant(redirect_iterator);
  const std::uint32_t function = constant(redirect_frame);
  return Snippet().ask(asked, Snippet().return_value()).ask(iterator, Snippet().pop(2).call(function).return_value());
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
  const Snippet stub = dispatching_stub(assembly, dispatcher, redirect_iterator, redirect_frame);
  const rewriter::Edited edited = rewriter::insert(
      assembly, {{.before = 0, .code = stub.code(), .follows = rewriter::Follows::kNone, .jumps_see_it = false}});
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
  Snippet().pop().jump_back(0).append_to(&assembly);
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
