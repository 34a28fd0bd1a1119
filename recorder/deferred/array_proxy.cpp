#include "recorder/deferred/array_proxy.h"

#include <opcode.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "recorder/base/hints.h"
#include "recorder/base/postponed_requests.h"
#include "recorder/deferred/deferred_arrays.h"
#include "recorder/deferred/deferred_calls.h"
#include "recorder/deferred/operations.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::recorder {
namespace {

struct Proxy {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* object;          // the object in whose place the proxy is; of a deferred array: an array of the same kind
  DeferredArrays* deferred;  // null: the proxy is no deferred array
};

PyTypeObject* type = nullptr;

thread_local NextOperation next_operation;

Proxy* as_proxy(PyObject* object) { return reinterpret_cast<Proxy*>(object); }
PyObject* object_of(PyObject* self) { return as_proxy(self)->object; }
PyObject* object_of_operand(PyObject* operand) { return Py_TYPE(operand) == type ? object_of(operand) : operand; }

}  // namespace

bool is_deferred_array(PyObject* object) {
  return object != nullptr && Py_TYPE(object) == type && as_proxy(object)->deferred != nullptr;
}

namespace {

PyTypeObject* make_type();
PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names);

// Null: an exception is set.
Proxy* make_proxy(Ref object) {
  if (cpython::once(type, make_type) == nullptr) {
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

// The proxies give up their objects with the operation, since the interpreter has the last references to them.
PyObject* execute_now(const ArrayOperator& op, std::span<PyObject* const> operands) {
  std::array<PyObject*, kMostInputs> objects{};
  std::ranges::transform(operands, objects.begin(), object_of_operand);
  return execute_operator(op, std::span<PyObject* const>(objects).first(operands.size()));
}

bool is_called(const ArrayOperator& op) { return op.callable.get() != nullptr; }

// Defers the operation and returns the proxy of its result.
PyObject* defer_operation(ArrayOperator op, const NextOperation& next, std::span<PyObject* const> operands) {
  PyObject* like = next.like ? next.like.get() : object_of_operand(operands.front());
  for (PyObject* operand : operands) {
    PyObject* const object = object_of_operand(operand);
    like = !next.like && bytes_of_array(object) > bytes_of_array(like) ? object : like;
  }
  DeferredArrays* const deferred = DeferredArrays::begin(next.frame, next.shape);
  if (deferred == nullptr) {
    return nullptr;
  }
  const bool is_call = is_called(op);  // arguments of calls are never temporaries
  Expression::Operands taken;
  for (PyObject* operand : operands) {
    const int node = deferred->node_of(operand);
    if (node >= 0) {
      taken.push_back({.object = {}, .node = node, .is_anonymous = !is_call && Py_REFCNT(operand) == 1});
      continue;
    }
    Ref object = Ref::create(object_of_operand(operand));
    const bool is_only_proxy = Py_TYPE(operand) != type || Py_REFCNT(operand) == 1;
    taken.push_back(
        {.object = {}, .node = -1, .is_anonymous = !is_call && is_only_proxy && Py_REFCNT(object.get()) == 2});
    taken.back().object = std::move(object);
  }
  // `like` may be one of the operands: this adds a reference to it.
  Proxy* const result = make_proxy(Ref::create(like));
  if (result == nullptr) {
    return nullptr;
  }
  deferred->add(std::move(op), std::move(taken), cpython::unit_of(cpython::current_frame(cpython::thread_state())),
                reinterpret_cast<PyObject*>(result));
  result->deferred = deferred;
  return reinterpret_cast<PyObject*>(result);
}

// Executes or defers the operation of a proxy, which is its first operand or its function.
PyObject* operate(const ArrayOperator& op, std::span<PyObject* const> operands) {
  const NextOperation next = std::exchange(next_operation, {});
  if (!next.may_defer) {
    return execute_now(op, operands);
  }
  PyObject* const result = defer_operation(op, next, operands);
  if (is_called(op)) {
    postpone_requests(cpython::thread_state());  // behind a call the interpreter handles pending requests
  }
  return result;
}

template <int kArgument>
PyObject* binary(PyObject* self, PyObject* right) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return operate({.kind = ArrayOperator::Kind::kBinary, .code = kArgument}, std::array{self, right});
}

template <int kArgument>
PyObject* power(PyObject* self, PyObject* right, PyObject* /*modulus*/) {
  return binary<kArgument>(self, right);
}

template <replay::UnaryOperator kOperator>
PyObject* unary(PyObject* self) {
  return operate({.kind = ArrayOperator::Kind::kUnary, .code = static_cast<int>(kOperator)}, std::array{self});
}

PyObject* compare(PyObject* self, PyObject* right, int comparison) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return operate({.kind = ArrayOperator::Kind::kCompare, .code = comparison}, std::array{self, right});
}

// Assignment to a part of a container, whose value may be a deferred array.
int assign(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const container = object_of(self);
  const NextOperation next = std::exchange(next_operation, {});
  if (value == nullptr || !is_deferred_array(value)) {
    return PyObject_SetItem(container, key, value);  // the fallback for a deletion, which never has a proxy
  }
  const std::unique_ptr<DeferredArrays> deferred = DeferredArrays::take(next.frame);
  if (is_plain_key(key)) {
    const Ref part = Ref::steal(PyObject_GetItem(container, key));
    if (part && is_array_type(Py_TYPE(part.get())) && deferred->store(part.get())) {
      return 0;
    }
    PyErr_Clear();  // PyObject_SetItem below raises it again, after the computation
  }
  return deferred->force(next.end, DeferredArrays::Scope::kAll) ? PyObject_SetItem(container, key, object_of(value))
                                                                : -1;
}

