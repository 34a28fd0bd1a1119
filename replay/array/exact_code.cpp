#include "replay/array/exact_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>
#include <utility>

#include "replay/array/lanes.h"
#include "replay/array/vector_functions.h"
#include "replay/native/placing.h"

#ifdef __x86_64__
#include "replay/array/exact_emitter.h"
#endif

namespace tagalong::array {

namespace {

struct Named {
  std::string_view name;
  Exact what;
};
constexpr std::array kOfDoubles{Named{"add", Exact::kAdd},
                                Named{"subtract", Exact::kSubtract},
                                Named{"multiply", Exact::kMultiply},
                                Named{"divide", Exact::kDivide},
                                Named{"true_divide", Exact::kDivide},
                                Named{"sqrt", Exact::kSqrt},
                                Named{"square", Exact::kSquare},
                                Named{"reciprocal", Exact::kReciprocal},
                                Named{"negative", Exact::kNegative},
                                Named{"absolute", Exact::kAbsolute},
                                Named{"fabs", Exact::kAbsolute},
                                Named{"sign", Exact::kSign},
                                Named{"maximum", Exact::kMaximum},
                                Named{"minimum", Exact::kMinimum},
                                Named{"less", Exact::kLess},
                                Named{"less_equal", Exact::kLessEqual},
                                Named{"equal", Exact::kEqual},
                                Named{"not_equal", Exact::kNotEqual},
                                Named{"greater", Exact::kGreater},
                                Named{"greater_equal", Exact::kGreaterEqual}};
constexpr std::array kOfBools{Named{"logical_and", Exact::kAnd}, Named{"bitwise_and", Exact::kAnd},
                              Named{"logical_or", Exact::kOr},   Named{"bitwise_or", Exact::kOr},
                              Named{"logical_not", Exact::kNot}, Named{"invert", Exact::kNot}};

bool is_bool(Exact what) { return what >= Exact::kLess && what <= Exact::kNot; }

}  // namespace

Exact exact_operation(const Kernel& kernel) {
  const auto all_are = [&](unsigned type) {
    return std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                       [&](unsigned in) { return in == type; });
  };
  const auto find = [&](const auto& names) {
    const auto* known = std::ranges::find(names, kernel.name, &Named::name);
    return known == names.end() ? Exact::kNone : known->what;
  };
  if (all_are(kDouble)) {
    if (is_vector_loop(kernel.loop)) {
      return kernel.name == "exp" ? Exact::kExp : Exact::kLog;
    }
    const Exact what = find(kOfDoubles);
    return kernel.out_type == (is_bool(what) ? kBool : kDouble) ? what : Exact::kNone;
  }
  return all_are(kBool) && kernel.out_type == kBool ? find(kOfBools) : Exact::kNone;
}

#ifdef __x86_64__

std::unique_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation> operations,
                                                 std::span<const ExactInput> inputs,
                                                 std::span<const std::uint8_t> stored, ExactSum sum) {
  if (!has_avx512()) {
    return nullptr;
  }
  // Scalars are in registers all the time, as far as there are enough.
  for (std::size_t hoisted = ExactEmitter::kRegisters;; hoisted = hoisted * 3 / 4) {
    ExactEmitter emitter(operations, inputs, stored, sum);
    if (emitter.emit(std::min<std::size_t>(hoisted, ExactEmitter::kRegisters - 6))) {
      void* memory = replay::native::place_code({emitter.getCode(), emitter.getSize()});
      if (memory == nullptr) {
        return nullptr;
      }
      std::unique_ptr<ExactCode> made(new ExactCode);
      made->memory_ = memory;
      made->size_ = emitter.getSize();
      made->run_ = reinterpret_cast<int (*)(char* const*, Extent)>(memory);
      return made;
    }
    if (hoisted == 0) {
      return nullptr;
    }
  }
}

#else

std::unique_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation>, std::span<const ExactInput>,
                                                 std::span<const std::uint8_t>, ExactSum) {
  return nullptr;
}

#endif

ExactCode::~ExactCode() {
  if (memory_ != nullptr) {
    replay::native::remove_code(memory_, size_);
  }
}

}  // namespace tagalong::array
