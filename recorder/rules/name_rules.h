// Rules: the stack, local variables, cells, globals, and frames whose variables live in a mapping (bodies of modules
// and classes, code from exec() made a function).
#pragma once

#include "recorder/rules/control_rules.h"

namespace tagalong::recorder {

class NameRules : public ControlRules {
 protected:
  using ControlRules::ControlRules;

  void nothing(const Instruction&);
  void pop_top(const Instruction&);
  void push_null(const Instruction&);
  void copy(const Instruction&);
  void swap(const Instruction&);
  void load_const(const Instruction&);
  void load_assertion_error(const Instruction&);
  void load_fast(const Instruction&);
  void store_fast(const Instruction&);
  void delete_fast(const Instruction&);
  void load_deref(const Instruction&);
  void store_deref(const Instruction&);
  void delete_deref(const Instruction&);
  void load_global(const Instruction&);
  void store_global(const Instruction&);
  void delete_global(const Instruction&);
  void load_name(const Instruction&);
  void store_name(const Instruction&);
  void delete_name(const Instruction&);
  void load_classderef(const Instruction&);
  void use_value_and_names(const Instruction&);
  void setup_annotations(const Instruction&);

  // Whether the program's own code decides what the instruction's global name stands for.
  [[nodiscard]] bool asks_keys(const Instruction& instruction) const;
  // At the entry of a frame whose variables live in a mapping.
  void find_names();

 private:
  bool stop_if_keys_are_asked(const Instruction& instruction);
  void bind_global(const Instruction&);
  Value names_value();  // the mapping that holds the variables of the root frame

  Value names_ = replay::kNoValue;
  bool has_plain_names_ = false;  // the root frame's variables are its function's globals
};

}  // namespace tagalong::recorder
