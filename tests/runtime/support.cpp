#include "tests/runtime/support.h"

#include <boost/test/unit_test.hpp>
#include <sstream>

#include "runtime/base/options.h"
#include "runtime/records/anchor.h"
#include "runtime/records/replay_code.h"

namespace tagalong::runtime {

Traced::Traced(const std::string& source, const std::string& functions) : Namespace(source) {
  std::istringstream words(functions);
  for (std::string name; words >> name;) {
    const CodeRef code = replay_code_of(this->code(name).get());
    record_of(anchor_of(code.get()))->code.trace_by_name(/*retires=*/false, std::nullopt);
    const int status = PyObject_SetAttrString(reinterpret_cast<PyObject*>(function(name)), "__code__",
                                              reinterpret_cast<PyObject*>(code.get()));
    BOOST_REQUIRE(status == 0);
  }
}

std::string Traced::call(const std::string& expression) const {
  start_events();
  std::string text = show(expression) + ":";
  for (const std::string& event : stop_events()) {
    text += " " + event;
  }
  return text;
}

CodeRecord& Traced::record(const std::string& name) const {
  PyObject* anchor = anchor_of(code(name).get());
  BOOST_REQUIRE_MESSAGE(anchor != nullptr, name + " has no anchor");
  return *record_of(anchor);
}

struct OptionsGuard::Saved {
  Options options;
};

OptionsGuard::OptionsGuard() : saved_(new Saved{options()}) {}

OptionsGuard::~OptionsGuard() {
  options() = saved_->options;
  delete saved_;
}

}  // namespace tagalong::runtime
