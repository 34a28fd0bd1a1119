#include "runtime/records/dispatching_code.h"

#include <unordered_set>

namespace tagalong::runtime {
namespace {

// The owner of each code object takes it out.
std::unordered_set<const PyCodeObject*>& codes() {
  static auto* const set = new std::unordered_set<const PyCodeObject*>();
  return *set;
}

}  // namespace

bool is_dispatching_code(const PyCodeObject* code) { return codes().contains(code); }
void add_dispatching_code(const PyCodeObject* code) { codes().insert(code); }
void remove_dispatching_code(const PyCodeObject* code) { codes().erase(code); }

}  // namespace tagalong::runtime
