#include "replay/ir/consumers.h"

#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "version/builtins.h"
#include "version/calls.h"
#include "version/generators.h"

namespace tagalong::replay {
namespace {

// Adds one item, as dict() does.
bool merge_item(PyObject* dict, PyObject* item, int index) {
  const Ref pair = Ref::steal(PySequence_Fast(item, ""));
  if (!pair) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
      PyErr_Format(PyExc_TypeError, "cannot convert dictionary update sequence element #%d to a sequence", index);
    }
    return false;
  }
  if (PySequence_Fast_GET_SIZE(pair.get()) != 2) {
    PyErr_Format(PyExc_ValueError, "dictionary update sequence element #%d has length %zd; 2 is required", index,
                 PySequence_Fast_GET_SIZE(pair.get()));
    return false;
  }
  const Ref key = Ref::create(PySequence_Fast_GET_ITEM(pair.get(), 0));
  const Ref value = Ref::create(PySequence_Fast_GET_ITEM(pair.get(), 1));
  return PyDict_SetItem(dict, key.get(), value.get()) == 0;
}

// sum() first converts its start to a C number if it fits, and later makes a new object of it.
PyObject* sum_of_nothing(PyObject* start) {
  if (PyFloat_CheckExact(start)) {
    return PyFloat_FromDouble(PyFloat_AS_DOUBLE(start));
  }
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(start, &overflow);
  return overflow == 0 ? PyLong_FromLong(number) : Py_NewRef(start);
}

PyObject* sort(const Ref& list, const Ref& key, const Ref& reverse) {
  // Always the same name object: types cache each name object that is looked up.
  static PyObject* known = nullptr;
  PyObject* const name = cpython::once(known, [] { return PyUnicode_InternFromString("sort"); });
  const Ref method = name != nullptr ? Ref::steal(PyObject_GetAttr(list.get(), name)) : Ref();
  const Ref none = Ref::steal(PyTuple_New(0));
  const Ref keywords = Ref::steal(PyDict_New());
  if (!method || !none || !keywords || (key && PyDict_SetItemString(keywords.get(), "key", key.get()) != 0) ||
      (reverse && PyDict_SetItemString(keywords.get(), "reverse", reverse.get()) != 0)) {
    return nullptr;
  }
  const Ref result = Ref::steal(PyObject_Call(method.get(), none.get(), keywords.get()));
  return result ? Py_NewRef(list.get()) : nullptr;
}

class Rest {
 public:
  Rest(const Consuming& consuming, std::vector<Ref>& state)
      : consumer_(consuming.consumer), expected_(consuming.results), items_(consuming.items), state_(state) {}

  PyObject* run(Given given, Ref value) {
    if (consumer_ == Consumer::kResult) {
      return state_.back().release();
    }
    while (true) {
      switch (given) {
        case Given::kError:
          return nullptr;
        case Given::kEnd:
          return end(value);
        case Given::kItem:
          if (!take(std::move(value)) || is_done_) {
            return result_.release();
          }
          ++items_;
          break;
        default:
          break;
      }
      value = Ref::steal(Py_TYPE(state_[0].get())->tp_iternext(state_[0].get()));
      given = value ? Given::kItem : stopped(value);
    }
  }

 private:
  // The generator has ended: it has returned a value, or it has raised.
  static Given stopped(Ref& value) {
    PyObject* returned = nullptr;
    if (_PyGen_FetchStopIterationValue(&returned) != 0) {
      return Given::kError;
    }
    value = Ref::steal(returned);
    return Given::kEnd;
  }

  bool finish(PyObject* result) {
    is_done_ = true;
    result_ = Ref::steal(result);
    return result != nullptr;
  }

  // False: an exception is set.
  bool take(Ref item) {
    switch (consumer_) {
      case Consumer::kSum: {
        Ref total = Ref::steal(PyNumber_Add(state_[1].get(), item.get()));
        std::swap(state_[1], total);
        return static_cast<bool>(state_[1]);
      }
      case Consumer::kList:
      case Consumer::kTuple:
      case Consumer::kExtend:
      case Consumer::kSort:
      case Consumer::kJoin:
        return PyList_Append(state_[1].get(), item.get()) == 0;
      case Consumer::kSet:
      case Consumer::kUpdate:
        return PySet_Add(state_[1].get(), item.get()) == 0;
      case Consumer::kDict:
      case Consumer::kMerge:
        return merge_item(state_[1].get(), item.get(), items_);
      case Consumer::kAny:
      case Consumer::kAll: {
        const int truth = PyObject_IsTrue(item.get());
        const bool decides = (truth != 0) == (consumer_ == Consumer::kAny);
        return truth >= 0 && (!decides || finish(Py_NewRef(truth != 0 ? Py_True : Py_False)));
      }
      case Consumer::kSmallest:
      case Consumer::kLargest:
        return compare(std::move(item));
      case Consumer::kNext:
      case Consumer::kNextOr:
        return finish(item.release());
      default:
        if (items_ == expected_) {
          PyErr_Format(PyExc_ValueError, "too many values to unpack (expected %d)", expected_);
          return false;
        }
        state_.push_back(std::move(item));
        return true;
    }
  }

