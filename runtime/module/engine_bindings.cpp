// The engine's functions for the Python package (tagalong/_core.pyi says what each takes and gives).
#include <fmt/format.h>

#include <boost/python.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recorder/base/recordings.h"
#include "replay/executor/written_locals.h"
#include "replay/ir/printer.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/text.h"
#include "rewriter/code.h"
#include "rewriter/cpython/black_box/black_box.h"
#include "rewriter/cpython/black_box/locals_proxy.h"
#include "rewriter/cpython/black_box/monitoring.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/first_call.h"
#include "runtime/base/events.h"
#include "runtime/base/options.h"
#include "runtime/counters.h"
#include "runtime/exec_hook.h"
#include "runtime/graph_object.h"
#include "runtime/main_hook.h"
#include "runtime/module/exports.h"
#include "runtime/policy/retired_functions.h"
#include "runtime/process.h"
#include "runtime/recording.h"
#include "runtime/records/anchor.h"
#include "runtime/records/comparing.h"
#include "runtime/records/first_calls.h"
#include "runtime/records/replay_code.h"
#include "runtime/records/texts.h"
#include "runtime/specialize/specialize.h"
#include "runtime/stress.h"

namespace tagalong {
namespace {

namespace py = boost::python;
using runtime::Counters;
using runtime::Recording;

py::object owned(Ref object) { return py::object(py::handle<>(object.release())); }

py::object as_object(const CodeRef& code) {
  return py::object(py::handle<>(py::borrowed(reinterpret_cast<PyObject*>(code.get()))));
}

// C++ exceptions become Python exceptions; Python's own are propagated.
template <class Function>
auto guarded(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const PythonError&) {
    py::throw_error_already_set();
  } catch (const InternalError& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
    py::throw_error_already_set();
  }
  throw std::logic_error("not reached");
}

PyFunctionObject* function_of(const py::object& function) {
  if (!PyFunction_Check(function.ptr())) {
    PyErr_Format(PyExc_TypeError, "expected a Python function, got %.200s", Py_TYPE(function.ptr())->tp_name);
    py::throw_error_already_set();
  }
  return reinterpret_cast<PyFunctionObject*>(function.ptr());
}

PyCodeObject* code_of(const py::object& code_or_function) {
  if (PyCode_Check(code_or_function.ptr())) {
    return reinterpret_cast<PyCodeObject*>(code_or_function.ptr());
  }
  return runtime::base_code(function_of(code_or_function));
}

// Keeps hand-made specialisations.
void set_code(const py::object& function, const CodeRef& code) {
  if (code_of(function) != code.get() && !runtime::set_base_code(function_of(function), code)) {
    py::setattr(function, "__code__", as_object(code));
  }
}

// No value: the limits of the process.
std::optional<recorder::Limits> limits_of(const py::dict& settings) {
  recorder::Limits limits = runtime::options().limits;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t place = 0;
  while (PyDict_Next(settings.ptr(), &place, &name, &value) != 0) {
    const char* text = PyUnicode_AsUTF8(name);
    const long number = text == nullptr ? -1 : PyLong_AsLong(value);
    if (text != nullptr && PyErr_Occurred() == nullptr && !runtime::set_limit(&limits, text, number)) {
      PyErr_Format(PyExc_ValueError, "there is no setting %s of one function", text);
    }
    if (PyErr_Occurred() != nullptr) {
      py::throw_error_already_set();
    }
  }
  return place == 0 ? std::nullopt : std::optional(limits);
}

py::object trace(const py::object& function, bool retire, const py::dict& settings) {
  return guarded([&] {
    const std::optional<recorder::Limits> own = limits_of(settings);
    const bool loops = own.value_or(runtime::options().limits).loops != 0;
    const CodeRef replay = runtime::replay_code_of(runtime::base_code(function_of(function)), loops);
    set_code(function, replay);
    if (PyObject* anchor = runtime::anchor_of(replay.get())) {
      runtime::record_of(anchor)->code.trace_by_name(retire, own);
      runtime::record_of(anchor)->revive();
    }
    runtime::forget_retired(function_of(function));
    return function;
  });
}

py::object untrace(const py::object& function) {
  return guarded([&] {
    const CodeRef original = CodeRef::create(cpython::original_of(runtime::base_code(function_of(function))));
    cpython::disarm(original.get());
    set_code(function, original);
    runtime::forget_retired(function_of(function));
    return function;
  });
}

// For tests and benchmarks: retires a function as if its replays did not pay.
void retire(const py::object& function) {
  if (PyObject* anchor = runtime::anchor_of(code_of(function))) {
    runtime::record_of(anchor)->retirement.retire(0);
  }
}

bool is_traced(const py::object& function) {
  PyCodeObject* code = runtime::base_code(function_of(function));
  return cpython::original_of(code) != code || cpython::is_armed(code);
}

// A function that is made of it runs the original instructions.
py::object original_code(const py::object& code_or_function) {
  if (PyFunction_Check(code_or_function.ptr())) {
    guarded([&] { return runtime::install_armed(function_of(code_or_function)), 0; });
  }
  cpython::disarm(cpython::shown_of(code_of(code_or_function)));
  return as_object(CodeRef::create(cpython::shown_of(code_of(code_or_function))));
}

py::object installed_code(const py::object& function) {
  PyObject* code = PyCode_Check(function.ptr()) ? function.ptr() : function_of(function)->func_code;
  return py::object(py::handle<>(py::borrowed(code)));
}

py::object wrap_code(const py::object& code) {
  return guarded([&] { return as_object(runtime::replay_code_of(runtime::wrap_nested(code_of(code)).get())); });
}

py::object wrap_module_code(const py::object& code) {
  return guarded([&] { return as_object(runtime::wrap_module(code_of(code))); });
}

std::vector<std::string> strings(const py::object& list) {
  const py::ssize_t count = py::len(list);
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(count));
  for (py::ssize_t index = 0; index < count; ++index) {
    result.push_back(cpython::readable(py::object(list[index]).ptr()));
  }
  return result;
}

