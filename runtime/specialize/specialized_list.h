// The list of a function's specialisations, hand-made and recorded ones, as programs see it.
#pragma once

#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// tagalong.RecordedGraph; borrowed, null with an exception set.
PyTypeObject* recorded_graph_type();

// Throw PythonError.
void append_specialization(const Ref& list, const Ref& code, const std::vector<Ref>& guards);
// The graphs that answer calls of functions with this installed code; none if it is not replay code.
void append_recorded(const Ref& list, PyCodeObject* installed);
// Forgets one of them, or all with -1. Throws PythonError (IndexError).
void remove_recorded(PyCodeObject* installed, Py_ssize_t index);

}  // namespace tagalong::runtime
