#include "recorder/array_proxy.h"

#include <opcode.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "recorder/array_calls.h"
#include "recorder/array_expression.h"
#include "recorder/array_operations.h"
#include "recorder/facts.h"
#include "replay/array/bins.h"
#include "replay/array/kept_memory.h"
#include "replay/array/operand.h"
#include "rewriter/interp/exact_numbers.h"
#include "rewriter/interp/once.h"
#include "rewriter/interp/requests.h"

namespace tagalong::recorder {

long worth_waiting = kWorthWaiting;

namespace {

constexpr unsigned kMostInputs = 4;
constexpr int kMostAxes = 8;  // that are looked at

struct Proxy {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* object;        // whose place it has; of a result that waits to be computed: an array like it
  Expression* expression;  // that waits; null: none does
  // Where the result of its next operation may wait, on whose stack; null: nowhere. The bytes of that.
  interp::Frame* frame;
  PyObject** place;
  double bytes;
};

PyTypeObject* type = nullptr;

// Of this thread (after a fork the others' frames are gone), in the order in which they have begun to wait.
std::vector<Proxy*>& waiting() {
  static thread_local std::vector<Proxy*> proxies;
  return proxies;
}

Proxy* as_proxy(PyObject* object) { return reinterpret_cast<Proxy*>(object); }
PyObject* object_of(PyObject* self) { return as_proxy(self)->object; }
PyObject* object_of_operand(PyObject* operand) { return Py_TYPE(operand) == type ? object_of(operand) : operand; }
bool is_waiting(PyObject* object) {
  return object != nullptr && Py_TYPE(object) == type && as_proxy(object)->expression != nullptr;
}

std::size_t size_of(PyObject* object) { return is_waiting(object) ? as_proxy(object)->expression->size() : 0; }

struct Taken {
  Expression expression;
  Ref like;
};
Taken take(PyObject* self) {
  std::erase(waiting(), as_proxy(self));
  const std::unique_ptr<Expression> expression(std::exchange(as_proxy(self)->expression, nullptr));
  return {std::move(*expression), Ref::steal(std::exchange(as_proxy(self)->object, Py_NewRef(Py_None)))};
}

// On the frame's stack, below that place if one is given; null: nothing.
Proxy* first_waiting(const interp::Frame* frame, PyObject* const* end = nullptr) {
  const auto found = std::ranges::find_if(
      waiting(), [=](const Proxy* proxy) { return proxy->frame == frame && (end == nullptr || proxy->place < end); });
  return found == waiting().end() ? nullptr : *found;
}

void drop_waiting(const interp::Frame* frame) {
  while (Proxy* const first = first_waiting(frame)) {
    const Taken dropped = take(reinterpret_cast<PyObject*>(first));
  }
}

// Computes what waits on the frame's stack, below that place if one is given, in the order of the program. False: an
// exception is set; all that waited for the frame is dropped, which eager execution would not have reached.
bool settle_below(const interp::Frame* frame, PyObject* const* end) {
  while (Proxy* const first = first_waiting(frame, end)) {
    PyObject** const place = first->place;
    Expression expression = take(reinterpret_cast<PyObject*>(first)).expression;
    Ref result = expression.compute();
    if (!result) {
      drop_waiting(frame);
      return false;
    }
    const Ref old = Ref::steal(std::exchange(*place, result.release()));
  }
  return true;
}

PyTypeObject* make_type();
PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names);

// Null with an exception set.
Proxy* make_proxy(Ref object) {
  if (interp::once(type, make_type) == nullptr) {
    return nullptr;
  }
  auto* proxy = as_proxy(type->tp_alloc(type, 0));
  if (proxy != nullptr) {
    proxy->vectorcall = call;
    proxy->object = object.release();
  }
  return proxy;
}

double bytes_of_array(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, object);
  return code != array::kForeign && array::is_array(code) ? static_cast<double>(array::bytes_of(*np, object, code))
                                                          : 0.0;
}

bool is_anything_requested() { return static_cast<bool>(interp::RequestFlag(interp::thread_state())); }