void start_stress(const py::object& excluded) {
  guarded([&] { return runtime::start_stress(strings(excluded)), 0; });
}

void adopt_function(const py::object& function) {
  guarded([&] { return runtime::adopt_function(reinterpret_cast<PyObject*>(function_of(function))), 0; });
}

py::dict counters_dict(const Counters& counters) {
  py::dict result;
  result["records"] = counters.records;
  result["hits"] = counters.hits;
  result["misses"] = counters.misses;
  result["exits"] = counters.exits;
  result["bridges"] = counters.bridges;
  result["invalidations"] = counters.invalidations;
  result["retired"] = counters.retired;
  py::dict stops;
  for (std::size_t index = 0; index < counters.stops.size(); ++index) {
    if (counters.stops[index] != 0) {
      stops[recorder::stop_name(static_cast<recorder::Stop>(index))] = counters.stops[index];
    }
  }
  result["stops"] = stops;
  py::dict limits;
  for (const replay::LimitRow& row : replay::kLimitRows) {
    if (const std::uint64_t times = counters.limits.at(static_cast<std::size_t>(row.limit)); times != 0) {
      limits[row.name] = times;
    }
  }
  result["limits"] = limits;
  return result;
}

py::dict stats(const py::object& function) {
  if (function.is_none()) {
    return counters_dict(runtime::totals());
  }
  PyCodeObject* code = code_of(function);
  if (PyObject* anchor = runtime::anchor_of(code)) {
    return counters_dict(runtime::record_of(anchor)->code.counters);
  }
  return counters_dict(Counters{});
}

