#include "replay/executor/machine/steps_without_user_code.h"

#include <opcode.h>

#include <algorithm>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/passes/abstract_values.h"
#include "rewriter/cpython/objects/collector.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {

namespace {

constexpr int kMade = 4;  // containers at most, an exception among them

bool is_sequence(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }
bool is_string(PyObject* object) { return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object); }

// Hashed, and compared with others like it, without running user code.
bool is_plain_key(PyObject* object) {
  return PyUnicode_CheckExact(object) || cpython::is_exact_number(object) || object == Py_None;
}

bool is_plain_index(PyObject* object) { return PyLong_CheckExact(object) || cpython::is_plain_slice(object); }

const array::ArrayFields* array_of(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && object != nullptr && Py_TYPE(object) == np->array_type
             ? reinterpret_cast<const array::ArrayFields*>(object)
             : nullptr;
}

unsigned type_of(const array::ArrayFields& fields) {
  return static_cast<unsigned>(reinterpret_cast<const array::DescrFields*>(fields.descr)->type_num);
}

// Places in an array, by which NumPy reads or writes elements.
bool are_places(PyObject* index) {
  constexpr Py_ssize_t kMostItems = 64;
  if (const array::ArrayFields* fields = array_of(index)) {
    return fields->nd > 0 && (array::is_integer(type_of(*fields)) || type_of(*fields) == array::kBool);
  }
  const auto is_int = [](PyObject* item) { return PyLong_CheckExact(item); };
  return PyList_CheckExact(index) && PyList_GET_SIZE(index) <= kMostItems &&
         std::all_of(PySequence_Fast_ITEMS(index), PySequence_Fast_ITEMS(index) + PyList_GET_SIZE(index), is_int);
}

// An index of numbers, slices, and places.
bool is_array_index(PyObject* index) {
  const auto is_part = [](PyObject* part) { return cpython::is_basic_index(part) || are_places(part); };
  return PyTuple_CheckExact(index) ? std::all_of(PySequence_Fast_ITEMS(index),
                                                 PySequence_Fast_ITEMS(index) + PyTuple_GET_SIZE(index), is_part)
                                   : is_part(index);
}

// NumPy warns where such an array becomes a number.
bool is_array_of_one(const array::ArrayFields& array) {
  return array.nd > 0 &&
         std::all_of(array.dimensions, array.dimensions + array.nd, [](auto size) { return size == 1; });
}

// Numbers of the array's own type, which are copied without a cast that could warn.
bool fits_without_cast(const array::ArrayFields& target, PyObject* value) {
  if (!array::is_handled(type_of(target)) || (target.flags & array::kWarnOnWrite) != 0) {
    return false;
  }
  const array::ArrayFields* source = array_of(value);
  return source != nullptr ? type_of(*source) == type_of(target) && !is_array_of_one(*source)
                           : type_of(target) == array::kDouble && PyFloat_CheckExact(value);
}

bool has_plain_truth(PyObject* object) {
  return is_sequence(object) || is_string(object) || cpython::is_exact_number(object) || PyDict_CheckExact(object) ||
         PyAnySet_CheckExact(object);
}

bool gives_plain_iterator(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return is_sequence(object) || is_string(object) || PyDict_CheckExact(object) || PyAnySet_CheckExact(object) ||
         type == &PyRange_Type || type == &PyDictKeys_Type || type == &PyDictValues_Type || type == &PyDictItems_Type ||
         type->tp_iter == PyObject_SelfIter;
}

// Whether no user code runs when a slot that holds this object gets another one.
bool is_replaced_without_user_code(PyObject* old) {
  return old == nullptr || Py_REFCNT(old) > 1 || is_plain(Py_TYPE(old));
}

// The pair that an iterator reuses for its next item, dropping the values in it.
bool is_reused_without_user_code(PyObject* pair) {
  return pair == nullptr || Py_REFCNT(pair) > 1 ||
         (is_replaced_without_user_code(PyTuple_GET_ITEM(pair, 0)) &&
          is_replaced_without_user_code(PyTuple_GET_ITEM(pair, 1)));
}

}  // namespace

