// The assembler of the scalar compiler: Xbyak's instructions, and the operands and short sequences of instructions that
// several parts of the compiler use. Only sources of this folder include it.
//
//   rbx  objects of the loop registers      rbp  numbers of the loop registers      r15  Frame
//   rax, rcx, rdx, xmm0, xmm1  scratch for one operation; the others hold copies of numbers (number_registers.h)
#pragma once

#ifdef __x86_64__
#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>

#include "replay/codegen/code_allocator.h"
#include "replay/codegen/scalar/code.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/layouts.h"
#include "version/machine_code.h"

namespace tagalong::replay::native {

namespace layout = cpython::layout;
using namespace Xbyak::util;  // the names of registers and of address sizes
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

inline constexpr int kNumberSize = 8;
inline constexpr int kSignBit = 63;

// The object and the number of a loop register.
inline Xbyak::Address object(std::int32_t place) { return qword[rbx + place * kNumberSize]; }
inline Xbyak::Address number(std::int32_t place) { return qword[rbp + place * kNumberSize]; }

class Assembler final : public Xbyak::CodeGenerator {
 public:
  Assembler() : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, CodeAllocator::instance()) {
    setDefaultJmpNEAR(true);
  }

  // Compares with an address; clobbers rcx where the address does not fit an immediate operand.
  void compare_with(const Xbyak::Address& word, const void* address);
  // The code contains the addresses of immortal objects. Other objects are loaded through the executor's reference,
  // since another object may get their address after they die.
  void load_object(const Reg64& target, PyObject* const& object);
  // References (version/machine_code.h).
  void share(const Reg64& object) { version::machine::share(*this, object); }
  void give_back(const Reg64& object) { version::machine::give_back(*this, object); }
  void give_back(const Reg64& object, const Label& dies) { version::machine::give_back(*this, object, dies); }
  void if_last(const Reg64& object, const Label& last) { version::machine::if_last(*this, object, last); }
  void if_shared(const Reg64& object, const Label& shared) { version::machine::if_shared(*this, object, shared); }
  template <typename Function>
  void call_function(Function* function) {
    mov(rax, reinterpret_cast<std::size_t>(function));
    call(rax);
  }
};

}  // namespace tagalong::replay::native
#endif
