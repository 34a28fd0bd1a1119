#include "tests/recorder/support.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>

#include "replay/ir/printer.h"
#include "replay/ir/verifier.h"
#include "rewriter/cpython/code_link.h"

namespace tagalong::recorder {

std::string Recorder::record(const std::string& function, const std::string& arguments) {
  recorded_.reset();
  const int finished_before = finished_count;
  const Ref tuple = (*this)(arguments);
  PyThreadState* thread = PyThreadState_Get();
  PyFunctionObject* root = this->function(function);
  auto* code = reinterpret_cast<PyCodeObject*>(root->func_code);
  cpython::Frame* frame = cpython::push_frame(thread, root, code);
  BOOST_REQUIRE(frame != nullptr);
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple.get()); ++index) {
    cpython::locals_of(frame)[index] = Py_NewRef(PyTuple_GET_ITEM(tuple.get(), index));
  }
  const RecordingCode& recording = Session::start(thread, frame, {DecodedCode::make(code)}, *this, limits);
  BOOST_TEST(Session::is_recording(cpython::thread_state()));
  const int pad = recording.start_pads.front();
  BOOST_REQUIRE(cpython::exchange_code(thread, frame, recording.code.get()));
  // The pad pops the value that a redirect pushes on the stack.
  *cpython::stack_base(frame) = Py_NewRef(Py_None);
  const Ref result = Ref::steal(cpython::run_frame(thread, frame, pad, 1, false));
  std::string outcome = result ? "returned " + testing::repr(result.get()) : "raised " + testing::take_exception();
  BOOST_TEST(!Session::is_recording(cpython::thread_state()));
  BOOST_TEST(finished_count == finished_before + 1);
  BOOST_REQUIRE(recorded_.has_value());
  BOOST_TEST(replay::verify(graph()) == std::vector<std::string>{}, boost::test_tools::per_element());
  BOOST_TEST(recorded_->shapes.size() == graph().frames.size());
  return outcome;
}

const replay::Graph& Recorder::graph() const {
  BOOST_REQUIRE(recorded_.has_value());
  return recorded_->graph;
}

std::string Recorder::text() const {
  return replay::print(graph(), {.lines = false, .snapshots = true, .objects = false});
}

std::string Recorder::stop() const { return stop_name(recorded_->stop); }

int Recorder::count(replay::Op operation) const {
  const std::vector<replay::Node>& nodes = graph().nodes;
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [&](const replay::Node& node) { return node.op == operation; }));
}

void Recorder::finished(Recorded recorded) {
  ++finished_count;
  recorded_ = std::move(recorded);
}

bool Recorder::may_inline(PyCodeObject* code) {
  return opaque.empty() || PyUnicode_CompareWithASCIIString(code->co_name, opaque.c_str()) != 0;
}

}  // namespace tagalong::recorder
