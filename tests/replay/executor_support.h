// Graphs in text form, lowered and run. The root function is `f` of the source; the list `objects` of the source is the
// text's table of objects. In the text, `$f.BINARY_OP` is the index of f's first instruction with that name, and
// `$f.BINARY_OP.1` that of the second.
//
//   GraphRun run("def f(x): return -x\nobjects = [f.__code__]", R"(...)");
//   BOOST_TEST(run.call("(3,)") == "returned -3");
#pragma once

#include <memory>
#include <string>

#include "replay/executor/executor.h"
#include "tests/support/python.h"

namespace tagalong::replay {

// The shape that recorder::DecodedCode makes, for libraries below the recorder.
CodeShapeRef shape_of(PyCodeObject* code);

class GraphRun {
 public:
  GraphRun(const std::string& source, const std::string& text);

  // Runs the graph as a call with the items of the tuple in the first local slots. Returns "returned " or "raised " and
  // the repr; "guard " and the guard's operation if a guard fails.
  std::string call(const std::string& arguments);
  // Runs f itself in the interpreter, with the same form of result.
  [[nodiscard]] std::string eager(const std::string& arguments) const;

  testing::Namespace names;
  std::shared_ptr<Executor> executor;
};

// Python function for tests: "line in function" for each entry of the exception's traceback, outermost first.
inline constexpr const char* kTracebackSource = R"(
def lines(error):
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    return found
)";

}  // namespace tagalong::replay
