// Making the third code objects: replay code (original instructions plus an entry stub) and the code of a single
// recording ("load the graph, load the inputs, build a tuple, call, return").
#pragma once

#include <memory>
#include <optional>

#include "recorder/code/recording_code.h"
#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The replay code of an original code object, made once and shared by all its functions. Throws RewriteError,
// PythonError. `loops`: whether loops have stubs; without it an existing replay code is taken as it is, and a new one
// follows the option `loops`.
CodeRef replay_code_of(PyCodeObject* code, std::optional<bool> loops = std::nullopt);
// Replay code of its own for one recording. `anchor` gets the new anchor.
CodeRef private_replay_code(const std::shared_ptr<const recorder::DecodedCode>& decoded, Ref* anchor);

// Code that calls `graph` with the tuple of the contents of these local slots.
CodeRef graph_code(const recorder::DecodedCode& decoded, const Ref& graph, const std::vector<int>& slots);

// A code object with its nested function code replaced by replay code, down to any depth.
CodeRef wrap_nested(PyCodeObject* code);
// A module's code. Its nested function code gets replay code at the first call (first_calls.h); a body with loops gets
// replay code itself.
CodeRef wrap_module(PyCodeObject* code);

}  // namespace tagalong::runtime