std::string explain(const py::object& function) {
  if (!function.is_none()) {
    PyObject* anchor = runtime::anchor_of(code_of(function));
    if (anchor == nullptr) {
      return cpython::is_armed(code_of(function)) ? "not called yet\n" : "not traced\n";
    }
    return runtime::explain(*runtime::record_of(anchor));
  }
  std::string text;
  runtime::for_each_record(
      [](runtime::CodeRecord& record, void* context) {
        if (record.has_activity()) {
          *static_cast<std::string*>(context) += runtime::explain(record);
        }
      },
      &text);
  if (const std::uint64_t freed = runtime::totals().functions_freed; freed != 0) {
    text += freed == 1 ? "1 function is not listed, because it has been freed since\n"
                       : fmt::format("{} functions are not listed, because they have been freed since\n", freed);
  }
  return text;
}

// (recorded, replayed): numbers of code objects, not of calls
py::tuple functions_seen() {
  return py::make_tuple(runtime::totals().functions_recorded, runtime::totals().functions_replayed);
}

// How many calls of traced functions ran the original instructions, by reason.
py::dict left_out() {
  py::dict result;
  for (std::size_t index = 0; index < runtime::kLeftOutNames.size(); ++index) {
    result[runtime::kLeftOutNames.at(index)] = runtime::totals().left_out.at(index);
  }
  return result;
}

py::list left_out_texts() {
  py::list result;
  for (const std::string& sentence : runtime::left_out_texts()) {
    result.append(sentence);
  }
  return result;
}

// The dumps of the executors of a function or of a recording.
py::dict dumps(const py::object& source, bool disassembles) {
  std::vector<const replay::Executor*> executors;
  if (const py::extract<const Recording&> recording(source); recording.check()) {
    executors.push_back(recording().executor());
  } else if (PyObject* anchor = runtime::anchor_of(code_of(source))) {
    const auto all = runtime::record_of(anchor)->code.entries.executors();
    executors.assign(all.begin(), all.end());
  }
  py::list graph;
  py::list guards;
  py::list steps;
  py::list loops;
  py::list kernels;
  py::list code;
  const auto add = [](py::list& list, const std::string& text) {
    if (!text.empty()) {
      list.append(text);
    }
  };
  std::erase(executors, nullptr);
  for (const replay::Executor* executor : executors) {
    const runtime::Dumps of_executor = runtime::dumps_of(*executor, disassembles);
    add(graph, of_executor.graph);
    add(steps, of_executor.steps);
    add(loops, of_executor.loop);
    add(kernels, of_executor.kernels);
    for (const std::string& guard : of_executor.guards) {
      add(guards, guard);
    }
    for (const std::string& piece : of_executor.code) {
      add(code, piece);
    }
  }
  py::dict result;
  result["graph"] = graph;
  result["guards"] = guards;
  result["steps"] = steps;
  result["loops"] = loops;
  result["kernels"] = kernels;
  result["code"] = code;
  return result;
}

// --- for tests of trace linking

// The executors of a function's code, by their serial numbers.
py::list executors_of(const py::object& function) {
  py::list result;
  if (PyObject* anchor = runtime::anchor_of(code_of(function))) {
    for (const replay::Executor* executor : runtime::record_of(anchor)->code.entries.executors()) {
      result.append(py::make_tuple(executor->serial, executor->steps().size()));
    }
  }
  return result;
}

bool fail_at(const py::object& function, std::uint64_t serial, std::size_t step) {
  if (PyObject* anchor = runtime::anchor_of(code_of(function))) {
    for (replay::Executor* executor : runtime::record_of(anchor)->code.entries.executors()) {
      if (executor->serial == serial && step < executor->steps().size()) {
        return executor->fail_at(step);
      }
    }
  }
  return false;
}

void set_option(const std::string& name, long value) {
  if (!runtime::set_option(name, value)) {
    PyErr_Format(PyExc_ValueError, "there is no option %s", name.c_str());
    py::throw_error_already_set();
  }
}

py::dict limits() {
  py::dict result;
  for (const replay::LimitRow& row : replay::kLimitRows) {
    result[row.name] = runtime::options().limits.*row.value;
  }
  return result;
}

// Limits and knobs, with their values.
py::dict options() {
  py::dict result = limits();
  for (const runtime::Knob& knob : runtime::knobs()) {
    result[std::string(knob.name)] = knob.get();
  }
  return result;
}

