// Anchors: the objects in replay code through which the interpreter asks for a replay. An anchor is an iterator that
// the entry stub asks for one item. At the start of a call an item is the result of the call; without an item the call
// continues in its frame, which is changed first if a change is pending (frame_changes.h). At other stubs an item only
// says that a change is pending. The anchors of a code object own the code record together.
#pragma once

#include <memory>
#include <vector>

#include "runtime/records/code_record.h"

namespace tagalong::runtime {

Ref make_anchor(std::shared_ptr<CodeRecord> record, std::size_t entry);  // throws PythonError
CodeRecord* record_of(PyObject* anchor);

// Makes it the anchor that anchor_of() finds, until it dies.
void register_anchor(PyCodeObject* original, PyObject* anchor);
// The anchor of this code object (original or replay code), if it has one; borrowed.
PyObject* anchor_of(PyCodeObject* code);
// The code objects that run in place of an original.
std::vector<CodeRef> replacements_of(PyCodeObject* original);
// Counts a call that runs the original instructions because of a tool (a debugger, tracemalloc, another evaluation
// function). False: there is no such tool.
bool note_left_out(PyThreadState* thread, CodeRecord& record);
void for_each_record(void (*visit)(CodeRecord& record, void* context), void* context);

}  // namespace tagalong::runtime
