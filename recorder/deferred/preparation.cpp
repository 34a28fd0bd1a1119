#include "recorder/deferred/preparation.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "recorder/base/hints.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/deferred/deferred_arrays.h"
#include "recorder/deferred/deferred_calls.h"
#include "recorder/deferred/operations.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/ir/stages.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/instances.h"

namespace tagalong::recorder {

namespace op = rewriter::op;

long min_deferred = kMinDeferred;

namespace {

// The shape to which operands are broadcast.
struct Extents {
  bool are_arrays = false;  // all operands are arrays and numbers with shapes that fit together
  DeferredShape shape;
  double bytes = 0.0;
};

bool broadcast(std::span<const Py_ssize_t> shape, DeferredShape* whole) {
  if (shape.size() > kMostAxes) {
    return false;
  }
  if (shape.size() > whole->size()) {
    whole->insert(whole->begin(), shape.size() - whole->size(), 1);
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    Py_ssize_t& extent = (*whole)[whole->size() - shape.size() + axis];
    if (extent != 1 && shape[axis] != 1 && extent != shape[axis]) {
      return false;
    }
    extent = extent == 1 ? shape[axis] : extent;
  }
  return true;
}

Extents extents_of(std::span<PyObject* const> operands, const DeferredArrays* deferred) {
  const array::Numpy* np =
      std::ranges::any_of(
          operands, [](PyObject* operand) { return is_array_type(Py_TYPE(operand)) || is_deferred_array(operand); })
          ? array::numpy_if_ready()
          : nullptr;
  if (!replay::is_on(replay::Stage::deferred_arrays)) {
    return {};
  }
  Extents extents;
  double item_size = 0.0;
  for (PyObject* operand : operands) {
    PyObject* const like = array_behind(operand);
    const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, like);
    if (code == array::kForeign) {
      return {};
    }
    if (!array::is_array(code)) {
      continue;
    }
    item_size = std::max<double>(item_size, np->item_size[array::type_of(code)]);
    const array::ArrayFields* const fields = array::as_array(like);
    const auto shape = is_deferred_array(operand)
                           ? std::span<const Py_ssize_t>(deferred->shape().data(), deferred->shape().size())
                           : std::span<const Py_ssize_t>(fields->dimensions, static_cast<std::size_t>(fields->nd));
    if (!broadcast(shape, &extents.shape)) {
      return {};
    }
  }
  extents.are_arrays = true;
  extents.bytes = std::accumulate(extents.shape.begin(), extents.shape.end(), item_size, std::multiplies<>());
  return extents;
}

double min_proxy_bytes() { return static_cast<double>(std::min<long>(array::kLeastKept, min_deferred)); }

bool are_large_arrays(std::span<PyObject* const> operands) {
  const Extents extents = extents_of(operands, nullptr);
  return extents.are_arrays && extents.bytes >= min_proxy_bytes();
}

bool are_numbers(std::span<PyObject* const> operands) {
  return std::ranges::all_of(operands, [](PyObject* operand) {
    return PyFloat_CheckExact(operand) || PyLong_CheckExact(operand) || PyComplex_CheckExact(operand);
  });
}

// Whether a proxy may execute the call with these arguments at once, without deferring it.
bool may_execute_call(PyObject* const* arguments, std::size_t count, bool has_keywords) {
  PyObject* callable = arguments[-1];
  if (arguments[-2] != nullptr || count == 0 || count > kMostInputs || is_other_callable(callable)) {
    return false;
  }
  if (is_ufunc(callable)) {
    return !has_keywords && are_large_arrays({arguments, count});
  }
  return array::met_numpy() != nullptr && callable == array::bincount() && are_large_arrays({arguments, 1});
}

// The stack slot of the callable in front of the arguments. The slots are a method and its instance, or null and a
// callable.
PyObject** callable_of(PyObject** arguments) { return arguments[-2] == nullptr ? arguments - 1 : arguments - 2; }

bool is_product(const rewriter::Instruction& instruction) {
  return instruction.opcode == op::kBINARY_OP &&
         (instruction.arg == NB_MATRIX_MULTIPLY || instruction.arg == NB_INPLACE_MATRIX_MULTIPLY);
}

std::size_t operand_count(const rewriter::Instruction& instruction) {
  switch (instruction.opcode) {
    case op::kCALL:
      return static_cast<std::size_t>(instruction.arg);
    case op::kBINARY_OP:
    case op::kCOMPARE_OP:
      return 2;
    default:
      return 1;
  }
}

bool may_defer(const Extents& extents, std::span<PyObject* const> operands, const ArrayPlace& place) {
  const DeferredArrays* const deferred = DeferredArrays::of(place.frame);
  const bool is_suitable = deferred != nullptr ? deferred->shape() == extents.shape && !deferred->is_full()
                                               : extents.bytes >= static_cast<double>(min_deferred);
  return extents.are_arrays && extents.bytes >= min_proxy_bytes() && is_suitable &&
         (deferred != nullptr ? place.may_extend : place.may_begin) &&
         std::ranges::none_of(operands, death_may_run_code);
}

// Prepares an operation whose result may be deferred. If it is not, deferred arrays are forced first.
bool prepare_operation(std::span<PyObject* const> operands, const ArrayPlace& place) {
  Extents extents = extents_of(operands, DeferredArrays::of(place.frame));
  NextOperation next{.frame = place.frame, .has_proxy = extents.are_arrays && extents.bytes >= min_proxy_bytes()};
  next.may_defer = may_defer(extents, operands, place);
  if (!next.may_defer && !force_deferred(place.frame, place.end)) {
    return false;
  }
  next.shape = std::move(extents.shape);
  prepare_proxy(std::move(next));
  return true;
}

// A number of the type that the reduction gives; empty: the reduction cannot be fused, or the operand's type is not
// known.
Ref like_reduced(array::Reduction reduction, PyObject* operand, DeferredArrays* deferred) {
  const array::Numpy& np = *array::met_numpy();
  const int type = is_deferred_array(operand) ? deferred->type_of(operand)
                                              : static_cast<int>(array::type_of(array::classify(np, operand)));
  if (type < 0) {
    return {};
  }
  const array::ReductionKernel& kernel = array::reduction_kernel(np, reduction, static_cast<unsigned>(type));
  Ref like = kernel.loop == nullptr ? Ref() : Ref::steal(array::make_scalar(np, kernel.type, array::Accumulator{}));
  PyErr_Clear();
  return like;
}

// Prepares a reduction of all elements, whose result, a number, may be deferred.
bool prepare_reduction(array::Reduction reduction, PyObject* operand, const ArrayPlace& place) {
  DeferredArrays* const deferred = DeferredArrays::of(place.frame);
  NextOperation next{.frame = place.frame};
  if (is_array_type(Py_TYPE(array_behind(operand)))) {
    Extents extents = extents_of({&operand, 1}, deferred);
    if (may_defer(extents, {&operand, 1}, place)) {
      const DeferredArrays::Aside aside(place.frame);
      next.like = like_reduced(reduction, operand, deferred);
    }
    next.has_proxy = next.may_defer = static_cast<bool>(next.like);
    next.shape = std::move(extents.shape);
  }
  if (!next.may_defer && !force_deferred(place.frame, place.end)) {
    return false;
  }
  prepare_proxy(std::move(next));
  return true;
}

bool prepare_store(const ArrayPlace& place) {
  PyObject** const value = place.end - 3;
  const DeferredArrays* const deferred = DeferredArrays::of(place.frame);
  if (deferred == nullptr || !is_deferred_array(*value) || !is_array_type(Py_TYPE(array_behind(*value))) ||
      !is_array_type(Py_TYPE(place.end[-2])) || deferred->has_other_visible_results(*value, place.end)) {
    return force_deferred(place.frame, place.end);
  }
  prepare_proxy({.frame = place.frame, .has_proxy = true, .end = value});
  return true;
}

// Whether reading this attribute of an array runs no code of the program: a plain field, or a method that is not called
// yet.
bool is_plain_array_attribute(PyObject* attribute, PyObject* name) {
  constexpr std::array kPlainFields{"T", "dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"};
  return attribute != nullptr &&
         (Py_IS_TYPE(attribute, &PyMethodDescr_Type) ||
          (Py_IS_TYPE(attribute, &PyGetSetDescr_Type) && std::ranges::any_of(kPlainFields, [=](const char* one) {
             return PyUnicode_CompareWithASCIIString(name, one) == 0;
           })));
}

// Whether an instruction that loads runs no code of the program. `end`: the stack's end in front of it.
bool is_load_without_user_code(const rewriter::Instruction& instruction, PyObject* name, PyObject* const* end) {
  if (instruction.opcode == op::kLOAD_ATTR || instruction.opcode == op::kLOAD_METHOD) {
    PyObject* owner = end[-1];
    PyTypeObject* const of = Py_TYPE(owner);
    if (is_deferred_array(owner)) {
      // The proxy type has these methods, too (array_proxy.cpp).
      return instruction.opcode == op::kLOAD_METHOD && is_array_type(Py_TYPE(array_behind(owner))) &&
             array::may_be_reduction(name) && _PyType_Lookup(Py_TYPE(owner), name) != nullptr;
    }
    if (is_array_type(of)) {
      return is_plain_array_attribute(_PyType_Lookup(of, name), name);
    }
    PyObject* instance_dict = cpython::dict_of_instance(owner);
    return (PyModule_CheckExact(owner) &&
            cpython::find_without_side_effects(PyModule_GetDict(owner), name) != nullptr) ||
           (of->tp_getattro == PyObject_GenericGetAttr && _PyType_Lookup(of, name) == nullptr &&
            (instance_dict == nullptr || !cpython::asks_keys(instance_dict, name)));
  }
  if (instruction.opcode == op::kBINARY_SUBSCR) {
    PyObject* const container = end[-2];
    PyObject* const index = end[-1];
    if (!is_array_type(Py_TYPE(container)) && !PyList_CheckExact(container) && !PyTuple_CheckExact(container)) {
      return PyDict_CheckExact(container) && PyUnicode_CheckExact(index) && !cpython::asks_keys(container, index);
    }
    return is_plain_key(index);
  }
  return true;
}

// Prepares an instruction that only loads, or makes a container.
bool prepare_passed(const rewriter::Instruction& instruction, PyObject* name, const ArrayPlace& place) {
  const bool is_made = instruction.opcode == op::kBUILD_TUPLE || instruction.opcode == op::kBUILD_SLICE;
  const bool is_harmless = is_made ? std::none_of(place.end - instruction.arg, place.end, is_deferred_array)
                                   : is_load_without_user_code(instruction, name, place.end);
  return is_harmless || force_deferred(place.frame, place.end);
}

}  // namespace

