// The dispatcher: an object among the constants of a specialised function's dispatching code, which asks it for each
// call. It owns the function's hand-made specialisations, and remembers which guards have held. specialize.cpp makes
// and fills it; dispatch_calls.cpp handles calls, and makes the other objects in the stub.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/objects/dicts.h"
#include "runtime/specialize/guards.h"
#include "runtime/specialize/ready_guards.h"
#include "runtime/specialize/specialized_code.h"

namespace tagalong::runtime {

struct Specialization {
  Ref code;  // as given, or the code object made of it
  std::vector<Ref> guards;
  bool is_quiet = true;  // all guards are quiet: they run no user code
  bool is_removed = false;
  mutable std::uint64_t uses = 0;  // calls that used it
  enum class Kind : std::uint8_t { kConstant, kCode, kBuiltinOfOne, kCallable } kind = Kind::kCallable;
  Ref constant;  // kConstant: what the code always returns
  // kBuiltinOfOne: the C function behind `code`; borrowed from it.
  PyCFunction function = nullptr;
  PyObject* self = nullptr;
  bool is_quiet_builtin = false;
  EnteredCode entered;  // kCode
};
using SpecializationRef = std::shared_ptr<Specialization>;

// The fast path of most calls, in one cache line: the first specialisation, if it is a constant or a builtin, and all
// its guards hold as long as one or two dicts are unchanged.
struct Quick {
  const Specialization* first = nullptr;     // null: the fast path does not apply
  std::array<DictVersion, 2> versions = {};  // twice the same if there is one dict
  [[nodiscard]] bool are_unchanged() const {
    const auto is_same = [](const DictVersion& each) { return cpython::dict_version(each.dict) == each.version; };
    return is_same(versions[0]) && is_same(versions[1]);
  }
};

// The specialisations of one function. Owned by its dispatcher.
struct Dispatch {
  Quick quick;
  PyFunctionObject* function = nullptr;  // borrowed: the function owns the code that owns this
  CodeRef base;                          // the function's code before
  PyCodeObject* installed = nullptr;     // its dispatching code; borrowed
  int slots = 0;                         // in frames of the dispatching code
  std::vector<SpecializationRef> specializations;
  bool only_chooses = false;  // the result is the code itself, not that of a call
  // How parameters lie in a frame.
  Py_ssize_t positional = 0;
  int keyword_only = 0;
  Ref keyword_names;  // tuple, null if there are none
  bool has_rest = false, has_keywords = false;
  int arguments = 0;                      // slots of parameters
  bool is_plain = false;                  // arguments lie in the frame in the order that guards expect
  const Specialization* first = nullptr;  // of the list; null unless it is quiet and arguments are plain
  // Guards of `first` after they have held: those on dicts hold while the dicts have these versions; `others` are
  // asked.
  std::vector<DictVersion> versions;
  std::vector<PyObject*> others;
  bool has_held = false;
  bool is_traced = false;
  int asking = 0;              // nested calls that are asking quiet guards: the list may not change
  bool was_disturbed = false;  // a guard has tried to change it

  void learn_parameters(const PyCodeObject* code);
  void list_changed() {
    const bool is_quick = is_plain && !only_chooses && !specializations.empty() && specializations.front()->is_quiet;
    first = is_quick ? specializations.front().get() : nullptr;
    has_held = false;
    quick.first = nullptr;
  }
  [[nodiscard]] bool are_unchanged() const {
    return has_held && std::ranges::all_of(versions, [](const DictVersion& each) {
             return cpython::dict_version(each.dict) == each.version;
           });
  }
  void first_has_held();
  void set_base(CodeRef code) {
    is_traced = cpython::original_of(code.get()) != code.get();
    std::swap(base, code);
  }
};

struct Dispatcher {
  PyObject_HEAD
  Dispatch dispatch;
};

inline Dispatch& dispatch_of(PyObject* dispatcher) { return reinterpret_cast<Dispatcher*>(dispatcher)->dispatch; }

// The function's dispatcher; null: it has none, or has got other code. Borrowed.
PyObject* dispatcher_of(const PyFunctionObject* function);
// Makes it the dispatcher of this code until it is freed.
void register_dispatcher(const CodeRef& code, PyObject* dispatcher);
// Throws PythonError (RuntimeError) while this dispatcher asks quiet guards.
void require_undisturbed(PyObject* dispatcher);
// Calls under way keep the removed specialisation alive. With the last one the dispatching code is removed.
void remove(PyObject* dispatcher, const SpecializationRef& removed);
// The dispatcher is about to be freed.
void unregister_dispatcher(PyObject* dispatcher);

// The constants of dispatching code (specialized_code.h). All throw PythonError.
Ref make_dispatcher();
Ref dispatch_redirect_iterator();
Ref dispatch_redirect();

}  // namespace tagalong::runtime
