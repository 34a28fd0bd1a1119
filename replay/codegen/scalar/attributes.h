// Global variables and attributes, by the caches of their steps.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/boxing.h"
#include "replay/codegen/scalar/code_part.h"
#include "replay/codegen/scalar/polls.h"
#include "replay/codegen/scalar/references.h"

namespace tagalong::replay::native {

class AttributeCode : private CodePart {
 public:
  AttributeCode(Emission& emission, ReferenceCode& references, BoxingCode& boxing, PollCode& polls)
      : CodePart(emission), references_(references), boxing_(boxing), polls_(polls) {}

  // The cached value of the global, guarded by the dictionaries' versions (Interpreter::known_global).
  void global(const LoopOp& op);
  void attribute(const LoopOp& op);
  void method(const LoopOp& op);
  // Whether store_attribute() has code for the step.
  [[nodiscard]] bool is_stored(const Step& step) const;
  // Replaces a value whose deallocation runs no user code.
  void store_attribute(const LoopOp& op);

 private:
  // Jumps to `slow_path` unless the step's cache has an attribute of this kind for the type of the object in rax. Sets
  // rdx to the type and rcx to the cache entry (Interpreter::try_attribute).
  void check_cached(const Step& step, cpython::Attribute::Kind kind, Label& slow_path);

  ReferenceCode& references_;
  BoxingCode& boxing_;
  PollCode& polls_;
};

}  // namespace tagalong::replay::native
#endif
