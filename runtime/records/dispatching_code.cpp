#include "runtime/records/dispatching_code.h"

#include <unordered_map>

namespace tagalong::runtime {
namespace {

// By installed code. Each dispatcher removes its own entry.
std::unordered_map<const PyCodeObject*, PyObject*>& dispatchers() {
  static auto* const map = new std::unordered_map<const PyCodeObject*, PyObject*>();
  return *map;
}

}  // namespace

PyObject* dispatcher_of_code(const PyCodeObject* code) {
  if (dispatchers().empty()) {
    return nullptr;
  }
  const auto found = dispatchers().find(code);
  return found == dispatchers().end() ? nullptr : found->second;
}

void set_dispatcher_of_code(const PyCodeObject* code, PyObject* dispatcher) { dispatchers()[code] = dispatcher; }
void forget_dispatcher_of_code(const PyCodeObject* code) { dispatchers().erase(code); }

}  // namespace tagalong::runtime
