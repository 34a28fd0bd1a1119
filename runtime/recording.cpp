#include "runtime/recording.h"

#include <fmt/format.h>

#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "runtime/graph_object.h"
#include "runtime/records/anchor.h"
#include "runtime/records/function_copy.h"
#include "runtime/records/replay_code.h"
#include "runtime/records/texts.h"
#include "runtime/specialize/specialize.h"

namespace tagalong::runtime {

namespace {

// No C++ exception may leave it: when the interpreter ends, it unwinds a daemon thread in here, and Boost.Python would
// catch that like an exception (rewriter/base/ending.h).
PyObject* call_program(PyObject* function, PyObject* args, PyObject* kwargs) noexcept {
  return PyObject_Call(function, args, kwargs);
}

}  // namespace

Recording::Recording(const Ref& function, const Ref& args, const Ref& kwargs) {
  PyCodeObject* original = cpython::original_of(base_code(reinterpret_cast<PyFunctionObject*>(function.get())));
  original_code = CodeRef::create(original);
  recording_code = original_code;
  replay_code = original_code;
  decoded_ = recorder::DecodedCode::make(original);
  Ref anchor;
  const CodeRef code = private_replay_code(decoded_, &anchor);
  record_of(anchor.get())->keeps_recording_code = true;
  record_of(anchor.get())->code.trace_by_name(/*retires=*/false, std::nullopt);
  const Ref runner = function_with_code(function.get(), code.get());
  if (!runner) {
    throw PythonError();
  }
  const bool is_watched = cpython::is_watched(cpython::thread_state());
  result = Ref::steal(call_program(runner.get(), args.get(), kwargs.get()));
  if (!result) {
    PyObject* parts[3] = {};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    PyErr_NormalizeException(&parts[0], &parts[1], &parts[2]);
    if (parts[2] != nullptr) {
      PyException_SetTraceback(parts[1], parts[2]);
    }
    exception = Ref::steal(parts[1]);
    Py_XDECREF(parts[0]);
    Py_XDECREF(parts[2]);
  }
  CodeRecord& record = *record_of(anchor.get());
  stop = is_watched && record.code.counters.records == 0 ? recorder::Stop::k_watched : record.last_recording.stop;
  recording_seconds = record.last_recording.seconds;
  synthesis_seconds = record.last_recording.synthesis_seconds;
  explanation_ = runtime::explain(record);
  if (record.recording_code) {
    recording_code = record.recording_code;
  }
  if (!record.code.entries.front().executors.empty()) {
    executor_ = record.code.entries.front().executors.front();
    make_replay_code(function);
  }
}

void Recording::make_replay_code(const Ref& function) {
  std::vector<int> slots;
  for (const replay::Node& node : executor_->graph().nodes) {
    if (node.op == replay::Op::param) {
      slots.push_back(static_cast<int>(node.immediate));
    }
  }
  const Ref graph = make_graph_object(executor_, function, slots, counters_);
  replay_code = graph_code(*decoded_, graph, slots);
  replay_function_ = function_with_code(function.get(), replay_code.get());
  if (!replay_function_) {
    throw PythonError();
  }
}

PyObject* Recording::replay(PyObject* args, PyObject* kwargs) const {
  if (!replay_function_ && stop == recorder::Stop::kNone) {
    raise_guard_failed("what was recorded has changed before its call was over", nullptr);
    return nullptr;
  }
  if (!replay_function_) {
    PyErr_Format(PyExc_RuntimeError, "nothing to replay: %s", recorder::stop_text(stop));
    return nullptr;
  }
  return call_program(replay_function_.get(), args, kwargs);
}

std::string Recording::explain() const {
  std::string text = explanation_;
  if (executor_ != nullptr) {
    text += fmt::format("  replayed {} times, {} guards failed, {} left in the middle\n", counters_->hits,
                        counters_->misses, counters_->exits);
    for (const std::string& line : failure_texts(*executor_)) {
      text += "    " + line + "\n";
    }
  }
  return text;
}

}  // namespace tagalong::runtime