bool operator_runs_no_user_code(const RunState& state, const Step& step, PyObject* left, PyObject* right) {
  switch (step.op) {
    case Op::to_bool:
    case Op::unary_not:
      return has_plain_truth(left);
    case Op::compare_op:
      return (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right)) ||
             (PyBytes_CheckExact(left) && PyBytes_CheckExact(right));
    case Op::contains_op:
      return (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right)) ||
             (PyUnicode_CheckExact(left) && PyDict_CheckExact(right) && cpython::has_only_names(right));
    case Op::binary_op:
      switch (step.immediate) {
        case NB_ADD:
          return (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right)) ||
                 (((PyList_CheckExact(left) && PyList_CheckExact(right)) ||
                   (PyTuple_CheckExact(left) && PyTuple_CheckExact(right))) &&
                  !cpython::may_collect(state.run.thread, kMade));
        case NB_MULTIPLY:
          return is_sequence(left) && PyLong_CheckExact(right) && !cpython::may_collect(state.run.thread, kMade);
        default:
          return false;
      }
    default:
      return false;
  }
}

bool container_runs_no_user_code(const RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  const auto makes_without_collection = [&state] { return !cpython::may_collect(state.run.thread, kMade); };
  switch (step.op) {
    case Op::build_tuple:
    case Op::build_list:
    case Op::build_slice:
      return makes_without_collection();
    case Op::build_string:
      return true;
    case Op::build_map:
      for (int index = 0; index < step.operand_count; index += 2) {
        if (!is_plain_key(operand(index))) {
          return false;
        }
      }
      return makes_without_collection();
    case Op::build_set:
      for (int index = 0; index < step.operand_count; ++index) {
        if (!is_plain_key(operand(index))) {
          return false;
        }
      }
      return makes_without_collection();
    case Op::get_iter:
      return gives_plain_iterator(operand(0)) && makes_without_collection();
    case Op::binary_subscr:
      if (is_sequence(operand(0)) || is_string(operand(0))) {
        return is_plain_index(operand(1)) && makes_without_collection();
      }
      if (const array::ArrayFields* fields = array_of(operand(0))) {
        return array::is_handled(type_of(*fields)) &&
               (cpython::is_basic_index(operand(1)) || (is_array_index(operand(1)) && makes_without_collection()));
      }
      return PyDict_CheckExact(operand(0)) && PyUnicode_CheckExact(operand(1)) && cpython::has_only_names(operand(0)) &&
             makes_without_collection();
    case Op::store_subscr:
      if (const array::ArrayFields* fields = array_of(operand(0))) {
        return fits_without_cast(*fields, operand(2)) &&
               (cpython::is_basic_index(operand(1)) || (is_array_index(operand(1)) && makes_without_collection()));
      }
      return PyDict_CheckExact(operand(0)) && PyUnicode_CheckExact(operand(1)) && cpython::has_only_names(operand(0)) &&
             is_replaced_without_user_code(PyDict_GetItemWithError(operand(0), operand(1)));
    case Op::format_value:
      return step.operand_count == 1 && (PyUnicode_CheckExact(operand(0)) || cpython::is_exact_number(operand(0)));
    default:
      return false;
  }
}

bool next_runs_no_user_code(const RunState& state, PyObject* iterator) {
  const PyTypeObject* type = Py_TYPE(iterator);
  if (type == &PyRangeIter_Type || type == &PyListIter_Type || type == &PyTupleIter_Type) {
    return true;
  }
  if (type == &PyDictIterKey_Type || type == &PyDictIterValue_Type || type == &PyDictIterItem_Type) {
    const auto* snapshot = reinterpret_cast<cpython::DictIterator*>(iterator);
    return (snapshot->dict == nullptr || Py_REFCNT(snapshot->dict) > 1) &&
           is_reused_without_user_code(snapshot->result) && !cpython::may_collect(state.run.thread, kMade);
  }
  if (type == &PyEnum_Type) {
    const auto* snapshot = reinterpret_cast<cpython::Enumeration*>(iterator);
    return cpython::has_next(snapshot->inner) && is_reused_without_user_code(snapshot->result) &&
           !cpython::may_collect(state.run.thread, kMade);
  }
  return false;
}

}  // namespace tagalong::replay