template <class Function>
void for_each_counter(Function function) {
  for (const runtime::Counter& counter : runtime::counters()) {
    function(std::string(counter.name), counter);
  }
  for (const runtime::Counter& counter : runtime::fusion_reason_counters()) {
    function(fmt::format("{}{}", runtime::kReasonPrefix, counter.name), counter);
  }
}

py::dict counters() {
  py::dict result;
  for_each_counter([&](const std::string& name, const runtime::Counter& counter) { result[name] = counter.read(); });
  return result;
}

// Some counters count only after they were read once: this starts a single one.
std::uint64_t counter(const std::string& name) {
  std::optional<std::uint64_t> value;
  for_each_counter([&](const std::string& found, const runtime::Counter& row) {
    if (found == name) {
      value = row.read();
    }
  });
  if (!value) {
    PyErr_Format(PyExc_KeyError, "there is no counter %s", name.c_str());
    py::throw_error_already_set();
  }
  return value.value_or(0);
}

// (counters, knobs), each a list of (name, value, documentation)
py::tuple internals() {
  py::list counter_rows;
  for_each_counter([&](const std::string& name, const runtime::Counter& counter) {
    counter_rows.append(py::make_tuple(name, counter.read(), std::string(counter.documentation)));
  });
  py::list knob_rows;
  for (const runtime::Knob& knob : runtime::knobs()) {
    knob_rows.append(py::make_tuple(std::string(knob.name), knob.get(), std::string(knob.documentation)));
  }
  return py::make_tuple(counter_rows, knob_rows);
}

void set_log(const py::object& topics) { runtime::set_log(strings(topics)); }

void set_opaque_paths(const py::object& paths) { runtime::options().opaque_paths = strings(paths); }

void include_file(const std::string& file) {
  std::vector<std::string>& files = runtime::options().included_files;
  const auto place = std::ranges::lower_bound(files, file);
  if (place == files.end() || *place != file) {
    files.insert(place, file);
  }
}

py::list events_stop() {
  py::list result;
  for (const std::string& event : runtime::stop_events()) {
    result.append(event);
  }
  return result;
}

void install_main_hook(const py::object& callback) { runtime::install_main_hook(Ref::create(callback.ptr())); }

void install_exec_hook(const py::object& callback) {
  guarded([&] { return runtime::install_exec_hook(Ref::create(callback.ptr())), 0; });
}

void start_comparing(const py::object& tell, const py::object& compare, const py::object& fork) {
  runtime::start_comparing(Ref::create(tell.ptr()), Ref::create(compare.ptr()), Ref::create(fork.ptr()));
}

bool has_frame_hook() { return cpython::has_hook(); }

bool in_main_interpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

// --- one recorded run

py::object optional(const Ref& object) { return object ? owned(object) : py::object(); }

py::object recording_result(const Recording& recording) { return optional(recording.result); }
py::object recording_exception(const Recording& recording) { return optional(recording.exception); }
py::object recording_original(const Recording& recording) {
  return as_object(CodeRef::create(cpython::shown_of(recording.original_code.get())));
}
py::object recording_recording(const Recording& recording) { return as_object(recording.recording_code); }
py::object recording_replay(const Recording& recording) { return as_object(recording.replay_code); }
py::object recording_stop(const Recording& recording) {
  return recording.stop == recorder::Stop::kNone ? py::object() : py::object(recorder::stop_name(recording.stop));
}
std::string recording_graph(const Recording& recording) {
  return recording.executor() == nullptr ? std::string() : replay::print(recording.executor()->graph());
}
py::list recording_guards(const Recording& recording) {
  py::list result;
  if (recording.executor() != nullptr) {
    for (const std::string& text : runtime::guard_texts(*recording.executor())) {
      result.append(text);
    }
  }
  return result;
}
py::object replay_recording(const Recording& recording, const py::tuple& args, const py::dict& kwargs) {
  return guarded([&] { return owned(Ref::steal(recording.replay(args.ptr(), kwargs.ptr()))); });
}

