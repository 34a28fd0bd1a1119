// Rules: operators, items, attributes, calls, functions, containers, imports, matching, context managers.
#pragma once

#include "recorder/rules/name_rules.h"

namespace tagalong::recorder {

class ObjectRules : public NameRules {
 protected:
  using NameRules::NameRules;

  void unary(const Instruction&);
  void unary_not(const Instruction&);
  void binary(const Instruction&);
  void compare(const Instruction&);
  void is_op(const Instruction&);
  void contains(const Instruction&);
  void binary_subscr(const Instruction&);
  void store_subscr(const Instruction&);
  void delete_subscr(const Instruction&);
  void load_attr(const Instruction&);
  void store_attr(const Instruction&);
  void delete_attr(const Instruction&);
  void load_method(const Instruction&);
  void load_build_class(const Instruction&);
  void import_name(const Instruction&);
  void import_from(const Instruction&);
  void make_function(const Instruction&);
  void call(const Instruction&);
  void call_ex(const Instruction&);
  void build(const Instruction&);
  void format_value(const Instruction&);
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
};

}  // namespace tagalong::recorder
