// The ready guards by what they are about; the types are made once, for the module.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// Throw PythonError.
void add_argument_guards(std::vector<Ref>& types);
void add_name_guards(std::vector<Ref>& types);

// A guard that has just held goes on to hold while these dicts are as they are.
struct DictVersion {
  PyObject* dict;  // the guard's
  std::uint64_t version;
};
// False: that is not all there is to it.
bool take_versions(PyObject* guard, std::vector<DictVersion>& versions);

// The version tag of a type, which gets one if it can; 0: it cannot. Runs nobody's code.
unsigned versioned(PyTypeObject* type);

}  // namespace tagalong::runtime
