// What is kept for the case that there is no memory: a run that leaves must be able to give its frames their values, so
// that the MemoryError comes where an instruction asks for memory, and not where the engine does.
//
// Objects and a piece of memory, for the process, under the GIL. Nothing empties it but lack of memory, and it is
// filled again as soon as there is some.
#pragma once

#include <Python.h>

#include <cstddef>

#include "replay/objects/unboxed.h"

namespace tagalong::replay {

// Lets `operator new` use the piece of memory before it fails; once for the process.
void prepare_emergencies();
// Fills what is missing. At most so many numbers of a run that leaves get objects at once. Never fails: then there is
// less. Leaves an exception that is set as it is.
void keep_for_emergencies(std::size_t numbers = 0);
// Whether something has been taken since.
[[nodiscard]] bool is_reserve_used();

// From the reserve, a new reference; null: there is none left. They leave an exception that is set as it is. The last
// half of the numbers is for runs that leave.
[[nodiscard]] PyObject* number_from_reserve(Unboxed kind, UnboxedNumber number, bool leaves);
[[nodiscard]] PyObject* pair_from_reserve(UnboxedNumber first, UnboxedNumber second, bool leaves);
[[nodiscard]] PyObject* cell_from_reserve(PyObject* content);

}  // namespace tagalong::replay
