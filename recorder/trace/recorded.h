// The input and output of a recording: its limits, its result, and the object that takes the result.
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
  int groups = replay::kProcessFusion;  // 1: consecutive array operations are fused; 0: they run one by one
};

struct Recorded {
  replay::Graph graph;
  std::vector<replay::CodeShapeRef> shapes;
  Stop stop = Stop::kNone;
  int stop_line = 0;
  int entry = 0;                    // index in DecodedCode::entries where the trace starts
  cpython::StackId stack;           // the stack of frames on which it was recorded
  RecordingCodeRef recording_code;  // recording code of the root frame
  double seconds = 0;               // from the root frame's first instruction to the end of the trace
  bool useful = true;               // false: the trace ends before it has done anything
  std::int64_t largest_array = 0;   // number of elements of the largest result of an array operation
  bool has_lost = false;            // an object that a guard needs has died: the graph cannot be used
  replay::Reached reached{};        // limits that were reached without ending the recording
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void finished(Recorded recorded) = 0;
  // Whether calls of this code may be inlined.
  virtual bool may_inline(PyCodeObject* code) = 0;
  // The home of code that a suspended generator's frame runs; null: the code is not ours.
  virtual HomeRef home_of(PyCodeObject* code) = 0;
};

}  // namespace tagalong::recorder
