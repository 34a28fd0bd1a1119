// What a fusion group stores in objects when all is computed: attributes, items of dicts, and new items of lists. The
// checks come first, because nothing may fail then.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>

namespace tagalong::replay {

struct Step;

enum class StoreKind : std::uint8_t { kAttribute, kItem, kAppend };
[[nodiscard]] StoreKind kind_of(const Step& step);

// The object that the step will replace, borrowed; null: nothing. Empty: only the interpreter can execute the step.
[[nodiscard]] std::optional<PyObject*> replaced_by(const Step& step, PyObject* object, PyObject* key);
// Whether so many more items fit into the list's memory. They do not while it is sorted.
[[nodiscard]] bool has_room(PyObject* list, Py_ssize_t count);
// Makes the list's memory large enough, which the program could notice. False: there is no memory.
[[nodiscard]] bool reserve_items(PyObject* list, Py_ssize_t count);
// While the group computed without the GIL, another thread may have changed the object. What fails then is reported as
// unraisable.
void store_object(const Step& step, PyObject* object, PyObject* key, PyObject* value);

}  // namespace tagalong::replay
