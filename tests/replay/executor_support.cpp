#include "tests/replay/executor_support.h"

#include <boost/test/unit_test.hpp>
#include <cctype>
#include <vector>

#include "replay/ir/parser.h"
#include "replay/ir/verifier.h"

namespace tagalong::replay {

CodeShapeRef shape_of(PyCodeObject* code) {
  const rewriter::Assembly assembly = rewriter::decode(code);
  auto shape = std::make_shared<CodeShape>();
  shape->code = BorrowedCode(code);
  shape->depths = rewriter::stack_depths(assembly);
  shape->units = rewriter::encode(assembly).offsets;
  shape->shown = shape->units;
  shape->starts = starts_of(code, shape->units);
  return shape;
}

namespace {

// Replaces $function.INSTRUCTION[.n] by the instruction's index.
std::string with_instructions(const testing::Namespace& names, const std::string& text) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    if (text[place] != '$') {
      result.push_back(text[place++]);
      continue;
    }
    const auto word = [&](auto accepts) {
      const std::size_t start = ++place;
      while (place < text.size() && accepts(static_cast<unsigned char>(text[place]))) {
        ++place;
      }
      return text.substr(start, place - start);
    };
    const auto is_name = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
    const std::string function = word(is_name);
    const std::string instruction = word(is_name);
    const std::string number = place < text.size() && text[place] == '.'
                                   ? word([](unsigned char letter) { return std::isdigit(letter) != 0; })
                                   : "";
    result += std::to_string(
        testing::instruction_named(names.code(function).get(), instruction, number.empty() ? 0 : std::stoi(number)));
  }
  return result;
}

}  // namespace

GraphRun::GraphRun(const std::string& source, const std::string& text) : names(source) {
  const Ref list = names("objects");
  std::vector<Ref> objects;
  objects.reserve(static_cast<std::size_t>(PyList_GET_SIZE(list.get())));
  for (Py_ssize_t index = 0; index < PyList_GET_SIZE(list.get()); ++index) {
    objects.push_back(Ref::create(PyList_GET_ITEM(list.get(), index)));
  }
  Graph graph = parse(with_instructions(names, text), objects);
  BOOST_TEST(verify(graph) == std::vector<std::string>{}, boost::test_tools::per_element());
  std::vector<CodeShapeRef> shapes;
  shapes.reserve(graph.frames.size());
  for (const FrameInfo& frame : graph.frames) {
    shapes.push_back(shape_of(reinterpret_cast<PyCodeObject*>(frame.code.get())));
  }
  executor = Executor::lower(std::move(graph), std::move(shapes));
}

std::string GraphRun::call(const std::string& arguments) {
  const Ref tuple = names(arguments);
  std::vector<PyObject*> slots(static_cast<std::size_t>(executor->root_shape().code->co_nlocalsplus));
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple.get()); ++index) {
    slots.at(static_cast<std::size_t>(index)) = PyTuple_GET_ITEM(tuple.get(), index);
  }
  Run run;
  run.thread = PyThreadState_Get();
  run.function = reinterpret_cast<PyObject*>(names.function("f"));
  run.slots = slots.data();
  cpython::Frame* current = cpython::current_frame(run.thread);
  const int recursion = cpython::recursion_left(run.thread);
  const Outcome outcome = executor->run(run);
  BOOST_TEST(cpython::current_frame(run.thread) == current);
  BOOST_TEST(cpython::recursion_left(run.thread) == recursion);
  switch (outcome) {
    case Outcome::kReturned:
      return "returned " + testing::repr(run.result.get());
    case Outcome::kRaised:
      BOOST_TEST(!run.result);
      return "raised " + testing::take_exception();
    case Outcome::kGuard:
      BOOST_REQUIRE(run.failed != nullptr);
      return "guard " + std::string(info(run.failed->op).name);
    default:
      return "another outcome";
  }
}

std::string GraphRun::eager(const std::string& arguments) const {
  const std::string shown = names.show("f(*" + arguments + ")");
  return shown.starts_with("raised ") ? shown : "returned " + shown;
}

}  // namespace tagalong::replay
