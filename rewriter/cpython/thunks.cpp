#include "rewriter/cpython/thunks.h"

#include <opcode.h>

#include <array>
#include <string>

#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {
namespace {

int cache_count(int opcode) {
  switch (opcode) {
    case PRECALL:
      return 1;
    case CALL:
      return 4;
    case UNPACK_SEQUENCE:
      return 1;
    case LOAD_GLOBAL:
      return 5;
    default:
      return 0;
  }
}

void emit(std::string& code, int opcode, int argument) {
  constexpr int kByte = 8;
  constexpr int kMask = 0xFF;
  for (int shift = 3 * kByte; shift > 0; shift -= kByte) {
    if ((argument >> shift) != 0) {
      code.push_back(static_cast<char>(EXTENDED_ARG));
      code.push_back(static_cast<char>((argument >> shift) & kMask));
    }
  }
  code.push_back(static_cast<char>(opcode));
  code.push_back(static_cast<char>(argument & kMask));
  code.append(static_cast<std::size_t>(cache_count(opcode)) * 2, '\0');
}

}  // namespace

std::vector<Instruction> load_operands(int count) {
  std::vector<Instruction> loads;
  loads.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index) {
    loads.push_back({LOAD_FAST, index});
  }
  return loads;
}

namespace {

CodeRef make(int operands, const std::vector<Instruction>& instructions, PyObject* names, PyObject* constants,
             int flags) {
  std::string bytes;
  int growth = 0;
  int depth = 0;
  for (const Instruction& instruction : instructions) {
    emit(bytes, instruction.opcode, instruction.argument);
    const int effect = PyCompile_OpcodeStackEffect(instruction.opcode, instruction.argument);
    growth += effect > 0 ? effect : 0;
    depth += effect;
  }
  // A frame returns with an otherwise empty stack, but some instructions leave their operands there.
  for (; depth > 1; --depth) {
    emit(bytes, SWAP, 2);
    emit(bytes, POP_TOP, 0);
  }
  emit(bytes, RETURN_VALUE, 0);
  emit(bytes, RESUME, 0);  // never reached: a frame is incomplete until it has passed RESUME
  emit(bytes, RETURN_VALUE, 0);

  const Ref code_bytes = Ref::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  const Ref empty_bytes = Ref::steal(PyBytes_FromStringAndSize("", 0));
  const Ref empty_tuple = Ref::steal(PyTuple_New(0));
  const Ref variables = Ref::steal(PyTuple_New(operands));
  const Ref text = Ref::create(internal_filename());
  if (!code_bytes || !empty_bytes || !empty_tuple || !variables || !text) {
    return {};
  }
  for (int index = 0; index < operands; ++index) {
    PyObject* name = PyUnicode_FromFormat("operand%d", index);
    if (name == nullptr) {
      return {};
    }
    PyTuple_SET_ITEM(variables.get(), index, name);
  }
  constexpr int kSpare = 8;  // slots for the initial values of the stack
  return CodeRef::steal(PyCode_NewWithPosOnlyArgs(
      operands, operands, 0, operands, growth + kSpare, flags, code_bytes.get(),
      constants == nullptr ? empty_tuple.get() : constants, names == nullptr ? empty_tuple.get() : names,
      variables.get(), empty_tuple.get(), empty_tuple.get(), text.get(), text.get(), text.get(), 1, empty_bytes.get(),
      empty_bytes.get()));
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
  PyObject* result = run_frame(thread, frame, 0, count, false);
  pop_frame(thread, frame);
  return result;
}

}  // namespace tagalong::cpython
