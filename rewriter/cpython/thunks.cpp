#include "rewriter/cpython/thunks.h"

#include <array>
#include <string>
#include <utility>

#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"
#include "version/snippets.h"

namespace tagalong::cpython {
void append_instruction(std::string* bytes, const Instruction& instruction) {
  constexpr int kByte = 8;
  constexpr int kMask = 0xFF;
  for (int shift = 3 * kByte; shift > 0; shift -= kByte) {
    if ((instruction.argument >> shift) != 0) {
      bytes->push_back(static_cast<char>(op::kEXTENDED_ARG));
      bytes->push_back(static_cast<char>((instruction.argument >> shift) & kMask));
    }
  }
  bytes->push_back(static_cast<char>(instruction.opcode));
  bytes->push_back(static_cast<char>(instruction.argument & kMask));
  bytes->append(rewriter::info(instruction.opcode).caches * sizeof(rewriter::CodeUnit), '\0');
}

std::vector<Instruction> load_operands(int count) {
  std::vector<Instruction> loads;
  loads.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index) {
    loads.push_back({op::kLOAD_FAST, index});
  }
  return loads;
}

std::vector<Instruction> call_operands(int arguments, bool has_names) {
  std::vector<Instruction> call;
  if (has_names) {
    call.push_back({version::kNamesOnStack ? op::kLOAD_CONST : op::kKW_NAMES, 0});
  }
  if (version::kHasPrecall) {
    call.push_back({op::kPRECALL, arguments});
  }
  call.push_back({has_names && version::kNamesOnStack ? op::kCALL_KW : op::kCALL, arguments});
  return call;
}

std::vector<Instruction> next_item() {
  std::vector<Instruction> code{{op::kFOR_ITER, 3}, {op::kSWAP, 2}, {op::kPOP_TOP, 0}, {op::kRETURN_VALUE, 0}};
  for (const rewriter::Opcode opcode : version::kEndOfLoop) {
    code.push_back({opcode, 0});
  }
  code.push_back({op::kLOAD_CONST, 0});
  return code;
}

namespace {

CodeRef make(int operands, const std::vector<Instruction>& instructions, PyObject* names, PyObject* constants,
             int flags) {
  std::string bytes;
  int growth = 0;
  int depth = 0;
  for (const Instruction& instruction : instructions) {
    append_instruction(&bytes, instruction);
    const int effect = PyCompile_OpcodeStackEffect(instruction.opcode, instruction.argument);
    growth += effect > 0 ? effect : 0;
    depth += effect;
  }
  // A frame returns with an otherwise empty stack, but some instructions leave their operands there.
  for (; depth > 1; --depth) {
    append_instruction(&bytes, {op::kSWAP, 2});
    append_instruction(&bytes, {op::kPOP_TOP, 0});
  }
  append_instruction(&bytes, {op::kRETURN_VALUE, 0});
  append_instruction(&bytes, {op::kRESUME, 0});  // never reached: a frame is incomplete until it has passed RESUME
  append_instruction(&bytes, {op::kRETURN_VALUE, 0});

  Ref variables = Ref::steal(PyTuple_New(operands));
  for (int index = 0; index < operands && variables; ++index) {
    PyObject* name = PyUnicode_FromFormat("operand%d", index);
    if (name == nullptr) {
      return {};
    }
    PyTuple_SET_ITEM(variables.get(), index, name);
  }
  const Ref nothing = Ref::steal(PyTuple_New(0));
  constexpr int kSpare = 8;  // slots for the initial values of the stack
  return make_internal_code(
      {.code = Ref::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()))),
       .constants = constants == nullptr ? nothing : Ref::create(constants),
       .names = names == nullptr ? nothing : Ref::create(names),
       .variables = std::move(variables),
       .name = Ref::create(internal_filename()),
       .flags = flags,
       .stack_size = growth + kSpare});
}

}  // namespace

CodeRef make_thunk(int operands, const std::vector<Instruction>& instructions, PyObject* names) {
  return make(operands, instructions, names, nullptr, CO_OPTIMIZED | CO_NEWLOCALS);
}

CodeRef make_namespace_thunk(const std::vector<Instruction>& instructions, PyObject* names, PyObject* constants) {
  return make(0, instructions, names, constants, 0);
}

PyObject* run_namespace_thunk(PyCodeObject* thunk, PyFunctionObject* function, PyObject* mapping,
                              PyObject* const* operands, int count) {
  PyThreadState* thread = thread_state();
  Frame* frame = push_frame(thread, function, thunk);
  if (frame == nullptr) {
    return nullptr;
  }
  set_names(frame, mapping);
  PyObject** base = stack_base(frame);
  for (int index = 0; index < count; ++index) {
    base[index] = Py_NewRef(operands[index]);
  }
  return run_frame(thread, frame, 0, count, false);
}

}  // namespace tagalong::cpython
