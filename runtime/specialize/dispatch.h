// What the dispatching code of a specialised function asks: the dispatcher, an object among its constants that has the
// function's hand-made specialisations, and what it has learned of their guards. Made and filled by specialize.cpp; a
// call comes to it in dispatch_calls.cpp, which has its stub's other objects, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/dicts.h"
#include "runtime/specialize/guards.h"
#include "runtime/specialize/ready_guards.h"
#include "runtime/specialize/specialized_code.h"

namespace tagalong::runtime {

struct Specialization {
  Ref code;  // as it was given, or the code object that was made of it
  std::vector<Ref> guards;
  bool is_quiet = true;  // all guards are
  bool is_removed = false;
  mutable std::uint64_t uses = 0;  // calls that it has answered
  enum class Kind : std::uint8_t { kConstant, kCode, kBuiltinOfOne, kCallable } kind = Kind::kCallable;
  Ref constant;  // kConstant: all that the code returns
  // kBuiltinOfOne: what `code` calls; borrowed from it.
  PyCFunction function = nullptr;
  PyObject* self = nullptr;
  bool is_quiet_builtin = false;
  EnteredCode entered;  // kCode
};
using SpecializationRef = std::shared_ptr<Specialization>;

// The first one of the list, if it is a constant or a builtin and all its guards have held and go on to hold while one
// or two dicts are as they are: what most calls need to know, in one line of the cache.
struct Quick {
  const Specialization* first = nullptr;     // null: there is more to do
  std::array<DictVersion, 2> versions = {};  // the same one twice if there is but one
  [[nodiscard]] bool are_as_they_were() const {
    const auto is_same = [](const DictVersion& each) { return cpython::dict_version(each.dict) == each.version; };
    return is_same(versions[0]) && is_same(versions[1]);
  }
};

// Of one function. Owned by the dispatcher among the constants of its code.
struct Dispatch {
  Quick quick;
  PyFunctionObject* function = nullptr;  // not owned: it owns the code that owns this
  CodeRef base;                          // what it had before
  PyCodeObject* installed = nullptr;     // its dispatching code; not owned
  int slots = 0;                         // for which that has room
  std::vector<SpecializationRef> specializations;
  bool only_chooses = false;  // the item is the code, not what it returns
  // How its parameters lie in a frame.
  Py_ssize_t positional = 0;
  int keyword_only = 0;
  Ref keyword_names;  // tuple, null if there are none
  bool has_rest = false, has_keywords = false;
  int arguments = 0;                      // slots
  bool is_plain = false;                  // a call's arguments lie in its frame as guards get them
  const Specialization* first = nullptr;  // of the list, if it is quiet and arguments are plain
  // Its guards, once they have held: those on dicts go on to hold while these are as they are.
  std::vector<DictVersion> versions;
  std::vector<PyObject*> others;
  bool has_held = false;
  bool is_traced = false;
  int asking = 0;              // quiet guards are being asked, so often inside of each other: the list stays as it is
  bool was_disturbed = false;  // one of them has tried to change it

  void learn_parameters(const PyCodeObject* code);
  void list_changed() {
    const bool is_quick = is_plain && !only_chooses && !specializations.empty() && specializations.front()->is_quiet;
    first = is_quick ? specializations.front().get() : nullptr;
    has_held = false;
    quick.first = nullptr;
  }
  // The dicts may have been changed again since then.
  [[nodiscard]] bool are_as_they_were() const {
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

// The function's own; null: it has none, or other code by now. Borrowed.
PyObject* dispatcher_of(const PyFunctionObject* function);
// From now on this is the dispatcher of that code, as long as it lives.
void register_dispatcher(const CodeRef& code, PyObject* dispatcher);
// Throws PythonError (RuntimeError) while quiet guards of this dispatcher are asked.
void require_undisturbed(PyObject* dispatcher);
// Taken out at once; whoever is in the middle of it keeps it, as the caller does. The last one takes the dispatching
// code with it.
void remove(PyObject* dispatcher, const SpecializationRef& removed);
// Of one that is about to be freed.
void unregister_dispatcher(PyObject* dispatcher);

// The constants of dispatching code (specialized_code.h). They throw PythonError.
Ref make_dispatcher();
Ref dispatch_redirect_iterator();
Ref dispatch_redirect();

}  // namespace tagalong::runtime
