#include "replay/objects/binding.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tagalong::replay {
namespace {

constexpr int kUnbound = -1;

// One attempt to bind arguments; each argument is represented by its number.
class Binding {
 public:
  explicit Binding(const PyFunctionObject* function)
      : function_(function),
        code_(reinterpret_cast<PyCodeObject*>(function->func_code)),
        slots_(static_cast<std::size_t>(code_->co_argcount + code_->co_kwonlyargcount), kUnbound) {}

  // Whether the function accepts the arguments. If not, `released()` says in which order they die.
  bool bind(int positional, PyObject* keywords) {
    const int bound = std::min(positional, code_->co_argcount);
    for (int number = 0; number < bound; ++number) {
      slots_[static_cast<std::size_t>(number)] = number;
    }
    const bool takes_more = (code_->co_flags & CO_VARARGS) != 0;
    for (int number = bound; number < positional; ++number) {
      (takes_more ? more_ : released_).push_back(number);
    }
    const int count = keywords == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(keywords));
    for (int index = 0; index < count; ++index) {
      if (!bind_keyword(PyTuple_GET_ITEM(keywords, index), positional + index)) {
        for (int rest = index; rest < count; ++rest) {
          released_.push_back(positional + rest);
        }
        return false;
      }
    }
    return (takes_more || positional <= code_->co_argcount) && has_all();
  }

  // Surplus arguments die first, then the slots of the frame that does not start; the items of a tuple die from the
  // last to the first.
  std::vector<int> released() && {
    std::ranges::copy_if(slots_, std::back_inserter(released_), [](int slot) { return slot != kUnbound; });
    released_.insert(released_.end(), more_.rbegin(), more_.rend());
    released_.insert(released_.end(), named_.begin(), named_.end());
    return std::move(released_);
  }

 private:
  bool bind_keyword(PyObject* keyword, int number) {
    for (auto slot = static_cast<std::size_t>(code_->co_posonlyargcount); slot < slots_.size(); ++slot) {
      if (PyUnicode_Compare(PyTuple_GET_ITEM(code_->co_localsplusnames, static_cast<Py_ssize_t>(slot)), keyword) == 0) {
        if (slots_[slot] != kUnbound) {
          return false;
        }
        slots_[slot] = number;
        return true;
      }
    }
    if ((code_->co_flags & CO_VARKEYWORDS) == 0) {
      return false;
    }
    named_.push_back(number);
    return true;
  }

  [[nodiscard]] bool has_all() const {
    const Py_ssize_t defaults = function_->func_defaults == nullptr ? 0 : PyTuple_GET_SIZE(function_->func_defaults);
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) {
      if (slots_[static_cast<std::size_t>(slot)] != kUnbound) {
        continue;
      }
      const bool has_default = slot < code_->co_argcount ? slot >= code_->co_argcount - defaults : has_keyword(slot);
      if (!has_default) {
        return false;
      }
    }
    return true;
  }

  // Compared without calling `__eq__` methods of keys.
  [[nodiscard]] bool has_keyword(int slot) const {
    PyObject* defaults = function_->func_kwdefaults;
    PyObject* name = PyTuple_GET_ITEM(code_->co_localsplusnames, slot);
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (defaults != nullptr && PyDict_Next(defaults, &position, &key, nullptr) != 0) {
      if (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0) {
        return true;
      }
    }
    return false;
  }

  const PyFunctionObject* function_;
  const PyCodeObject* code_;
  std::vector<int> slots_;     // for each parameter the number of its argument
  std::vector<int> more_;      // arguments in the tuple of *args
  std::vector<int> named_;     // arguments in the dict of **kwargs
  std::vector<int> released_;  // arguments that nothing accepts
};

}  // namespace

std::vector<int> refused_arguments(const PyFunctionObject* function, int positional, PyObject* keywords) {
  Binding binding(function);
  if (binding.bind(positional, keywords)) {
    return {};
  }
  return std::move(binding).released();
}

}  // namespace tagalong::replay
