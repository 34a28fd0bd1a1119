#include "runtime/records/retired_functions.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "rewriter/cpython/functions.h"
#include "rewriter/cpython/watch.h"
#include "runtime/records/code_record.h"

namespace tagalong::runtime {
namespace {

// Used under the GIL. An entry ends with its function, or when that is traced again.
class Retired final : public cpython::Watcher {
 public:
  bool add(PyObject* function, PyCodeObject* replay) {
    free_deferred();
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
    free_deferred();
  }

  // All of them that have had this replay code.
  std::vector<Ref> functions_of(const PyCodeObject* replay) {
    std::vector<Ref> found;
    for (const auto& [function, known] : functions_) {
      if (known.replay.get() == replay) {
        found.push_back(Ref::create(function));
      }
    }
    return found;
  }

  // Code takes executors along, which are watchers: they die later.
  void object_died(PyObject* object) override {
    const auto found = functions_.find(object);
    if (found != functions_.end()) {
      dead_.push_back(std::move(found->second));
      functions_.erase(found);
      CodeRecord::expect_deferred_free();
    }
  }

  void free_deferred() { const auto dead = std::exchange(dead_, {}); }

 private:
  struct Function {
    Ref watch;
    CodeRef replay;
  };

  std::unordered_map<PyObject*, Function> functions_;
  std::vector<Function> dead_;
};

Retired& retired() {
  static auto* made = new Retired();
  return *made;
}

}  // namespace

bool put_back(PyFunctionObject* function, PyCodeObject* replay, PyCodeObject* original) {
  if (!retired().add(reinterpret_cast<PyObject*>(function), replay)) {
    PyErr_Clear();
    return false;
  }
  const CodeRef old = cpython::install_code(function, original);
  return true;
}

void take_back(PyCodeObject* replay, const PyCodeObject* original) {
  for (const Ref& function : retired().functions_of(replay)) {
    auto* its = reinterpret_cast<PyFunctionObject*>(function.get());
    if (its->func_code == reinterpret_cast<const PyObject*>(original)) {  // the program may have given it other code
      const CodeRef old = cpython::install_code(its, replay);
    }
    forget_retired(its);
  }
}

void free_retired() { retired().free_deferred(); }

void forget_retired(PyFunctionObject* function) { retired().remove(reinterpret_cast<PyObject*>(function)); }

}  // namespace tagalong::runtime