  bool compare(Ref item) {
    constexpr std::size_t kKey = 1;
    constexpr std::size_t kBest = 3;
    const bool has_key = static_cast<bool>(state_[kKey]);
    Ref key = has_key ? Ref::steal(PyObject_CallOneArg(state_[kKey].get(), item.get())) : Ref();
    if (has_key && !key) {
      return false;
    }
    if (state_.size() == kBest) {
      state_.push_back(std::move(item));
      state_.push_back(std::move(key));
      return true;
    }
    const int better = is_better(consumer_ == Consumer::kSmallest ? Py_LT : Py_GT, (has_key ? key : item).get(),
                                 state_[has_key ? kBest + 1 : kBest].get());
    if (better > 0) {
      if (has_key) {
        state_[kBest + 1] = std::move(key);
      }
      state_[kBest] = std::move(item);
    }
    return better >= 0;
  }

  PyObject* end(const Ref& returned) {
    switch (consumer_) {
      case Consumer::kSum:
        return items_ == 0 ? sum_of_nothing(state_[1].get()) : state_[1].release();
      case Consumer::kSet:
      case Consumer::kDict:
        return state_[1].release();
      case Consumer::kList:
        return end_extend(state_[1].get()) ? state_[1].release() : nullptr;
      case Consumer::kExtend:
        return end_extend(state_[1].get()) ? Py_NewRef(Py_None) : nullptr;
      case Consumer::kTuple:
        return PyList_AsTuple(state_[1].get());
      case Consumer::kSort:
        return end_extend(state_[1].get()) ? sort(state_[1], state_[2], state_[3]) : nullptr;
      case Consumer::kJoin:
        return PyObject_CallFunctionObjArgs(state_[2].get(), state_[3].get(), state_[1].get(), nullptr);
      case Consumer::kUpdate:
      case Consumer::kMerge:
        return Py_NewRef(Py_None);
      case Consumer::kAny:
        return Py_NewRef(Py_False);
      case Consumer::kAll:
        return Py_NewRef(Py_True);
      case Consumer::kSmallest:
      case Consumer::kLargest:
        return best();
      case Consumer::kNextOr:
        return state_[1].release();
      case Consumer::kNext:
        if (!returned || returned.get() == Py_None) {
          PyErr_SetNone(PyExc_StopIteration);
        } else {
          _PyGen_SetStopIterationValue(returned.get());
        }
        return nullptr;
      default:
        return unpacked();
    }
  }

  PyObject* best() {
    constexpr std::size_t kDefault = 2;
    if (state_.size() > kDefault + 1) {
      return state_[kDefault + 1].release();
    }
    if (!state_[kDefault]) {
      PyErr_Format(PyExc_ValueError, version::kNoSmallest, consumer_ == Consumer::kSmallest ? "min" : "max");
    }
    return state_[kDefault].release();
  }

  PyObject* unpacked() {
    if (items_ < expected_) {
      PyErr_Format(PyExc_ValueError, "not enough values to unpack (expected %d, got %d)", expected_, items_);
      return nullptr;
    }
    PyObject* tuple = PyTuple_New(expected_);
    for (int index = 0; tuple != nullptr && index < expected_; ++index) {
      PyTuple_SET_ITEM(tuple, index, state_[static_cast<std::size_t>(index) + 1].release());
    }
    return tuple;
  }

  const Consumer consumer_;
  const int expected_;
  int items_;
  std::vector<Ref>& state_;
  Ref result_;
  bool is_done_ = false;
};

}  // namespace

PyObject* consume_rest(const Consuming& consuming, std::vector<Ref>& state, Given given, Ref value) {
  if (consuming.has_item) {
    value = std::move(state.back());
    state.pop_back();
    given = Given::kItem;
  }
  return Rest(consuming, state).run(given, std::move(value));
}

bool begin_extend(PyObject* list) {
  constexpr Py_ssize_t kGuess = 8;  // PyObject_LengthHint() of an object without a length
  static PyObject* known = nullptr;
  PyObject* const nothing = cpython::once(known, []() -> PyObject* {
    PyObject* made = PyTuple_New(kGuess);
    for (Py_ssize_t index = 0; made != nullptr && index < kGuess; ++index) {
      PyTuple_SET_ITEM(made, index, Py_NewRef(Py_None));
    }
    return made;
  });
  if (nothing == nullptr) {
    return false;
  }
  const Py_ssize_t size = PyList_GET_SIZE(list);
  if (PyList_SetSlice(list, size, size, nothing) != 0) {
    return false;
  }
  Py_SET_SIZE(list, size);
  for (Py_ssize_t index = 0; index < kGuess; ++index) {
    Py_DECREF(reinterpret_cast<PyListObject*>(list)->ob_item[size + index]);
  }
  return true;
}

bool end_extend(PyObject* list) {
  const Py_ssize_t allocated = reinterpret_cast<PyListObject*>(list)->allocated;
  if (PyList_GET_SIZE(list) >= allocated / 2) {
    return true;  // list.extend() keeps such a small surplus
  }
  const Ref nothing = Ref::steal(PyTuple_New(0));
  const Ref iterator = nothing ? Ref::steal(PyObject_GetIter(nothing.get())) : Ref();
  return iterator && version::extend(list, iterator.get());
}

int is_better(int comparison, PyObject* key, PyObject* best_key) {
  return PyObject_RichCompareBool(key, best_key, comparison);
}

}  // namespace tagalong::replay