// What the proxies stand for is given up with the operation: the interpreter has the last reference to them.
PyObject* operate_at_once(const ArrayOperator& op, std::span<PyObject* const> operands) {
  std::array<PyObject*, kMostInputs> objects{};
  std::ranges::transform(operands, objects.begin(), object_of_operand);
  return execute_operator(op, std::span<PyObject* const>(objects).first(operands.size()));
}

// The operation of this proxy, which is the first one of the operands or stands for the function.
PyObject* operate(ArrayOperator op, const Proxy* self, std::span<PyObject* const> operands) {
  PyObject** const place = self->place;
  interp::Frame* const frame = self->frame;
  const double bytes = self->bytes;
  if (place == nullptr && std::ranges::none_of(operands, is_waiting)) {
    return operate_at_once(op, operands);
  }
  const bool is_call = op.kind == ArrayOperator::Kind::kCall;
  const std::size_t size =
      std::transform_reduce(operands.begin(), operands.end(), std::size_t{0}, std::plus<>(), size_of);
  // Behind a call the interpreter serves what is requested, which would find the result computed.
  const bool goes_on = place != nullptr && size < Expression::kMost && !(is_call && is_anything_requested());
  if (place != nullptr && !goes_on && !settle_below(frame, place)) {
    return nullptr;
  }
  Ref like;
  Expression expression;
  Expression::Operands taken_operands;
  for (PyObject* operand : operands) {
    Expression::Operand one;
    Ref alike = Ref::create(object_of_operand(operand));
    if (is_waiting(operand)) {
      one = expression.append(take(operand).expression);
    } else if (Py_TYPE(operand) == type) {
      one.object = Ref::steal(std::exchange(as_proxy(operand)->object, Py_NewRef(Py_None)));
    } else if (goes_on || is_call) {
      one.object = Ref::create(operand);
    }
    if (!like || bytes_of_array(alike.get()) > bytes_of_array(like.get())) {
      like = std::move(alike);
    }
    taken_operands.push_back(std::move(one));
  }
  expression.add(std::move(op), std::move(taken_operands),
                 interp::unit_of(interp::current_frame(interp::thread_state())));
  if (!goes_on) {
    like = Ref();  // or it would seem that somebody holds that operand
    return expression.compute(operands.back()).release();
  }
  Proxy* result = make_proxy(std::move(like));
  if (result != nullptr) {
    result->expression = new Expression(std::move(expression));
    result->frame = frame;
    result->place = place;
    result->bytes = bytes;
    waiting().push_back(result);
  }
  return reinterpret_cast<PyObject*>(result);
}

template <int kArgument>
PyObject* binary(PyObject* self, PyObject* right) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return operate({.kind = ArrayOperator::Kind::kBinary, .code = kArgument}, as_proxy(self), std::array{self, right});
}

template <int kArgument>
PyObject* power(PyObject* self, PyObject* right, PyObject* /*modulus*/) {
  return binary<kArgument>(self, right);
}

template <int kOpcode>
PyObject* unary(PyObject* self) {
  return operate({.kind = ArrayOperator::Kind::kUnary, .code = kOpcode}, as_proxy(self), std::array{self});
}

PyObject* compare(PyObject* self, PyObject* right, int comparison) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return operate({.kind = ArrayOperator::Kind::kCompare, .code = comparison}, as_proxy(self), std::array{self, right});
}

// Whether it takes a part of an array, without a copy, and asks nobody.
bool is_plain_index(PyObject* index) {
  return index == Py_None || index == Py_Ellipsis || PyLong_CheckExact(index) || interp::is_plain_slice(index);
}

bool is_plain_key(PyObject* key) {
  return PyTuple_CheckExact(key)
             ? std::all_of(&PyTuple_GET_ITEM(key, 0), &PyTuple_GET_ITEM(key, 0) + PyTuple_GET_SIZE(key), is_plain_index)
             : is_plain_index(key);
}

