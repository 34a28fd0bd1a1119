// An original code object, decoded once: its instructions, the places where recordings may start, and properties of its
// instructions that the recorder needs. The function's recording code and replay code are made from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "recorder/deferred/spans.h"
#include "replay/ir/code_shape.h"
#include "rewriter/code.h"

namespace tagalong::recorder {

struct DecodedCode {
  CodeRef code;
  replay::CodeShapeRef shape;
  rewriter::Assembly assembly;
  int first = 0;                 // first instruction behind the first RESUME
  std::vector<bool> is_handler;  // for each instruction: whether exceptions lead there
  // Places where a recording may start and executors are attached: behind the RESUME of a call; in generators and
  // coroutines, behind the RESUME of each yield (unless only an exception leads there); in other code, if requested, at
  // loop headers. The runtime adds the targets of side exits.
  enum class Place : std::uint8_t { kCall, kYield, kHeader, kExit };
  struct Entry {
    int resume = 0;  // for kHeader: the last jump back
    // The next instruction to execute; behind a delegating yield this is the SEND to which control returns.
    int first = 0;
    int depth = 0;  // stack depth; behind a yield the sent value is on top
    Place place = Place::kCall;
  };
  std::vector<Entry> entries;
  // For each instruction: whether it is reached without an exception. Elsewhere the stack may hold the offset of a
  // raising instruction, which is meaningless in other code.
  std::vector<bool> regular;
  ArraySpans spans;
  bool is_generator = false;  // or coroutine or asynchronous generator: a call makes an object, and frames suspend
  bool is_joined = false;     // its loops have their own traces, and its side exits have bridges
  bool is_namespace = false;  // its frames keep their variables in a mapping: modules and class bodies

  // Whether executors can be attached to its loop headers.
  [[nodiscard]] bool has_headers() const {
    return std::ranges::find(entries, Place::kHeader, &Entry::place) != entries.end();
  }
  // The range whose handler catches an exception of the instruction; null: it leaves the frame.
  [[nodiscard]] const rewriter::ExceptionRange* range_of(int instruction) const;
  // KW_NAMES, PRECALL and CALL belong together: a frame can continue only at the first one.
  [[nodiscard]] int call_start(int instruction) const { return rewriter::start_of_call(assembly, instruction); }
  // Whether the interpreter polls the eval breaker at the position of this hook.
  [[nodiscard]] bool polls_eval_breaker(int instruction, bool is_after) const;

  // The instruction that is executed before this one: the one in front of it, or else, the last jump from in front. -1:
  // none.
  [[nodiscard]] int previous(int instruction) const;

  // The first instruction of a call at which all cells exist: RETURN_GENERATOR or the first RESUME.
  [[nodiscard]] std::size_t call_place() const;

  // Throws RewriteError, PythonError.
  static std::shared_ptr<const DecodedCode> make(PyCodeObject* code, bool with_headers = false);
};

// Whether frames of this code keep their variables in a mapping.
bool is_namespace(const PyCodeObject* code);

// Where suspended frames of a generator's recording code go back to: the code that they came from.
struct Home {
  Ref code;                    // weak, because that code may own the recording code
  replay::CodeShapeRef shape;  // of the original instructions in that code
  std::shared_ptr<const DecodedCode> decoded;
};
using HomeRef = std::shared_ptr<const Home>;

// The units that frames show for `units`. A snapshot before a call is at KW_NAMES or PRECALL. But during the call, and
// when it raises, the interpreter is at the CALL, which has another position.
std::vector<int> shown_units(const rewriter::Assembly& assembly, const std::vector<int>& units);

}  // namespace tagalong::recorder
