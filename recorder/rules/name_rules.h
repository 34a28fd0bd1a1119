// Rules: the stack, local variables, cells, globals, and frames whose variables are in a mapping (bodies of modules and
// classes, and functions made of code for exec()).
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
  void load_fast_and_clear(const Instruction&);
  void load_fast_load_fast(const Instruction&);
  void store_fast(const Instruction&);
  void make_cell(const Instruction&);
  void store_fast_load_fast(const Instruction&);
  void store_fast_store_fast(const Instruction&);
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
  void load_locals(const Instruction&);
  void load_from_dict_or_deref(const Instruction&);
  void load_from_dict_or_globals(const Instruction&);
  void use_value_and_names(const Instruction&);
  void use_value_and_names(Op op);
  void setup_annotations(const Instruction&);

  // Whether looking up the instruction's global name may run user code.
  [[nodiscard]] bool asks_keys(const Instruction& instruction) const;
  // Called at the entry of a frame whose variables are in a mapping.
  void find_names();

 private:
  bool stop_if_lookup_may_run_user_code(const Instruction& instruction);
  void load_slot(std::uint32_t slot);
  void store_slot(std::uint32_t slot);
  void take_by_name(Op op, const Values& operands, SnapshotId here, PyObject* text);
  void bind_global(const Instruction&);
  Value names_value();  // the mapping that holds the variables of the root frame

  Value names_ = replay::kNoValue;
  bool has_plain_names_ = false;  // the root frame's variables are its function's globals
};

}  // namespace tagalong::recorder