// Of a container, which gets what has waited.
int assign(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const container = object_of(self);
  if (value == nullptr || !is_waiting(value)) {
    return PyObject_SetItem(container, key, value);  // never: a deletion has no proxy
  }
  Taken taken = take(value);
  taken.like = Ref();
  if (is_plain_key(key)) {
    const Ref part = Ref::steal(PyObject_GetItem(container, key));
    if (part && is_array_type(Py_TYPE(part.get())) && taken.expression.store(part.get())) {
      return 0;
    }
    PyErr_Clear();  // that is raised behind the computation
  }
  const Ref result = taken.expression.compute();
  return result ? PyObject_SetItem(container, key, result.get()) : -1;
}

// A ufunc or one of NumPy's own functions, with as many arguments as the hook has seen.
PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  PyObject* const callable = object_of(self);
  const std::span operands(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)));
  if (callable != array::bincount()) {
    return operate({.kind = ArrayOperator::Kind::kCall, .callable = Ref::create(callable)}, as_proxy(self), operands);
  }
  std::array<PyObject*, 2 + kMostInputs> slots{nullptr, callable};
  const std::size_t count = operands.size() + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  std::copy_n(arguments, count, slots.begin() + 2);
  PyObject* bins = array::count_bins(slots.data(), static_cast<int>(count) + 2, names);
  return bins != nullptr ? bins : PyObject_Vectorcall(callable, arguments, flags, names);
}

// An exception has been raised before the operation was due that it waited for. Eager execution would have done it
// before that, and would have raised what it raises. So with those below, which the interpreter takes from the stack
// later.
void catch_up(PyObject* self) {
  PyObject* raised[3] = {};
  PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  Expression expression = take(self).expression;
  if (settle_below(as_proxy(self)->frame, nullptr) && expression.compute()) {
    PyErr_Restore(raised[0], raised[1], raised[2]);
    return;
  }
  std::ranges::for_each(raised, [](PyObject* object) { Py_XDECREF(object); });
  PyThreadState* thread = interp::thread_state();
  if (const Ref frame = Ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)))) {
    PyTraceBack_Here(reinterpret_cast<PyFrameObject*>(frame.get()));
  }
}

void deallocate(PyObject* self) {
  if (is_waiting(self)) {
    catch_up(self);
  }
  PyTypeObject* own = Py_TYPE(self);
  PyObject* object = object_of(self);
  own->tp_free(self);
  Py_DECREF(own);
  Py_DECREF(object);
}

template <int kArgument>
constexpr void* slot() {
  return reinterpret_cast<void*>(binary<kArgument>);
}

