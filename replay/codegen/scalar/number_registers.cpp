#include "replay/codegen/scalar/number_registers.h"

#ifdef __x86_64__
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay::native {

Reg64 NumberRegisters::int_of(std::int32_t place) {
  int index = state_.ints.find(place);
  if (index < 0) {
    index = take_int();
    asm_.mov(int_register(index), number(place));
    state_.ints.bind(index, place);
  }
  return int_register(index);
}

Xmm NumberRegisters::float_of(std::int32_t place) {
  int index = state_.floats.find(place);
  if (index < 0) {
    index = take_float();
    asm_.movsd(float_register(index), number(place));
    state_.floats.bind(index, place);
  }
  return float_register(index);
}

void NumberRegisters::load_int(const Reg64& target, std::int32_t place) {
  if (const int index = state_.ints.find(place); index >= 0) {
    asm_.mov(target, int_register(index));
  } else {
    asm_.mov(target, number(place));
  }
}

std::optional<std::int32_t> NumberRegisters::constant(std::int32_t place) const {
  std::int64_t value = 0;
  if (place < 0 || static_cast<std::size_t>(place) >= constants_.size()) {
    return std::nullopt;
  }
  PyObject* object = constants_[static_cast<std::size_t>(place)];
  if (object == nullptr || !PyLong_CheckExact(object) || !cpython::int64_of(object, &value) ||
      !std::in_range<std::int32_t>(value)) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

void NumberRegisters::forget(std::int32_t place) {
  if (place >= 0) {
    state_.ints.forget(place);
    state_.floats.forget(place);
  }
}

void NumberRegisters::keep_int(std::int32_t place, int index) {
  asm_.mov(number(place), int_register(index));
  forget(place);
  state_.ints.bind(index, place);
}

void NumberRegisters::keep_float(std::int32_t place, int index) {
  asm_.movsd(number(place), float_register(index));
  forget(place);
  state_.floats.bind(index, place);
}

void NumberRegisters::forget_volatile() {
  state_.ints.forget_from(kKept);
  state_.floats.forget_from(0);
}

void NumberRegisters::load_again(const State& state) {
  const auto& [ints, floats] = state;
  for (std::size_t index = 0; index < ints.size(); ++index) {
    if (ints.place(index) != ints.kNone) {
      asm_.mov(int_register(static_cast<int>(index)), number(ints.place(index)));
    }
  }
  for (std::size_t index = 0; index < floats.size(); ++index) {
    if (floats.place(index) != floats.kNone) {
      asm_.movsd(float_register(static_cast<int>(index)), number(floats.place(index)));
    }
  }
}

}  // namespace tagalong::replay::native
#endif
