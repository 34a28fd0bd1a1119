// Whether the end of an object can be noticed: by a finaliser, a weak reference, or whatever else runs user code then.
#pragma once

#include <Python.h>

#include <boost/container/small_vector.hpp>

namespace tagalong::replay {

// Whether the object dies without running user code, as intermediate results of arithmetic do.
[[nodiscard]] bool dies_without_user_code(PyObject* object);
// References that go away together; an object may be there several times.
using DroppedReferences = boost::container::small_vector<PyObject*, 48>;  // borrowed
// Whether no user code runs when these references are dropped. Adds those that the dying objects hold.
[[nodiscard]] bool drop_without_user_code(DroppedReferences* dropped);
// Whether the operand may have fewer references when the first `count` of these are dropped. The others, which stay for
// the moment, are known to be no references that the program has.
[[nodiscard]] bool may_drop_reference(const DroppedReferences& dropped, std::size_t count, PyObject* operand);

}  // namespace tagalong::replay
