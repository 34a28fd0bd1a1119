// What goes into a recording, and what comes out of it: its limits, its result, and the object that takes the result.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/base/stop.h"
#include "recorder/code/recording_code.h"
#include "replay/ir/graph.h"
#include "replay/ir/limits.h"
#include "rewriter/cpython/stacks.h"

namespace tagalong::recorder {

struct Limits : replay::Limits {
  int loops = 0;                        // 1: a jump back closes the trace
  int groups = replay::kProcessFusion;  // 1: array operations in a row are run as one; 0: one by one
};

struct Recorded {
  replay::Graph graph;
  std::vector<replay::CodeShapeRef> shapes;
  Stop stop = Stop::kNone;
  int stop_line = 0;
  int entry = 0;                    // DecodedCode::entries: where the trace starts
  cpython::StackId stack;           // where it was recorded
  RecordingCodeRef recording_code;  // of the root
  double seconds = 0;               // from the root frame's first instruction to the end of the trace
  bool useful = true;               // false: the trace ends before it did anything
  std::int64_t largest_array = 0;   // elements of the largest result of an array operation
  bool has_lost = false;            // an object that a guard is about has died meanwhile: the graph is of no use
  replay::Reached reached{};        // limits that have not ended it
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void finished(Recorded recorded) = 0;
  // Whether calls of this code may be recorded into the caller's graph.
  virtual bool may_inline(PyCodeObject* code) = 0;
  // What is known of code that a suspended generator's frame runs; null: the code is not ours.
  virtual HomeRef home_of(PyCodeObject* code) = 0;
};

}  // namespace tagalong::recorder
