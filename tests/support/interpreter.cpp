// Starts the interpreter once for a whole test program, with the packages of the Python the build was made for.
#include <Python.h>

#include <boost/test/unit_test.hpp>

namespace {

struct Interpreter {
  Interpreter() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    PyConfig_SetBytesString(&config, &config.executable, TAGALONG_TEST_PYTHON);
    PyConfig_SetBytesString(&config, &config.program_name, TAGALONG_TEST_PYTHON);
    const PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status) != 0) {
      Py_ExitStatusException(status);
    }
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter() { Py_FinalizeEx(); }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(Interpreter);
