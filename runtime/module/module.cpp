// tagalong._core: everything that C++ gives to the Python package.
#include "runtime/module/exports.h"

#include <boost/python.hpp>

BOOST_PYTHON_MODULE(_core) {
  tagalong::export_rewriter();
  tagalong::export_arrays();
  tagalong::export_engine();
}
