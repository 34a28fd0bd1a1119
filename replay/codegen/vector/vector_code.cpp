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
#include "replay/codegen/executable_memory.h"
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

bool has_narrowing(LaneType from, LaneType to) {
  return info(from).bytes > info(to).bytes && is_float(from) == is_float(to) && to != LaneType::kFloat16;
}

bool has_to_float(LaneType from, LaneType to) {
  return !is_float(from) && is_float(to) && info(from).bytes == info(to).bytes && to != LaneType::kFloat16 &&
         (info(from).kind == LaneKind::kSigned || vector_lanes() == kAvx512Lanes);
}

bool has_half() { return vector_lanes() != 0 && has_f16c(); }

// AVX2 has no instruction for unsigned numbers of four bytes.
bool has_widening(LaneType from, LaneType to) {
  if (info(from).bytes >= info(to).bytes || (is_float(from) && !is_float(to))) {
    return false;
  }
  return !is_float(to) || from != LaneType::kUInt32 || vector_lanes() == kAvx512Lanes;
}

namespace {

bool has_functions(std::span<const VectorOperation> operations) {
  return std::ranges::any_of(operations, is_function, &VectorOperation::what);
}

// SVML's functions need AVX-512. glibc's functions are compiled to AVX2 only.
bool are_supported(std::span<const VectorOperation> operations, bool is_avx512) {
  return std::ranges::none_of(operations, [&](const VectorOperation& operation) {
    return is_function(operation.what) && is_glibc(operation.what) == is_avx512;
  });
}

}  // namespace

#ifdef __x86_64__

namespace {

// Slots of the scalars by which arrays of doubles are divided. Empty where reciprocals gain nothing: the latency of a
// single division is hidden behind the other operations.
std::vector<Slot> divisors_of(std::span<const VectorOperation> operations, std::span<const VectorInput> inputs) {
  constexpr int kLeastDivisions = 2;  // counts square roots, too
  std::vector<Slot> found;
  int divisions = 0;
  for (const VectorOperation& operation : operations) {
    if (operation.type != LaneType::kFloat64) {
      continue;
    }
    const bool is_division = operation.what == VectorOp::kDivide || operation.what == VectorOp::kReciprocal;
    divisions += is_division || operation.what == VectorOp::kSqrt ? 1 : 0;
    const bool divides_by_scalar =
        operation.what == VectorOp::kDivide && std::ranges::any_of(inputs, [&](const VectorInput& input) {
          return input.slot == operation.in[1] && input.place == InputKind::kScalar;
        });
    if (divides_by_scalar && std::ranges::find(found, operation.in[1]) == found.end()) {
      found.push_back(operation.in[1]);
    }
  }
  return divisions < kLeastDivisions ? std::vector<Slot>() : found;
}

}  // namespace

VectorCode::VectorCode(const Spec& spec) : spec_(spec) {}

std::shared_ptr<const VectorCode> VectorCode::make(std::span<const VectorOperation> operations,
                                                   std::span<const VectorInput> inputs, std::span<const Slot> stored,
                                                   VectorSum sum, std::span<const Slot> non_temporal,
                                                   const VectorArgmin& argmin, bool prefetches) {
  const int lanes = vector_lanes();
  if (lanes == 0 || !are_supported(operations, lanes == kAvx512Lanes)) {
    return nullptr;
  }
  Spec spec{.lanes = lanes,
            .operations = {operations.begin(), operations.end()},
            .inputs = {inputs.begin(), inputs.end()},
            .stored = {stored.begin(), stored.end()},
            .sum = sum,
            .non_temporal = {non_temporal.begin(), non_temporal.end()},
            .argmin = argmin,
            .prefetches = prefetches};
  using Entry = std::pair<Spec, std::shared_ptr<const VectorCode>>;
  static auto* const cache = new std::list<Entry>;  // most recently used first
  if (const auto known = std::ranges::find(*cache, spec, &Entry::first); known != cache->end()) {
    cache->splice(cache->begin(), *cache, known);
    code_tally.left.add();
    return cache->front().second;
  }
  code_tally.computed.add();
  std::shared_ptr<const VectorCode> code = generate(spec);
  cache->emplace_front(std::move(spec), code);
  if (cache->size() > kMostKept) {
    cache->pop_back();
  }
  return code;
}

