#include "runtime/policy/retired_functions.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "rewriter/cpython/functions.h"
#include "rewriter/cpython/watch.h"
#include "runtime/entries/deferred_frees.h"

namespace tagalong::runtime {
namespace {

// Used under the GIL. A row is removed when its function dies or is traced again.
class Retired final : public cpython::Watcher {
 public:
  bool add(PyObject* function, PyCodeObject* replay) {
    free_deferred_objects();
    Ref watch = cpython::watch(function, this);
    if (!watch) {
      return false;
    }
    remove(function);
    functions_.emplace(function, Function{std::move(watch), CodeRef::create(replay)});
    return true;
  }

  void remove(PyObject* function) {
    const auto found = functions_.find(function);
    if (found != functions_.end()) {
      const Function removed = std::move(found->second);
      functions_.erase(found);
      cpython::unwatch(removed.watch.get(), this);
    }
    free_deferred_objects();
  }

  // The functions that have had this replay code.
  std::vector<Ref> functions_of(const PyCodeObject* replay) {
    std::vector<Ref> found;
    for (const auto& [function, known] : functions_) {
      if (known.replay.get() == replay) {
        found.push_back(Ref::create(function));
      }
    }
    return found;
  }

  // The code owns executors, which are watchers as well: they may not die now.
  void object_died(PyObject* object) override {
    const auto found = functions_.find(object);
    if (found != functions_.end()) {
      defer_free(Ref::steal(reinterpret_cast<PyObject*>(found->second.replay.release())));
      defer_free(std::move(found->second.watch));
      functions_.erase(found);
    }
  }

 private:
  struct Function {
    Ref watch;
    CodeRef replay;
  };

  std::unordered_map<PyObject*, Function> functions_;
};

Retired& retired() {
  static auto* made = new Retired();
  return *made;
}

}  // namespace

bool install_original_code(PyFunctionObject* function, PyCodeObject* replay, PyCodeObject* original) {
  if (!retired().add(reinterpret_cast<PyObject*>(function), replay)) {
    PyErr_Clear();
    return false;
  }
  const CodeRef old = cpython::install_code(function, original);
  return true;
}

void install_replay_code(PyCodeObject* replay, const PyCodeObject* original) {
  for (const Ref& function : retired().functions_of(replay)) {
    auto* its = reinterpret_cast<PyFunctionObject*>(function.get());
    if (its->func_code == reinterpret_cast<const PyObject*>(original)) {
      const CodeRef old = cpython::install_code(its, replay);
    }
    forget_retired(its);
  }
}

void forget_retired(PyFunctionObject* function) { retired().remove(reinterpret_cast<PyObject*>(function)); }

}  // namespace tagalong::runtime
