#include "replay/codegen/vector/exact_code.h"

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
#include "replay/codegen/vector/vector_functions.h"

#ifdef __x86_64__
#include "replay/codegen/vector/exact_emitter.h"
#endif

namespace tagalong::array {

int most_lanes = 8;
LoopTally code_tally;
Tally libms_vectors;

int exact_lanes() {
  if (most_lanes >= kWideLanes && has_avx512()) {
    return kWideLanes;
  }
  return most_lanes >= kNarrowLanes && has_avx2() ? kNarrowLanes : 0;
}

namespace {

bool has_functions(std::span<const ExactOperation> operations) {
  return std::ranges::any_of(operations, is_function, &ExactOperation::what);
}

// By vectors of eight there are no functions of libm's, by those of four no others.
bool are_here(std::span<const ExactOperation> operations, bool is_wide) {
  return std::ranges::none_of(operations, [&](const ExactOperation& operation) {
    return is_function(operation.what) && is_near(operation.what) == is_wide;
  });
}

}  // namespace

#ifdef __x86_64__

namespace {

// The numbers by which arrays are divided; none where that is not what the loop's time goes to: one division at a time
// is hidden behind the rest.
std::vector<std::uint8_t> divisors_of(std::span<const ExactOperation> operations, std::span<const ExactInput> inputs) {
  constexpr int kLeastDivisions = 2;  // or roots
  std::vector<std::uint8_t> found;
  int divisions = 0;
  for (const ExactOperation& operation : operations) {
    const bool divides = operation.what == Exact::kDivide || operation.what == Exact::kReciprocal;
    divisions += divides || operation.what == Exact::kSqrt ? 1 : 0;
    const bool is_number =
        operation.what == Exact::kDivide && std::ranges::any_of(inputs, [&](const ExactInput& input) {
          return input.slot == operation.in[1] && input.place == ExactPlace::kScalar;
        });
    if (is_number && std::ranges::find(found, operation.in[1]) == found.end()) {
      found.push_back(operation.in[1]);
    }
  }
  return divisions < kLeastDivisions ? std::vector<std::uint8_t>() : found;
}

}  // namespace

ExactCode::ExactCode(const Made& made) : made_(made) {}

std::shared_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation> operations,
                                                 std::span<const ExactInput> inputs,
                                                 std::span<const std::uint8_t> stored, ExactSum sum,
                                                 std::span<const std::uint8_t> streamed, const ExactFinding& finding,
                                                 bool asks_ahead) {
  const int lanes = exact_lanes();
  if (lanes == 0 || !are_here(operations, lanes == kWideVectors.lanes)) {
    return nullptr;
  }
  Made wanted{.lanes = lanes,
              .operations = {operations.begin(), operations.end()},
              .inputs = {inputs.begin(), inputs.end()},
              .stored = {stored.begin(), stored.end()},
              .sum = sum,
              .streamed = {streamed.begin(), streamed.end()},
              .finding = finding,
              .asks_ahead = asks_ahead};
  using Kept = std::pair<Made, std::shared_ptr<const ExactCode>>;
  static auto* const kept = new std::list<Kept>;  // last asked for, first; the last one goes
  if (const auto known = std::ranges::find(*kept, wanted, &Kept::first); known != kept->end()) {
    kept->splice(kept->begin(), *kept, known);
    code_tally.left.add();
    return kept->front().second;
  }
  code_tally.computed.add();
  std::shared_ptr<const ExactCode> code = make_anew(wanted);
  kept->emplace_front(std::move(wanted), code);
  if (kept->size() > kMostKept) {
    kept->pop_back();
  }
  return code;
}

ExactCode::Code ExactCode::place(const Made& made, std::span<const std::uint8_t> divisors) {
  // Scalars are in registers all the time, as far as there are enough.
  const auto attempt = [&](std::size_t vectors, std::size_t* hoisted) {
    const std::unique_ptr<ExactEmitter> emitter = ExactEmitter::make({.operations = made.operations,
                                                                      .inputs = made.inputs,
                                                                      .stored = made.stored,
                                                                      .streamed = made.streamed,
                                                                      .sum = made.sum,
                                                                      .divisors = divisors,
                                                                      .finding = made.finding,
                                                                      .asks_ahead = made.asks_ahead},
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
  const Vectors& machine = made.lanes == kWideVectors.lanes ? kWideVectors : kNarrowVectors;
  const auto most_hoisted = static_cast<std::size_t>(machine.registers - kNotHoisted);
  std::size_t vectors = made.finding.result >= 0 ? 1 : machine.usual;
  Code placed;
  for (; vectors > 0; --vectors) {
    for (std::size_t hoisted = most_hoisted; placed.memory == nullptr; hoisted = hoisted * 3 / 4) {
      placed = attempt(vectors, &hoisted);
      if (hoisted == 0) {
        break;
      }
    }
  }
  return placed;
}

std::shared_ptr<const ExactCode> ExactCode::make_anew(const Made& wanted) {
  const std::shared_ptr<ExactCode> made(new ExactCode(wanted));
  made->plain_ = place(wanted, {});
  if (made->plain_.memory == nullptr) {
    return nullptr;
  }
  if (wanted.finding.result >= 0) {
    return made;
  }
  std::vector<std::uint8_t> divisors;
  if (wanted.lanes == kWideVectors.lanes) {
    divisors = divisors_of(wanted.operations, wanted.inputs);
  }
  made->multiplying_ = divisors.empty() ? Code{} : place(wanted, divisors);
  if (made->multiplying_.memory != nullptr) {
    made->divisors_ = std::move(divisors);
  }
  return made;
}

#else

std::shared_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation>, std::span<const ExactInput>,
                                                 std::span<const std::uint8_t>, ExactSum, std::span<const std::uint8_t>,
                                                 const ExactFinding&, bool) {
  return nullptr;
}

#endif

std::shared_ptr<const ExactCode> ExactCode::finding(std::span<const std::uint8_t> items,
                                                    const ExactFinding& finding) const {
  constexpr Extent kMostOperations = 256;  // a row is written out
  constexpr Extent kOfFinding = 4;
  const bool is_here = std::ranges::any_of(
      made_.operations, [&](const ExactOperation& operation) { return operation.out == finding.result; });
  if (!is_here || has_functions(made_.operations) ||
      (static_cast<Extent>(made_.operations.size()) + kOfFinding) * finding.row > kMostOperations) {
    return nullptr;
  }
  std::vector<ExactInput> inputs = made_.inputs;
  for (ExactInput& input : inputs) {
    if (input.place == ExactPlace::kBools) {
      return nullptr;
    }
    if (std::ranges::find(items, input.slot) != items.end()) {
      input.place = ExactPlace::kItems;
    }
  }
  return make(made_.operations, inputs, {}, {}, {}, finding);
}

void ExactCode::remove(const Code& code) {
  if (code.memory != nullptr) {
    replay::native::remove_code(code.memory, code.size);
  }
}

ExactCode::~ExactCode() {
  for (const Code& code : {plain_, multiplying_}) {
    remove(code);
  }
}

}  // namespace tagalong::array