VectorCode::Code VectorCode::assemble(const Spec& spec, std::span<const Slot> divisors) {
  // Tries to hoist as many scalars as registers allow, then fewer.
  const KernelSpec kernel{.operations = spec.operations,
                          .inputs = spec.inputs,
                          .stored = spec.stored,
                          .non_temporal = spec.non_temporal,
                          .sum = spec.sum,
                          .divisors = divisors,
                          .argmin = spec.argmin,
                          .prefetches = spec.prefetches};
  const VectorUnit unit = unit_of(spec.lanes, info(spec.operations.front().type).bytes);
  const auto attempt = [&](std::size_t vectors, std::size_t* hoisted) {
    VectorEmitter emitter(kernel, unit, vectors, *hoisted);
    *hoisted = emitter.hoisted();
    if (!emitter.emit()) {
      return Code{};
    }
    const std::span<const std::uint8_t> code = emitter.code();
    void* memory = replay::native::place_code(code);
    return Code{memory, code.size(), reinterpret_cast<decltype(Code::run)>(memory)};
  };
  constexpr int kNotHoisted = 6;
  const auto most_hoisted = static_cast<std::size_t>(unit.registers - kNotHoisted);
  std::size_t vectors = kernel.has_argmin() ? 1 : kMaxVectors;
  Code code;
  for (; vectors > 0; --vectors) {
    for (std::size_t hoisted = most_hoisted; code.memory == nullptr; hoisted = hoisted * 3 / 4) {
      code = attempt(vectors, &hoisted);
      if (hoisted == 0) {
        break;
      }
    }
  }
  if (code.memory != nullptr && replay::native::code_listener != nullptr) {
    replay::native::code_listener(described(spec, code, !divisors.empty()));
  }
  return code;
}

std::shared_ptr<const VectorCode> VectorCode::generate(const Spec& spec) {
  const std::shared_ptr<VectorCode> made(new VectorCode(spec));
  made->code_ = assemble(spec, {});
  if (made->code_.memory == nullptr) {
    return nullptr;
  }
  if (spec.argmin.result >= 0) {
    return made;
  }
  std::vector<Slot> divisors;
  if (spec.lanes == kAvx512Lanes) {
    divisors = divisors_of(spec.operations, spec.inputs);
  }
  made->reciprocal_code_ = divisors.empty() ? Code{} : assemble(spec, divisors);
  if (made->reciprocal_code_.memory != nullptr) {
    made->divisors_ = std::move(divisors);
  }
  return made;
}

#else

std::shared_ptr<const VectorCode> VectorCode::make(std::span<const VectorOperation>, std::span<const VectorInput>,
                                                   std::span<const Slot>, VectorSum, std::span<const Slot>,
                                                   const VectorArgmin&, bool) {
  return nullptr;
}

#endif

std::shared_ptr<const VectorCode> VectorCode::argmin(std::span<const Slot> items, const VectorArgmin& argmin) const {
  constexpr Extent kMostOperations = 256;  // the items of a row are unrolled
  constexpr Extent kOfArgmin = 4;
  const bool has_result = std::ranges::any_of(
      spec_.operations, [&](const VectorOperation& operation) { return operation.out == argmin.result; });
  const bool are_doubles = std::ranges::all_of(
      spec_.operations, [](const VectorOperation& operation) { return operation.type == LaneType::kFloat64; });
  if (!has_result || !are_doubles || has_functions(spec_.operations) ||
      (static_cast<Extent>(spec_.operations.size()) + kOfArgmin) * argmin.row > kMostOperations) {
    return nullptr;
  }
  std::vector<VectorInput> inputs = spec_.inputs;
  for (VectorInput& input : inputs) {
    if (input.place == InputKind::kBools || input.place == InputKind::kWidened || input.place == InputKind::kParts) {
      return nullptr;
    }
    if (std::ranges::find(items, input.slot) != items.end()) {
      input.place = InputKind::kItems;
    }
  }
  return make(spec_.operations, inputs, {}, {}, {}, argmin);
}

void VectorCode::remove(const Code& code) {
  if (code.memory != nullptr) {
    replay::native::remove_code(code.memory, code.size);
  }
}

VectorCode::~VectorCode() {
  for (const Code& code : {code_, reciprocal_code_}) {
    remove(code);
  }
}

}  // namespace tagalong::array
