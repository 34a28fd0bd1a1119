// Graphs in text form, lowered and run. The root function is `f` of the source; the list `objects` of the source is the
// table of objects of the text. In the text `$f.BINARY_OP` stands for the index of f's first instruction of that name,
// `$f.BINARY_OP.1` for that of the second.
//
//   GraphRun run("def f(x): return -x\nobjects = [f.__code__]", R"(...)");
//   BOOST_TEST(run.call("(3,)") == "returned -3");
#pragma once

#include <memory>
#include <string>

#include "replay/executor/executor.h"
#include "tests/support/python.h"

namespace tagalong::replay {

// What recorder::DecodedCode gives, for libraries below the recorder.
CodeShapeRef shape_of(PyCodeObject* code);

class GraphRun {
 public:
  GraphRun(const std::string& source, const std::string& text);

  // Runs the graph as a call with the items of the tuple in the first local slots. "returned " or "raised " and the
  // repr; "guard " and the guard's operation where a guard fails.
  std::string call(const std::string& arguments);
  // The same of f itself, by the interpreter.
  [[nodiscard]] std::string eager(const std::string& arguments) const;

  testing::Namespace names;
  std::shared_ptr<Executor> executor;
};

// "line in function" of every entry of the exception's traceback, outermost first, for Python's side of a test.
inline constexpr const char* kTracebackSource = R"(
def lines(error):
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    return found
)";

}  // namespace tagalong::replay
