// An original code object, taken apart once: its instructions, where recordings of it may start, and what the recorder
// asks about its places. Recording code and replay code of the function are made from it.
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
  std::vector<bool> is_handler;  // by instruction: exceptions lead there
  // Places where a recording may start, and executors are attached: behind the RESUME of a call, then, in generators
  // and coroutines, behind the RESUME of each yield (unless only an exception leads there); in other code, if it is to
  // have them, headers of loops. The runtime adds places where side exits land.
  enum class Place : std::uint8_t { kCall, kYield, kHeader, kExit };
  struct Entry {
    int resume = 0;  // kHeader: the last jump back
    int first = 0;   // instruction that is executed next: behind a delegating yield the SEND that it goes back to
    int depth = 0;   // of the stack: behind a yield the value that was sent lies on top
    Place place = Place::kCall;
  };
  std::vector<Entry> entries;
  // Instructions that are reached without an exception. Elsewhere the stack may hold the offset of a raising
  // instruction, which means nothing in other code.
  std::vector<bool> regular;
  ArraySpans spans;
  bool is_generator = false;  // or coroutine, or asynchronous generator: calls make an object, frames suspend
  bool is_joined = false;     // its loops have traces, its side exits bridges
  bool is_namespace = false;  // the variables of its frames live in a mapping: modules and class bodies

  // Whether loops of it may be entered where they begin.
  [[nodiscard]] bool has_headers() const {
    return std::ranges::find(entries, Place::kHeader, &Entry::place) != entries.end();
  }
  // Where an exception raised by the instruction goes; null: out of the frame.
  [[nodiscard]] const rewriter::ExceptionRange* range_of(int instruction) const;
  // KW_NAMES, PRECALL and CALL are one: a frame that goes on at one of them goes on at the first.
  [[nodiscard]] int call_start(int instruction) const;
  // Whether the interpreter would look for signals and other threads at the place of this hook.
  [[nodiscard]] bool polls_eval_breaker(int instruction, bool is_after) const;

  // The first instruction of a call that has all of its cells: RETURN_GENERATOR, or the first RESUME.
  [[nodiscard]] std::size_t call_place() const;

  // Throws RewriteError, PythonError.
  static std::shared_ptr<const DecodedCode> make(PyCodeObject* code, bool with_headers = false);
};

// Whether frames of this code keep their variables in a mapping.
bool is_namespace(const PyCodeObject* code);

// Where suspended frames of a generator's recording code belong: the code they came from.
struct Home {
  Ref code;                    // weak reference: that code may own the recording code
  replay::CodeShapeRef shape;  // of the original instructions in it
  std::shared_ptr<const DecodedCode> decoded;
};
using HomeRef = std::shared_ptr<const Home>;

// `units` as they are shown: a snapshot before a call stands at KW_NAMES or PRECALL, but during the call, and when it
// raises, the interpreter is at the CALL, whose position is another.
std::vector<int> shown_units(const rewriter::Assembly& assembly, const std::vector<int>& units);

}  // namespace tagalong::recorder
