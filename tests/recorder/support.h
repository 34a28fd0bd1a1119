// Recording a call from C++, without runtime/: a frame made by the test runs the recording code.
//
//   Recorder recorder("def f(x): return x + 1");
//   BOOST_TEST(recorder.record("f", "(1,)") == "returned 2");
//   BOOST_TEST(recorder.text() == "...");
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorder/session.h"
#include "tests/support/python.h"

namespace tagalong::recorder {

class Recorder : public testing::Namespace, public Sink {
 public:
  using Namespace::Namespace;

  // Runs the function with the items of the tuple in its first slots (a function without cells or defaults to fill in)
  // and keeps what was recorded. "returned " or "raised " and the repr.
  std::string record(const std::string& function, const std::string& arguments);

  [[nodiscard]] const replay::Graph& graph() const;
  [[nodiscard]] std::string text() const;  // as recorded, before all passes; without source lines and objects
  [[nodiscard]] std::string stop() const;
  // Number of the graph's nodes with this operation.
  [[nodiscard]] int count(replay::Op operation) const;
  [[nodiscard]] bool is_useful() const { return recorded_->useful; }
  [[nodiscard]] int stop_line() const { return recorded_->stop_line; }

  void finished(Recorded recorded) override;
  bool may_inline(PyCodeObject* code) override;
  HomeRef home_of(PyCodeObject* /*code*/) override { return nullptr; }

  Limits limits;
  std::string opaque;  // name of a function that may not be inlined
  int finished_count = 0;

 private:
  std::optional<Recorded> recorded_;
};

}  // namespace tagalong::recorder