// A call of a ufunc or of one of NumPy's own functions, with as many arguments as the hook has seen.
PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  PyObject* const callable = object_of(self);
  const std::span operands(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)));
  if (const array::Reduction reduction = reduction_of(callable); reduction != array::Reduction::kCount) {
    return operate(
        {.kind = ArrayOperator::Kind::kReduce, .code = static_cast<int>(reduction), .callable = Ref::create(callable)},
        operands);
  }
  if (callable != array::bincount()) {
    const auto kind = is_ufunc(callable) ? ArrayOperator::Kind::kCall : ArrayOperator::Kind::kWhere;
    return operate({.kind = kind, .callable = Ref::create(callable)}, operands);
  }
  const std::size_t count = operands.size() + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  const array::Numpy* np = array::met_numpy();
  PyObject* bins = np == nullptr ? nullptr : array::count_bins(*np, arguments, static_cast<int>(count), names);
  return bins != nullptr ? bins : PyObject_Vectorcall(callable, arguments, flags, names);
}

// An exception has been raised while operations are deferred. Eager execution would have done them before, and would
// have raised their exceptions. So they are forced now; the interpreter takes the proxies from the stack later.
void force_before_exception(const cpython::Frame* frame) {
  PyObject* exception[3] = {};
  PyErr_Fetch(&exception[0], &exception[1], &exception[2]);
  if (force_deferred(frame, nullptr)) {
    PyErr_Restore(exception[0], exception[1], exception[2]);
    return;
  }
  std::ranges::for_each(exception, [](PyObject* object) { Py_XDECREF(object); });
  PyThreadState* thread = cpython::thread_state();
  if (const Ref current = Ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)))) {
    PyTraceBack_Here(reinterpret_cast<PyFrameObject*>(current.get()));
  }
}

void deallocate(PyObject* self) {
  if (is_deferred_array(self)) {
    DeferredArrays* const deferred = std::exchange(as_proxy(self)->deferred, nullptr);
    deferred->forget(self);
    cpython::Frame* const frame = deferred->frame();
    if (PyErr_Occurred() != nullptr && DeferredArrays::of(frame) == deferred) {
      force_before_exception(frame);
    }
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

// Gives the proxy type the arrays' own methods that reduce all elements. The interpreter then loads such a method with
// a proxy as its instance, as it does with an array, and checks no more before the call.
void add_reduction_methods(PyTypeObject* made) {
  const array::Numpy* np = array::met_numpy();
  PyObject* name = nullptr;
  PyObject* method = nullptr;
  for (Py_ssize_t place = 0; np != nullptr && PyDict_Next(np->array_type->tp_dict, &place, &name, &method) != 0;) {
    if (reduction_of(method) != array::Reduction::kCount && PyDict_SetItem(made->tp_dict, name, method) != 0) {
      PyErr_Clear();
    }
  }
  PyType_Modified(made);
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
      {Py_nb_negative, reinterpret_cast<void*>(unary<replay::UnaryOperator::kNegative>)},
      {Py_nb_positive, reinterpret_cast<void*>(unary<replay::UnaryOperator::kPositive>)},
      {Py_nb_invert, reinterpret_cast<void*>(unary<replay::UnaryOperator::kInvert>)},
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
  auto* const made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (made != nullptr) {
    add_reduction_methods(made);
  }
  return made;
}

}  // namespace

namespace {

bool is_plain_index(PyObject* index) {
  return index == Py_None || index == Py_Ellipsis || PyLong_CheckExact(index) || cpython::is_plain_slice(index);
}

}  // namespace

bool is_plain_key(PyObject* key) {
  return PyTuple_CheckExact(key)
             ? std::all_of(&PyTuple_GET_ITEM(key, 0), &PyTuple_GET_ITEM(key, 0) + PyTuple_GET_SIZE(key), is_plain_index)
             : is_plain_index(key);
}

void prepare_proxy(NextOperation next) { next_operation = std::move(next); }
bool is_proxy_prepared() { return next_operation.has_proxy; }

bool put_proxy(PyObject** place) {
  Proxy* proxy = make_proxy(Ref());
  if (proxy == nullptr) {
    PyErr_Clear();  // NumPy does the operation
    return false;
  }
  proxy->object = std::exchange(*place, reinterpret_cast<PyObject*>(proxy));
  return true;
}

bool has_deferred_arrays(const cpython::Frame* frame) { return DeferredArrays::of(frame) != nullptr; }

bool force_arrays(const cpython::Frame* frame) { return force_deferred(frame, nullptr); }

void forget_like(PyObject* proxy) {
  const Ref like = Ref::steal(std::exchange(as_proxy(proxy)->object, Py_NewRef(Py_None)));
}

void resolve_proxy(PyObject* proxy, Ref array) {
  Proxy* const resolved = as_proxy(proxy);
  resolved->deferred = nullptr;
  const Ref like = Ref::steal(std::exchange(resolved->object, array ? array.release() : Py_NewRef(Py_None)));
}

PyObject* array_behind(PyObject* object) { return is_deferred_array(object) ? object_of(object) : object; }

}  // namespace tagalong::recorder