PyTypeObject* make_type() {
  static std::array<PyMemberDef, 2> members{{
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Proxy, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyType_Slot, 34> slots{{
      {Py_tp_members, members.data()},
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(assign)},
      {Py_nb_negative, reinterpret_cast<void*>(unary<UNARY_NEGATIVE>)},
      {Py_nb_positive, reinterpret_cast<void*>(unary<UNARY_POSITIVE>)},
      {Py_nb_invert, reinterpret_cast<void*>(unary<UNARY_INVERT>)},
      {Py_nb_add, slot<NB_ADD>()},
      {Py_nb_and, slot<NB_AND>()},
      {Py_nb_floor_divide, slot<NB_FLOOR_DIVIDE>()},
      {Py_nb_lshift, slot<NB_LSHIFT>()},
      {Py_nb_multiply, slot<NB_MULTIPLY>()},
      {Py_nb_remainder, slot<NB_REMAINDER>()},
      {Py_nb_or, slot<NB_OR>()},
      {Py_nb_power, reinterpret_cast<void*>(power<NB_POWER>)},
      {Py_nb_rshift, slot<NB_RSHIFT>()},
      {Py_nb_subtract, slot<NB_SUBTRACT>()},
      {Py_nb_true_divide, slot<NB_TRUE_DIVIDE>()},
      {Py_nb_xor, slot<NB_XOR>()},
      {Py_nb_inplace_add, slot<NB_INPLACE_ADD>()},
      {Py_nb_inplace_and, slot<NB_INPLACE_AND>()},
      {Py_nb_inplace_floor_divide, slot<NB_INPLACE_FLOOR_DIVIDE>()},
      {Py_nb_inplace_lshift, slot<NB_INPLACE_LSHIFT>()},
      {Py_nb_inplace_multiply, slot<NB_INPLACE_MULTIPLY>()},
      {Py_nb_inplace_remainder, slot<NB_INPLACE_REMAINDER>()},
      {Py_nb_inplace_or, slot<NB_INPLACE_OR>()},
      {Py_nb_inplace_power, reinterpret_cast<void*>(power<NB_INPLACE_POWER>)},
      {Py_nb_inplace_rshift, slot<NB_INPLACE_RSHIFT>()},
      {Py_nb_inplace_subtract, slot<NB_INPLACE_SUBTRACT>()},
      {Py_nb_inplace_true_divide, slot<NB_INPLACE_TRUE_DIVIDE>()},
      {Py_nb_inplace_xor, slot<NB_INPLACE_XOR>()},
      {0, nullptr},
  }};
  static PyType_Spec spec = {"tagalong._core.ArrayProxy", sizeof(Proxy), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// Of the largest operand, or, mostly, of what they become by broadcasting; -1: they are no arrays and numbers.
double bytes_of_operation(std::span<PyObject* const> operands) {
  bool has_array = false;
  for (PyObject* operand : operands) {
    has_array = has_array || is_array_type(Py_TYPE(operand)) || is_waiting(operand);
  }
  const array::Numpy* np = has_array ? array::numpy_if_ready() : nullptr;
  std::array<double, kMostAxes> shape{};
  shape.fill(1.0);
  double item_size = 0.0;
  double bytes = 0.0;
  for (PyObject* operand : operands) {
    PyObject* const like = array_behind(operand);
    const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, like);
    if (code == array::kForeign) {
      return -1.0;
    }
    if (!array::is_array(code)) {
      continue;
    }
    const array::ArrayFields* const fields = array::as_array(like);
    bytes = std::max(bytes, is_waiting(operand) ? as_proxy(operand)->bytes : bytes_of_array(like));
    item_size = std::max<double>(item_size, np->item_size[array::type_of(code)]);
    for (int axis = std::max(0, fields->nd - kMostAxes); axis < fields->nd; ++axis) {
      double& extent = shape.at(static_cast<std::size_t>(fields->nd - 1 - axis));
      extent = extent == 1.0 ? static_cast<double>(fields->dimensions[axis]) : extent;
    }
  }
  return std::max(bytes, std::accumulate(shape.begin(), shape.end(), item_size, std::multiplies<>()));
}

double least_bytes() { return static_cast<double>(std::min<long>(array::kLeastKept, worth_waiting)); }

bool are_large_arrays(std::span<PyObject* const> operands) { return bytes_of_operation(operands) >= least_bytes(); }

// The call whose arguments stand there, behind the callable: one that never waits.
bool may_be_executed(PyObject* const* arguments, std::size_t count, bool has_keywords) {
  PyObject* callable = arguments[-1];
  if (arguments[-2] != nullptr || count == 0 || count > kMostInputs || PyFunction_Check(callable) ||
      PyCFunction_Check(callable) || PyType_Check(callable)) {
    return false;
  }
  if (is_ufunc(callable)) {
    return !has_keywords && are_large_arrays({arguments, count});
  }
  return array::met_numpy() != nullptr && callable == array::bincount() && are_large_arrays({arguments, 1});
}

Proxy* replace(PyObject** place) {
  Proxy* proxy = make_proxy(Ref());
  if (proxy == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  proxy->object = std::exchange(*place, reinterpret_cast<PyObject*>(proxy));
  return proxy;
}

// An operation that may wait, the one that is asked first and where its result will be. What waits below is computed
// first if it does not, in the order of the program.
bool put_in_front(std::span<PyObject* const> operands, PyObject** asked, PyObject** result, const ArrayPlace& place) {
  const double bytes = bytes_of_operation(operands);
  if (bytes < least_bytes()) {
    return settle_arrays(place.frame);
  }
  const bool may_wait = place.may_wait &&
                        (std::ranges::any_of(operands, is_waiting) || bytes >= static_cast<double>(worth_waiting)) &&
                        std::ranges::none_of(operands, is_mourned);
  if (!may_wait && !settle_below(place.frame, result)) {
    return false;
  }
  Proxy* proxy = is_waiting(*asked) ? as_proxy(*asked) : replace(asked);
  if (proxy != nullptr) {
    proxy->frame = place.frame;
    proxy->place = may_wait ? result : nullptr;
    proxy->bytes = bytes;
  }
  return proxy != nullptr || settle_arrays(place.frame);
}

bool put_in_operator(std::size_t count, PyObject** end, const ArrayPlace& place) {
  return put_in_front({end - count, count}, end - count, end - count, place);
}

bool put_in_call(std::size_t count, bool has_keywords, PyObject** end, const ArrayPlace& place) {
  PyObject** const arguments = end - count;
  const bool is_elementwise =
      arguments[-2] == nullptr && count != 0 && !has_keywords && elementwise_arguments(arguments[-1]) == count;
  if (is_elementwise) {
    return put_in_front({arguments, count}, arguments - 1, arguments - 2, place);
  }
  if (!settle_arrays(place.frame)) {
    return false;
  }
  if (may_be_executed(arguments, count, has_keywords)) {
    replace(arguments - 1);
  }
  return true;
}

}  // namespace

bool may_have_array_proxy(std::uint8_t opcode) {
  return opcode == BINARY_OP || opcode == COMPARE_OP || opcode == UNARY_NEGATIVE || opcode == UNARY_INVERT ||
         opcode == UNARY_POSITIVE || opcode == CALL || opcode == STORE_SUBSCR;
}

bool put_array_proxy(const rewriter::Instruction& instruction, bool has_keywords, PyObject** end,
                     const ArrayPlace& place) {
  const auto argument = static_cast<std::size_t>(instruction.arg);
  if (instruction.opcode == CALL) {
    return put_in_call(argument, has_keywords, end, place);
  }
  if (instruction.opcode == STORE_SUBSCR) {
    PyObject** const value = end - 3;
    if (!is_waiting(*value) || !is_array_type(Py_TYPE(end[-2]))) {
      return settle_arrays(place.frame);
    }
    return settle_below(place.frame, value) && (replace(end - 2) != nullptr || settle_arrays(place.frame));
  }
  const bool is_product =
      instruction.opcode == BINARY_OP && (argument == NB_MATRIX_MULTIPLY || argument == NB_INPLACE_MATRIX_MULTIPLY);
  const std::size_t count = instruction.opcode == BINARY_OP || instruction.opcode == COMPARE_OP ? 2 : 1;
  return is_product ? settle_arrays(place.frame) : put_in_operator(count, end, place);
}

bool has_waiting_arrays(const interp::Frame* frame) { return first_waiting(frame) != nullptr; }

bool settle_arrays(const interp::Frame* frame) { return settle_below(frame, nullptr); }

bool is_quiet_load(const rewriter::Instruction& instruction, PyObject* name, PyObject* const* end) {
  if (instruction.opcode == LOAD_ATTR || instruction.opcode == LOAD_METHOD) {
    PyObject* owner = end[-1];
    PyTypeObject* const of = Py_TYPE(owner);
    return (PyModule_CheckExact(owner) && PyDict_GetItem(PyModule_GetDict(owner), name) != nullptr) ||
           (of->tp_getattro == PyObject_GenericGetAttr && _PyType_Lookup(of, name) == nullptr);
  }
  if (instruction.opcode == BINARY_SUBSCR) {
    PyObject* const container = end[-2];
    PyObject* const index = end[-1];
    if (!is_array_type(Py_TYPE(container)) && !PyList_CheckExact(container) && !PyTuple_CheckExact(container)) {
      return PyDict_CheckExact(container) && PyUnicode_CheckExact(index);
    }
    return is_plain_key(index);
  }
  return true;
}

PyObject* array_behind(PyObject* object) { return is_waiting(object) ? object_of(object) : object; }

}  // namespace tagalong::recorder
