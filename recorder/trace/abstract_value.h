// What the recorder knows of a value of the graph.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::recorder {

struct AbstractValue {
  PyTypeObject* exact = nullptr;    // established by a guard or by what made the value
  PyTypeObject* seen = nullptr;     // when recorded; only a hint
  PyTypeObject* assumed = nullptr;  // of a loop's parameter: exact, as soon as something relies on it
  std::int32_t holders = 0;         // slots of shadow frames that hold the value
  bool is_null = false;             // when recorded
  bool is_big = false;              // an int beyond 64 bits when recorded
  bool counted = true;              // false: a constant or the like, which is never dropped
  bool on_root_stack = false;       // at entry
};

}  // namespace tagalong::recorder
