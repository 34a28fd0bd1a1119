// The list of a function's specialisations for programs: hand-made ones and recorded graphs.
#pragma once

#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// tagalong.RecordedGraph; borrowed, null with an exception set.
PyTypeObject* recorded_graph_type();

// All throw PythonError.
void append_specialization(const Ref& list, const Ref& code, const std::vector<Ref>& guards);
// Appends the graphs of functions with this code; none if it is not replay code.
void append_recorded(const Ref& list, PyCodeObject* installed);
// Removes one of these graphs, or all with -1. Throws PythonError (IndexError).
void remove_recorded(PyCodeObject* installed, Py_ssize_t index);

}  // namespace tagalong::runtime
