// From the operands of a call to the locals of its callee: the arguments in order, and the cells of the callee's frame.
//
//   const Values arguments = take_operands(frame, target, here);
//   bind_arguments(frame, code, arguments, keyword_names, here);
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "recorder/inlining/operand_forms.h"

namespace tagalong::recorder {

class Operands : public OperandForms {
 protected:
  using OperandForms::OperandForms;

  void bind_arguments(ShadowFrame& callee, PyCodeObject* code, const Values& positional, PyObject* keyword_names,
                      SnapshotId here);
  // COPY_FREE_VARS and MAKE_CELL: they run before the first hook.
  void run_prologue(ShadowFrame& callee);

  // The arguments of a CALL that is under way, if the function is called directly, or by a method: then the interpreter
  // would run it without a C call.
  [[nodiscard]] std::optional<std::span<PyObject*>> direct_arguments(cpython::Frame* callee) const;
  // Without the hook a call moves its arguments into the callee's frame; with it they stay on the caller's stack, too,
  // and would live longer than in eager execution. So the caller's stack gets others for them.
  void transfer_arguments(cpython::Frame* callee);

  // The operands of a CALL that is about to start, of which the callable is known.
  void note_refused(PyObject* callable, int operands);
  // Slots on the real stack of arguments that this call does not take, in the order of their death. Given once.
  std::vector<PyObject**> take_refused() { return std::exchange(refused_, {}); }

 private:
  std::vector<PyObject**> refused_;
};

}  // namespace tagalong::recorder
