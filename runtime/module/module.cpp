// tagalong._core: everything that C++ gives to the Python package.
#include <boost/python.hpp>

#include "runtime/module/exports.h"

BOOST_PYTHON_MODULE(_core) {
  tagalong::export_rewriter();
  tagalong::export_arrays();
  tagalong::export_engine();
  tagalong::export_specialize();
}
