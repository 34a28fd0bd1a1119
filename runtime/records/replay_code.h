// Making the third code objects: replay code (original instructions plus an entry stub) and the code of a single
// recording ("load the graph, load the inputs, build a tuple, call, return").
#pragma once

#include <memory>
#include <optional>

#include "recorder/code/recording_code.h"
#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The replay code of an original code object, made once and shared by all its functions. Throws RewriteError,
// PythonError. Refused code (generators, module bodies) is given back as it is.
// `loops`: whether its loops may be entered, if that is not to be as it was, or as the process has it.
CodeRef replay_code_of(PyCodeObject* code, std::optional<bool> loops = std::nullopt);
// The same, not shared: for one recording. `anchor` gets the new anchor.
CodeRef private_replay_code(const std::shared_ptr<const recorder::DecodedCode>& decoded, Ref* anchor);

// Code that calls `graph` with the tuple of the contents of these local slots.
CodeRef graph_code(const recorder::DecodedCode& decoded, const Ref& graph, const std::vector<int>& slots);

// A code object with its nested function code replaced by replay code, down to any depth.
CodeRef wrap_nested(PyCodeObject* code);
// A module's code, whose nested function code gets replay code when it is called (first_calls.h); where its body has
// loops, they are entered while they run.
CodeRef wrap_module(PyCodeObject* code);

}  // namespace tagalong::runtime
