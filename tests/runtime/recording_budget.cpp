// The budget for recordings.
#include "runtime/policy/recording_budget.h"

#include <boost/test/unit_test.hpp>

#include "runtime/base/options.h"
#include "runtime/records/replay_code.h"
#include "tests/runtime/support.h"

namespace tagalong::runtime {

BOOST_AUTO_TEST_SUITE(spending_on_recordings)

constexpr int kNothing = 0;  // per mille

int recordings(RecordingBudget* own, int share) {
  constexpr int kMost = 1000;
  int number = 0;
  while (number < kMost && own->may_spend(share)) {
    own->recorded(10);
    ++number;
  }
  return number;
}

BOOST_AUTO_TEST_CASE(an_allowance_is_there_from_the_start) {
  RecordingBudget own;
  const int number = recordings(&own, kNothing);
  BOOST_TEST(number > 5);
  BOOST_TEST(number < 50);
  BOOST_TEST(!own.may_spend(kNothing));
}

BOOST_AUTO_TEST_CASE(time_saved_by_replays_may_be_spent) {
  RecordingBudget own;
  const int number = recordings(&own, kNothing);
  own.ran(10'000'000);
  BOOST_TEST(recordings(&own, kNothing) > number);
  own.ran(-1'000'000);
  own.ran(1'000'000);
  BOOST_TEST(!own.may_spend(kNothing));
}

BOOST_AUTO_TEST_CASE(a_share_of_the_time_is_asked_for_now_and_then) {
  constexpr int kMany = 1'000'000'000;
  RecordingBudget own;
  static_cast<void>(recordings(&own, kNothing));
  bool may_spend = false;
  for (int i = 0; i < 16; ++i) {  // the clock is not read each time
    may_spend = may_spend || own.may_spend(kMany);
  }
  BOOST_TEST(may_spend);
  own.after_fork();
  BOOST_TEST(own.may_spend(kNothing));
}

BOOST_AUTO_TEST_CASE(calls_of_unnamed_functions_are_put_off) {
  const OptionsGuard guard;
  set_option("share", 1);
  const Traced traced("def f(x):\n  return x + 1\n", "f");
  const RecordingBudget before = recording_budget();
  recording_budget().ran(-100'000'000'000'000'000);
  BOOST_TEST(traced.call("f(1)") == "2: record");  // the user has named the function
  const testing::Namespace other("def g(x):\n  return x * 2\n");
  const CodeRef code = replay_code_of(other.code("g").get());
  BOOST_REQUIRE(PyObject_SetAttrString(reinterpret_cast<PyObject*>(other.function("g")), "__code__",
                                       reinterpret_cast<PyObject*>(code.get())) == 0);
  start_events();
  BOOST_TEST(other.show("g(3)") == "6");
  BOOST_TEST(stop_events().empty());
  recording_budget() = before;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::runtime
