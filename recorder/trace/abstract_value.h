// What the recorder knows of a value of the graph.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::recorder {

struct AbstractValue {
  PyTypeObject* exact = nullptr;    // established by a guard or by the node that gives the value
  PyTypeObject* seen = nullptr;     // the type seen while recording; only a hint
  PyTypeObject* assumed = nullptr;  // for a loop's parameter: becomes `exact` as soon as a node relies on it
  std::int32_t holders = 0;         // number of slots of shadow frames that hold the value
  bool is_null = false;             // whether it was NULL while recording
  bool is_big = false;              // whether it was an int beyond 64 bits while recording
  bool counted = true;              // false for constants and the like, which are never dropped
  bool on_root_stack = false;       // whether it was on the root frame's stack at entry
};

}  // namespace tagalong::recorder
