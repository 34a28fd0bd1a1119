// Anchors: the objects in replay code through which the interpreter reaches us. An anchor is an iterator that the entry
// stub asks for one item: an item is the result of the call; no item means that the call goes on in the frame, and if
// a landing is pending, through the landing function. Behind a yield an item says that a landing is pending. The
// anchors of a code object own the code record together.
#pragma once

#include <memory>

#include "runtime/records/code_record.h"

namespace tagalong::runtime {

Ref make_anchor(std::shared_ptr<CodeRecord> record, std::size_t entry);  // throws PythonError
CodeRecord* record_of(PyObject* anchor);
// The iterator that has an item exactly when a landing is pending for this thread, and the function that lands.
Ref redirect_iterator();
Ref redirect_function();

// Makes it the anchor that anchor_of() finds, until it dies.
void register_anchor(PyCodeObject* original, PyObject* anchor);
// The anchor of this code object (original or replay code), if it has one; borrowed.
PyObject* anchor_of(PyCodeObject* code);
// Counts a call that is about to run as written, where a tool from outside is the reason. False: none is.
bool note_left_out(PyThreadState* thread, CodeRecord& record);
void for_each_record(void (*visit)(CodeRecord& record, void* context), void* context);

}  // namespace tagalong::runtime
