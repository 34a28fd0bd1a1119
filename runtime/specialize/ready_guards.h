// The ready guards, by what they check. Their types are made once, for the module.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// All throw PythonError.
void add_argument_guards(std::vector<Ref>& types);
void add_name_guards(std::vector<Ref>& types);

// A guard that has just held holds as long as these dicts are unchanged.
struct DictVersion {
  PyObject* dict;  // borrowed from the guard
  std::uint64_t version;
};
// False: the guard depends on more than dicts.
bool take_versions(PyObject* guard, std::vector<DictVersion>& versions);

// The version tag of a type, which gets one if possible; 0: it has none. Runs no user code.
unsigned versioned(PyTypeObject* type);

}  // namespace tagalong::runtime
