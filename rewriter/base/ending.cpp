#include "rewriter/base/ending.h"

#include <pthread.h>
#include <unistd.h>

#include <exception>

namespace tagalong::cpython {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): written once, under the GIL
pthread_t g_ending_thread;
std::terminate_handler g_inherited = nullptr;
bool (*g_is_finalizing)() = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool is_being_ended() {
  return g_is_ending && pthread_equal(pthread_self(), g_ending_thread) == 0 && g_is_finalizing();
}

[[noreturn]] void stop_for_good() {
  for (;;) {
    pause();
  }
}

// CPython unwinds the stack of a thread that it ends. Where the unwinding reaches a noexcept function, C++ calls this.
void terminate() {
  if (is_being_ended()) {
    stop_for_good();
  }
  g_inherited();
}

}  // namespace

void begin_ending(bool (*is_finalizing)()) {
  if (g_is_ending) {
    return;
  }
  g_is_finalizing = is_finalizing;
  g_ending_thread = pthread_self();
  g_inherited = std::set_terminate(terminate);
  g_is_ending = true;
}

void decref_while_ending(PyObject* object) {
  if (is_being_ended()) {
    stop_for_good();
  }
  Py_DECREF(object);
}

}  // namespace tagalong::cpython
