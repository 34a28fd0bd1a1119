// A part of the compiler: the machine code of one kind of operations. All parts emit into one piece of code.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/exits.h"

namespace tagalong::replay::native {

// What the parts share.
struct Emission {
  explicit Emission(const Source& from)
      : source(from), registers(assembler, from.constants), exits(from, assembler, registers) {}

  const Source& source;
  Assembler assembler;
  NumberRegisters registers;
  Exits exits;
};

class CodePart {
 protected:
  explicit CodePart(Emission& emission)
      : source_(emission.source), asm_(emission.assembler), registers_(emission.registers), exits_(emission.exits) {}

  const Source& source_;
  Assembler& asm_;
  NumberRegisters& registers_;
  Exits& exits_;
};

}  // namespace tagalong::replay::native
#endif
