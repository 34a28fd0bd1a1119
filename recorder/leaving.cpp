#include "recorder/leaving.h"

#include "rewriter/interp/code_link.h"
#include "rewriter/interp/errors.h"
#include "rewriter/interp/landing.h"

namespace tagalong::recorder {
namespace {

// The instruction that a hook stands before, as a place to go on at: KW_NAMES, PRECALL and CALL are one.
std::size_t place_of(const DecodedCode& decoded, long key) {
  const auto instruction = static_cast<int>(key >> 1);
  const bool is_after = (key & 1) != 0;
  return static_cast<std::size_t>(is_after ? instruction + 1 : decoded.call_start(instruction));
}

// Instructions that are reached without an exception. Elsewhere the stack may hold the offset of a raising instruction,
// which means nothing in other code.
std::vector<bool> regular_places(const DecodedCode& decoded) {
  const auto& instructions = decoded.assembly.instructions;
  std::vector<bool> regular(instructions.size() + 1, false);
  std::vector<std::size_t> open = {static_cast<std::size_t>(decoded.first)};
  while (!open.empty()) {
    std::size_t place = open.back();
    open.pop_back();
    while (place < instructions.size() && !regular[place]) {
      regular[place] = true;
      const rewriter::OpcodeInfo& info = rewriter::info(instructions[place].opcode);
      if (info.jumps()) {
        open.push_back(static_cast<std::size_t>(instructions[place].target));
      }
      if (!info.falls_through()) {
        break;
      }
      ++place;
    }
  }
  return regular;
}

PyObject* leave(PyThreadState* thread, interp::Frame* frame, PyObject* argument, bool can_land) {
  const long key = argument == nullptr ? kUnwound : PyLong_AsLong(argument);
  PyCodeObject* original = interp::original_of(interp::code_of(frame));
  if (key == kUnwound || !can_land || original == interp::code_of(frame)) {
    Py_RETURN_NONE;
  }
  // A traceback names the instruction of a frame by its offset, which means nothing in other code.
  if (interp::is_held(frame) && !interp::is_watched(thread)) {
    Py_RETURN_NONE;
  }
  // Frames of one recording leave one after the other, so the last code is often the next.
  // Never freed by the thread's end, when there may be no interpreter any more.
  struct Last {
    std::shared_ptr<const DecodedCode> decoded;
    std::vector<bool> regular;
  };
  thread_local Last* const last = new Last;
  auto& [decoded, regular] = *last;
  try {
    if (decoded == nullptr || decoded->shape->code.get() != original) {
      decoded = DecodedCode::make(original);
      regular = regular_places(*decoded);
    }
  } catch (const std::exception&) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  const std::shared_ptr<const DecodedCode> here = decoded;
  const std::size_t place = place_of(*here, key);
  const int depth = here->shape->depths[place];
  if (depth == 0 || !regular[place]) {
    Py_RETURN_NONE;  // the landing pushes a value: it waits for a hook with one on the stack
  }
  PyObject* top = interp::stack_base(frame)[depth - 1];
  if (top == nullptr) {
    top = Py_NewRef(interp::landing_null());
  }
  interp::redirect(frame, original, here->shape->starts[place], depth - 1);
  decoded.reset();
  return top;
}

}  // namespace

void leave_at_next_hook(const RecordingCode& recording) {
  static PyObject* function = interp::make_landing_function("leave", leave, true).release();
  if (function == nullptr) {
    PyErr_Clear();  // no memory: the frames go on with idle hooks
    return;
  }
  interp::replace_constant(recording.code.get(), recording.callable_constant, Ref::create(function));
}

}  // namespace tagalong::recorder
