// Rules: operators, items, attributes, calls, functions, containers, imports, matching, context managers.
#pragma once

#include "recorder/rules/name_rules.h"
#include "replay/ir/operators.h"

namespace tagalong::recorder {

class ObjectRules : public NameRules {
 protected:
  using NameRules::NameRules;

  void unary(const Instruction&);
  void operate(replay::UnaryOperator op);
  void unary_not(const Instruction&);
  void binary(const Instruction&);
  void compare(const Instruction&);
  void is_op(const Instruction&);
  void contains(const Instruction&);
  void binary_subscr(const Instruction&);
  void store_subscr(const Instruction&);
  void binary_slice(const Instruction&);
  void store_slice(const Instruction&);
  void delete_subscr(const Instruction&);
  void load_attr(const Instruction&);
  void store_attr(const Instruction&);
  void delete_attr(const Instruction&);
  void load_method(const Instruction&);
  void load_super_attr(const Instruction&);
  void load_build_class(const Instruction&);
  void import_name(const Instruction&);
  void import_from(const Instruction&);
  void make_function(const Instruction&);
  void set_function_attribute(const Instruction&);
  void call(const Instruction&);
  void call_ex(const Instruction&);
  void build(const Instruction&);
  void format_value(const Instruction&);
  void format_simple(const Instruction&);
  void format_with_spec(const Instruction&);
  void convert_value(const Instruction&);
  void add_to_container(const Instruction&);
  void list_to_tuple(const Instruction&);
  void unpack(const Instruction&);
  void get_iter(const Instruction&);
  void get_len(const Instruction&);
  void match_kind(const Instruction&);
  void match_keys(const Instruction&);
  void match_class(const Instruction&);
  void before_with(const Instruction&);

  // For `with` and `async with`.
  void enter_manager(Op op);

 private:
  // Records a call of a known function with a more specific op than `call`, if there is one.
  bool call_known(int operands, SnapshotId here);
  // Puts what has been loaded for a call on the stack.
  void push_method(Value owner, Value first);
  Value make_slice(SnapshotId here);
};

}  // namespace tagalong::recorder
