// Recording code: a code object with hooks, and how its instructions correspond to the original's. Made for one
// recording: the hook object in it belongs to that recording's session.
#pragma once

#include <memory>
#include <vector>

#include "replay/code_shape.h"
#include "rewriter/code.h"

namespace tagalong::recorder {

// An original code object, taken apart once.
struct DecodedCode {
  replay::CodeShapeRef shape;
  rewriter::Assembly assembly;
  int first = 0;                 // first instruction behind RESUME
  std::vector<bool> is_handler;  // by instruction: exceptions lead there
  // Why frames of this code cannot be recorded; null: they can.
  const char* refusal = nullptr;

  // Where an exception raised by the instruction goes; null: out of the frame.
  [[nodiscard]] const rewriter::ExceptionRange* range_of(int instruction) const;
  // KW_NAMES, PRECALL and CALL are one: whoever goes on at a CALL goes on at the first of them.
  [[nodiscard]] int call_start(int instruction) const;

  static std::shared_ptr<const DecodedCode> make(PyCodeObject* code);  // throws RewriteError, PythonError
};

struct RecordingCode {
  std::shared_ptr<const DecodedCode> decoded;
  CodeRef code;
  std::vector<int> instruction_at;  // original instruction at a code unit, -1: a hook
  int start_pad = 0;                // code unit where a landing starts the recording (one value on the stack)
  int callable_constant = -1;       // index of the hook object among the constants

  // `hook` is called with 2 * instruction (before) or 2 * instruction + 1 (after), kUnwound when an exception leaves
  // the frame.
  static std::unique_ptr<RecordingCode> make(std::shared_ptr<const DecodedCode> decoded, const Ref& hook);
};

inline constexpr long kUnwound = -1;

}  // namespace tagalong::recorder