bool may_have_array_proxy(rewriter::Opcode opcode) {
  return opcode == op::kBINARY_OP || opcode == op::kCOMPARE_OP || unary_operator(opcode) || opcode == op::kCALL ||
         opcode == op::kSTORE_SUBSCR;
}

bool prepare_arrays(const rewriter::Instruction& instruction, bool has_keywords, PyObject* name,
                    const ArrayPlace& place) {
  prepare_proxy({});
  DeferredArrays* const deferred = DeferredArrays::of(place.frame);
  const std::size_t count = operand_count(instruction);
  PyObject** const operands = place.end - count;
  if (may_have_array_proxy(instruction.opcode)) {
    if (instruction.opcode == op::kSTORE_SUBSCR) {
      return prepare_store(place);
    }
    const bool is_operation =
        instruction.opcode == op::kCALL
            ? operands[-2] == nullptr && count != 0 && !has_keywords && elementwise_arguments(operands[-1]) == count
            : !is_product(instruction);
    if (instruction.opcode != CALL && place.may_extend && are_numbers({operands, count})) {
      return true;  // arithmetic of Python numbers in the middle of a line
    }
    // A function and its argument, or a method and its instance.
    if (instruction.opcode == op::kCALL && !has_keywords && count == (operands[-2] == nullptr ? 1 : 0)) {
      PyObject** const callable = callable_of(operands);
      if (const array::Reduction reduction = reduction_of(*callable); reduction != array::Reduction::kCount) {
        return prepare_reduction(reduction, callable[1], place);
      }
    }
    if (is_operation) {
      return prepare_operation({operands, count}, place);
    }
    if (!force_deferred(place.frame, place.end)) {
      return false;
    }
    prepare_proxy({.has_proxy = instruction.opcode == op::kCALL && may_execute_call(operands, count, has_keywords)});
    return true;
  }
  if (deferred == nullptr) {
    return true;
  }
  switch (place.reach) {
    case ArraySpans::Reach::kPassed:
      return true;
    case ArraySpans::Reach::kBound:
      return deferred->bind(static_cast<int>(instruction.arg)) || force_deferred(place.frame, place.end);
    case ArraySpans::Reach::kLooked:
      return prepare_passed(instruction, name, place);
    case ArraySpans::Reach::kReturned:
      return force_deferred(place.frame, place.end, DeferredArrays::Scope::kReturned);
    default:
      return force_deferred(place.frame, place.end);
  }
}

bool put_array_proxy(const rewriter::Instruction& instruction, const ArrayPlace& place) {
  if (!is_proxy_prepared()) {
    return true;
  }
  PyObject** const end = place.end;
  PyObject** dispatched = end - operand_count(instruction);
  dispatched = instruction.opcode == op::kCALL           ? callable_of(dispatched)
               : instruction.opcode == op::kSTORE_SUBSCR ? end - 2
                                                         : dispatched;
  if (is_deferred_array(*dispatched) || put_proxy(dispatched)) {
    return true;
  }
  prepare_proxy({});
  return force_deferred(place.frame, end);
}

}  // namespace tagalong::recorder
