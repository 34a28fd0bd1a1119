#include "replay/codegen/vector/vector_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/arrays/simd/lanes.h"
#include "replay/codegen/placing.h"
#include "replay/codegen/vector/svml_functions.h"

#ifdef __x86_64__
#include "replay/codegen/vector/vector_emitter.h"
#include "replay/ir/stages.h"
#endif

namespace tagalong::array {

int most_lanes = 8;
LoopTally code_tally;
Tally libms_vectors;

int vector_lanes() {
  if (!replay::is_on(replay::Stage::vector_code)) {
    return 0;
  }
  if (most_lanes >= kAvx512Lanes && has_avx512()) {
    return kAvx512Lanes;
  }
  return most_lanes >= kAvx2Lanes && has_avx2() ? kAvx2Lanes : 0;
}

namespace {

bool has_functions(std::span<const VectorOperation> operations) {
  return std::ranges::any_of(operations, is_function, &VectorOperation::what);
}

// By vectors of eight there are no functions of libm's, by those of four no others.
bool are_here(std::span<const VectorOperation> operations, bool is_avx512) {
  return std::ranges::none_of(operations, [&](const VectorOperation& operation) {
    return is_function(operation.what) && is_glibc(operation.what) == is_avx512;
  });
}

}  // namespace

#ifdef __x86_64__

namespace {

// The numbers by which arrays are divided; none where that is not what the loop's time goes to: one division at a time
// is hidden behind the rest.
std::vector<std::uint8_t> divisors_of(std::span<const VectorOperation> operations,
                                      std::span<const VectorInput> inputs) {
  constexpr int kLeastDivisions = 2;  // or roots
  std::vector<std::uint8_t> found;
  int divisions = 0;
  for (const VectorOperation& operation : operations) {
    const bool divides = operation.what == VectorOp::kDivide || operation.what == VectorOp::kReciprocal;
    divisions += divides || operation.what == VectorOp::kSqrt ? 1 : 0;
    const bool is_number =
        operation.what == VectorOp::kDivide && std::ranges::any_of(inputs, [&](const VectorInput& input) {
          return input.slot == operation.in[1] && input.place == InputKind::kScalar;
        });
    if (is_number && std::ranges::find(found, operation.in[1]) == found.end()) {
      found.push_back(operation.in[1]);
    }
  }
  return divisions < kLeastDivisions ? std::vector<std::uint8_t>() : found;
}

}  // namespace

VectorCode::VectorCode(const Made& made) : made_(made) {}

std::shared_ptr<const VectorCode> VectorCode::make(std::span<const VectorOperation> operations,
                                                   std::span<const VectorInput> inputs,
                                                   std::span<const std::uint8_t> stored, VectorSum sum,
                                                   std::span<const std::uint8_t> non_temporal,
                                                   const VectorArgmin& argmin, bool prefetches) {
  const int lanes = vector_lanes();
  if (lanes == 0 || !are_here(operations, lanes == kAvx512Vectors.lanes)) {
    return nullptr;
  }
  Made wanted{.lanes = lanes,
              .operations = {operations.begin(), operations.end()},
              .inputs = {inputs.begin(), inputs.end()},
              .stored = {stored.begin(), stored.end()},
              .sum = sum,
              .non_temporal = {non_temporal.begin(), non_temporal.end()},
              .argmin = argmin,
              .prefetches = prefetches};
  using Kept = std::pair<Made, std::shared_ptr<const VectorCode>>;
  static auto* const kept = new std::list<Kept>;  // last asked for, first; the last one goes
  if (const auto known = std::ranges::find(*kept, wanted, &Kept::first); known != kept->end()) {
    kept->splice(kept->begin(), *kept, known);
    code_tally.left.add();
    return kept->front().second;
  }
  code_tally.computed.add();
  std::shared_ptr<const VectorCode> code = make_anew(wanted);
  kept->emplace_front(std::move(wanted), code);
  if (kept->size() > kMostKept) {
    kept->pop_back();
  }
  return code;
}

VectorCode::Code VectorCode::place(const Made& made, std::span<const std::uint8_t> divisors) {
  // Scalars are in registers all the time, as far as there are enough.
  const auto attempt = [&](std::size_t vectors, std::size_t* hoisted) {
    const std::unique_ptr<VectorEmitter> emitter = VectorEmitter::make({.operations = made.operations,
                                                                        .inputs = made.inputs,
                                                                        .stored = made.stored,
                                                                        .non_temporal = made.non_temporal,
                                                                        .sum = made.sum,
                                                                        .divisors = divisors,
                                                                        .argmin = made.argmin,
                                                                        .prefetches = made.prefetches},
                                                                       made.lanes);
    const bool is_made = emitter->emit(vectors, *hoisted);
    *hoisted = emitter->hoisted();
    if (!is_made) {
      return Code{};
    }
    void* memory = replay::native::place_code({emitter->getCode(), emitter->getSize()});
    return Code{memory, emitter->getSize(), reinterpret_cast<decltype(Code::run)>(memory)};
  };
  constexpr int kNotHoisted = 6;
  const Vectors& machine = made.lanes == kAvx512Vectors.lanes ? kAvx512Vectors : kAvx2Vectors;
  const auto most_hoisted = static_cast<std::size_t>(machine.registers - kNotHoisted);
  std::size_t vectors = made.argmin.result >= 0 ? 1 : machine.usual;
  Code placed;
  for (; vectors > 0; --vectors) {
    for (std::size_t hoisted = most_hoisted; placed.memory == nullptr; hoisted = hoisted * 3 / 4) {
      placed = attempt(vectors, &hoisted);
      if (hoisted == 0) {
        break;
      }
    }
  }
  if (placed.memory != nullptr && replay::native::code_listener != nullptr) {
    replay::native::code_listener(described(made, placed, !divisors.empty()));
  }
  return placed;
}

std::shared_ptr<const VectorCode> VectorCode::make_anew(const Made& wanted) {
  const std::shared_ptr<VectorCode> made(new VectorCode(wanted));
  made->plain_ = place(wanted, {});
  if (made->plain_.memory == nullptr) {
    return nullptr;
  }
  if (wanted.argmin.result >= 0) {
    return made;
  }
  std::vector<std::uint8_t> divisors;
  if (wanted.lanes == kAvx512Vectors.lanes) {
    divisors = divisors_of(wanted.operations, wanted.inputs);
  }
  made->multiplying_ = divisors.empty() ? Code{} : place(wanted, divisors);
  if (made->multiplying_.memory != nullptr) {
    made->divisors_ = std::move(divisors);
  }
  return made;
}

#else

std::shared_ptr<const VectorCode> VectorCode::make(std::span<const VectorOperation>, std::span<const VectorInput>,
                                                   std::span<const std::uint8_t>, VectorSum,
                                                   std::span<const std::uint8_t>, const VectorArgmin&, bool) {
  return nullptr;
}

#endif

std::shared_ptr<const VectorCode> VectorCode::argmin(std::span<const std::uint8_t> items,
                                                     const VectorArgmin& argmin) const {
  constexpr Extent kMostOperations = 256;  // a row is written out
  constexpr Extent kOfArgmin = 4;
  const bool is_here = std::ranges::any_of(
      made_.operations, [&](const VectorOperation& operation) { return operation.out == argmin.result; });
  if (!is_here || has_functions(made_.operations) ||
      (static_cast<Extent>(made_.operations.size()) + kOfArgmin) * argmin.row > kMostOperations) {
    return nullptr;
  }
  std::vector<VectorInput> inputs = made_.inputs;
  for (VectorInput& input : inputs) {
    if (input.place == InputKind::kBools) {
      return nullptr;
    }
    if (std::ranges::find(items, input.slot) != items.end()) {
      input.place = InputKind::kItems;
    }
  }
  return make(made_.operations, inputs, {}, {}, {}, argmin);
}

void VectorCode::remove(const Code& code) {
  if (code.memory != nullptr) {
    replay::native::remove_code(code.memory, code.size);
  }
}

VectorCode::~VectorCode() {
  for (const Code& code : {plain_, multiplying_}) {
    remove(code);
  }
}

}  // namespace tagalong::array
