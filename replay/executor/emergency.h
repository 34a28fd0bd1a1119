// A reserve for the case that there is no memory: a run that leaves must be able to give its frames their values, so
// that MemoryError is raised where an instruction asks for memory, and not where the engine does.
//
// Objects and a block of memory, for the process, under the GIL. Only a lack of memory empties it, and it is filled
// again as soon as there is memory.
#pragma once

#include <Python.h>

#include <cstddef>

#include "replay/objects/unboxed.h"

namespace tagalong::replay {

// Lets `operator new` use the piece of memory before it fails; once for the process.
void prepare_emergencies();
// Refills the reserve, so that a run that leaves can box at least this many numbers at once. Never fails: with little
// memory it holds less. Leaves an exception that is set as it is.
void keep_for_emergencies(std::size_t numbers = 0);
// Whether something has been taken since it was filled.
[[nodiscard]] bool is_reserve_used();

// A new reference from the reserve; null: it is empty. An exception that is set stays as it is. The last half of the
// numbers is for runs that leave.
[[nodiscard]] PyObject* number_from_reserve(Unboxed kind, UnboxedNumber number, bool leaves);
[[nodiscard]] PyObject* pair_from_reserve(UnboxedNumber first, UnboxedNumber second, bool leaves);
[[nodiscard]] PyObject* cell_from_reserve(PyObject* content);

}  // namespace tagalong::replay
