// A part of the generator of fused kernels: the machine code of one kind of operations. All parts emit into one piece
// of code.
#pragma once

#include <boost/container/static_vector.hpp>

#include "replay/codegen/vector/vector_assembler.h"

namespace tagalong::array {

using KernelRegisters = boost::container::static_vector<int, kMaxVectors>;  // one for each vector of an iteration

// What the parts share.
struct KernelEmission {
  KernelEmission(const KernelSpec& of, const VectorUnit& unit, std::size_t vectors, std::size_t hoisted)
      : spec(of), values(of, unit, vectors, hoisted), registers(unit, values), assembler(unit, registers) {}

  // What is being emitted.
  struct Position {
    std::size_t body_vectors = 1;  // vectors in the current body
    std::size_t vector = 0;        // the current one in that body
    Extent item = 0;               // of a short row

    [[nodiscard]] bool is_last() const { return vector + 1 == body_vectors; }
  };

  const KernelSpec& spec;
  KernelValues values;
  VectorRegisters registers;
  VectorAssembler assembler;
  Position position;
  Label ambiguous;  // ends the code: a result is ambiguous
};

class KernelPart {
 protected:
  explicit KernelPart(KernelEmission& emission)
      : spec_(emission.spec),
        values_(emission.values),
        registers_(emission.registers),
        asm_(emission.assembler),
        position_(emission.position) {}

  int allocate() { return registers_.allocate(); }
  void release(int reg) { registers_.release(reg); }

  const KernelSpec& spec_;
  KernelValues& values_;
  VectorRegisters& registers_;
  VectorAssembler& asm_;
  KernelEmission::Position& position_;
};

}  // namespace tagalong::array