py::object refuse_to_pickle(const Recording& /*recording*/) {
  PyErr_SetString(PyExc_TypeError,
                  "a recording cannot be pickled: it belongs to the code and the objects of this process");
  py::throw_error_already_set();
  return {};
}

py::object record(const py::object& function, const py::tuple& args, const py::dict& kwargs) {
  return guarded([&] {
    function_of(function);
    return py::object(boost::shared_ptr<Recording>(
        new Recording(Ref::create(function.ptr()), Ref::create(args.ptr()), Ref::create(kwargs.ptr()))));
  });
}

}  // namespace

void export_engine() {
  cpython::show_originals();
  cpython::set_replacements_of(runtime::replacements_of);
  cpython::watch_written_locals([](const cpython::Frame* frame, int slot) {
    replay::note_written_local(frame, slot);
    recorder::Recordings::all().note_written_local(frame);
  });
  cpython::watch_foreign_hooks();
  runtime::handle_first_calls();
  runtime::watch_process();
  runtime::log_last_group();
  py::scope().attr("GuardFailed") = py::object(py::handle<>(py::borrowed(runtime::guard_failed_type())));
  py::class_<Recording, boost::shared_ptr<Recording>, boost::noncopyable>("RecordingCore", py::no_init)
      .add_property("result", recording_result)
      .add_property("exception", recording_exception)
      .add_property("stop_reason", recording_stop)
      .add_property("original_code", recording_original)
      .add_property("recording_code", recording_recording)
      .add_property("replay_code", recording_replay)
      .add_property("graph_text", recording_graph)
      .add_property("guards_text", recording_guards)
      .def_readonly("recording_seconds", &Recording::recording_seconds)
      .def_readonly("synthesis_seconds", &Recording::synthesis_seconds)
      .def("explain", &Recording::explain)
      .def("__reduce__", refuse_to_pickle)
      .def("replay", replay_recording);
  py::def("record", record);
  py::def("trace", trace, (py::arg("func"), py::arg("retire") = false, py::arg("settings") = py::dict()));
  py::def("untrace", untrace);
  py::def("retire", retire);
  py::def("is_traced", is_traced);
  py::def("original_code", original_code);
  py::def("installed_code", installed_code);
  py::def("wrap_code", wrap_code);
  py::def("wrap_module_code", wrap_module_code);
  py::def("stats", stats, (py::arg("func") = py::object()));
  py::def("explain", explain, (py::arg("func") = py::object()));
  py::def("set_option", set_option);
  py::def("limits", limits);
  py::def("options", options);
  py::def("counters", counters,
          "counters() -> dict[str, int]\n\nHow often something happened in the engine, by name; `python -m tagalong "
          "info --internal` says what each counts. Some count only from the first call on.");
  py::def("counter", counter, "counter(name) -> int\n\nOne of counters(), read without the others.");
  py::def("internals", internals, "internals() -> (counters, knobs)\n\nEach a list of (name, value, documentation).");
  py::def("set_log", set_log);
  py::def("set_opaque_paths", set_opaque_paths);
  py::def("include_file", include_file);
  py::def("events_start", runtime::start_events);
  py::def("events_stop", events_stop);
  py::def("install_main_hook", install_main_hook);
  py::def("install_exec_hook", install_exec_hook);
  py::def("in_main_interpreter", in_main_interpreter);
  py::def("has_frame_hook", has_frame_hook,
          "has_frame_hook() -> bool\n\nWhether each frame of the process goes "
          "through us at the moment, as while something is recorded.");
  py::def("start_comparing", start_comparing);
  py::def("start_stress", start_stress);
  py::def("adopt_function", adopt_function);
  py::def("functions_seen", functions_seen);
  py::def("left_out", left_out);
  py::def("left_out_texts", left_out_texts);
  py::def("executors_of", executors_of);
  py::def("_dumps", dumps, (py::arg("source"), py::arg("disassembles") = true));
  py::def("fail_at", fail_at);
}

}  // namespace tagalong
