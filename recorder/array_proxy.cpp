#include "recorder/array_proxy.h"

#include <opcode.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "recorder/facts.h"
#include "replay/array/bins.h"
#include "replay/array/functions.h"
#include "replay/array/kept_memory.h"
#include "replay/array/operand.h"
#include "replay/array/region.h"
#include "replay/array/ufunc_site.h"
#include "replay/operations.h"
#include "rewriter/interp/once.h"

namespace tagalong::recorder {

array::LoopTally proxy_tally;

namespace {

constexpr unsigned kMostInputs = 4;

struct Proxy {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* object;  // whose place it has
};

PyTypeObject* type = nullptr;

// The reference that the interpreter has, in eager execution the only one to a result that has no name. So nobody else
// looks at the memory of those that have no other.
unsigned temporaries(std::span<PyObject* const> operands) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    mask |= Py_REFCNT(operands[i]) == 1 ? array::kAnonymous << i : 0;
  }
  return mask;
}

// What a site leaves to others since the arrays lie otherwise, or are to be cast, may be a region of one operation.
// Empty: nothing has happened.
template <class Build>
Ref run_alone(std::span<PyObject* const> operands, const Build& build) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || array::regions_enabled == 0) {
    return {};
  }
  array::RegionBuilder builder(*np);
  std::array<int, kMostInputs> numbers{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    numbers.at(i) = builder.external(operands[i], static_cast<unsigned>(i));
    if (numbers.at(i) < 0) {
      return {};
    }
  }
  const int result = build(builder, std::span<const int>(numbers.data(), operands.size()));
  const auto plan = result < 0 ? nullptr : builder.finish({&result, 1});
  Ref output;
  const bool is_done = plan != nullptr && plan->run(*np, operands.data(), &output) == array::RegionReason::kNone;
  return is_done ? output : Ref();
}

// Nothing that replays under way have prepared for reports is meant.
template <class Operation, class Build, class General>
PyObject* execute(std::span<PyObject* const> operands, const Operation& operation, const Build& build,
                  const General& general) {
  static auto* const site = new array::UfuncSite;  // of all proxies, for the process
  const array::BeforeReport nothing([](void* /*context*/) { return true; }, nullptr);
  Ref result;
  const array::Outcome outcome = operation(*site, temporaries(operands), &result);
  if (outcome == array::Outcome::kError) {
    return nullptr;
  }
  if (outcome == array::Outcome::kFallback) {
    result = run_alone(operands, build);
  }
  if (!result) {
    proxy_tally.left.add();
    return general();
  }
  proxy_tally.computed.add();
  return result.release();
}

PyObject* object_of(PyObject* self) { return reinterpret_cast<Proxy*>(self)->object; }

template <int kArgument>
PyObject* binary(PyObject* self, PyObject* right) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  constexpr auto kOperator = static_cast<array::BinaryOperator>(kArgument);
  const std::array operands{object_of(self), right};
  return execute(
      operands,
      [&](array::UfuncSite& site, unsigned mask, Ref* result) {
        return site.binary(kOperator, operands[0], operands[1], mask, result);
      },
      [&](array::RegionBuilder& builder, std::span<const int> numbers) {
        return builder.binary(kOperator, numbers[0], numbers[1], temporaries(operands));
      },
      [&] { return replay::binary_operation(kArgument, operands[0], operands[1]); });
}

template <int kArgument>
PyObject* power(PyObject* self, PyObject* right, PyObject* /*modulus*/) {
  return binary<kArgument>(self, right);
}

template <array::UnaryOperator kOperator, int kOpcode>
PyObject* unary(PyObject* self) {
  const std::array operands{object_of(self)};
  return execute(
      operands,
      [&](array::UfuncSite& site, unsigned mask, Ref* result) {
        return site.unary(kOperator, operands[0], mask, result);
      },
      [&](array::RegionBuilder& builder, std::span<const int> numbers) {
        return builder.unary(kOperator, numbers[0], temporaries(operands));
      },
      [&] { return replay::unary_operation(kOpcode, operands[0]); });
}

PyObject* compare(PyObject* self, PyObject* right, int comparison) {
  if (Py_TYPE(self) != type) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const std::array operands{object_of(self), right};
  return execute(
      operands,
      [&](array::UfuncSite& site, unsigned mask, Ref* result) {
        return site.compare(comparison, operands[0], operands[1], mask, result);
      },
      [&](array::RegionBuilder& builder, std::span<const int> numbers) {
        return builder.compare(comparison, numbers[0], numbers[1]);
      },
      [&] { return PyObject_RichCompare(operands[0], operands[1], comparison); });
}

// A ufunc or one of NumPy's own functions, with as many arguments as the hook has seen.
PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  PyObject* const callable = object_of(self);
  const std::span operands(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)));
  const auto general = [&] { return PyObject_Vectorcall(callable, arguments, flags, names); };
  if (callable == array::bincount()) {
    std::array<PyObject*, 2 + kMostInputs> slots{nullptr, callable};
    const std::size_t count = operands.size() + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
    std::copy_n(arguments, count, slots.begin() + 2);
    PyObject* bins = array::count_bins(slots.data(), static_cast<int>(count) + 2, names);
    return bins != nullptr ? bins : general();
  }
  return execute(
      operands,
      [&](array::UfuncSite& site, unsigned mask, Ref* result) {
        return site.call(callable, arguments, static_cast<unsigned>(operands.size()), mask, result);
      },
      [&](array::RegionBuilder& builder, std::span<const int> numbers) {
        return is_ufunc(callable) ? builder.call(callable, numbers) : builder.where(numbers[0], numbers[1], numbers[2]);
      },
      general);
}

void deallocate(PyObject* self) {
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
  using array::UnaryOperator;
  static std::array<PyMemberDef, 2> members{{
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Proxy, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyType_Slot, 33> slots{{
      {Py_tp_members, members.data()},
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_nb_negative, reinterpret_cast<void*>(unary<UnaryOperator::kNegative, UNARY_NEGATIVE>)},
      {Py_nb_positive, reinterpret_cast<void*>(unary<UnaryOperator::kPositive, UNARY_POSITIVE>)},
      {Py_nb_invert, reinterpret_cast<void*>(unary<UnaryOperator::kInvert, UNARY_INVERT>)},
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

bool are_large_arrays(std::span<PyObject* const> operands) {
  bool has_array = false;
  for (PyObject* operand : operands) {
    has_array = has_array || (operand != nullptr && is_array_type(Py_TYPE(operand)));
  }
  const array::Numpy* np = has_array ? array::numpy_if_ready() : nullptr;
  bool has_large = false;
  for (PyObject* operand : operands) {
    const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, operand);
    if (code == array::kForeign) {
      return false;
    }
    has_large = has_large || (array::is_array(code) &&
                              static_cast<std::size_t>(array::bytes_of(*np, operand, code)) >= array::kLeastKept);
  }
  return has_large;
}

// The call whose arguments stand there, behind the callable.
bool may_be_executed(PyObject* const* arguments, std::size_t count, bool has_keywords) {
  PyObject* callable = arguments[-1];
  if (arguments[-2] != nullptr || count == 0 || count > kMostInputs || PyFunction_Check(callable) ||
      PyCFunction_Check(callable) || PyType_Check(callable)) {
    return false;
  }
  if (is_ufunc(callable)) {
    return !has_keywords && are_large_arrays({arguments, count});
  }
  if (array::met_numpy() == nullptr) {
    return false;
  }
  const bool is_where =
      count == 3 && !has_keywords && array::known_function(callable).kind == array::KnownFunction::Kind::kWhere;
  return is_where ? are_large_arrays({arguments, count})
                  : callable == array::bincount() && are_large_arrays({arguments, 1});
}

void replace(PyObject** place) {
  if (interp::once(type, make_type) == nullptr) {
    PyErr_Clear();
    return;
  }
  auto* proxy = reinterpret_cast<Proxy*>(type->tp_alloc(type, 0));
  if (proxy == nullptr) {
    PyErr_Clear();
    return;
  }
  proxy->vectorcall = call;
  proxy->object = std::exchange(*place, reinterpret_cast<PyObject*>(proxy));
}

}  // namespace

bool may_have_array_proxy(std::uint8_t opcode) {
  return opcode == BINARY_OP || opcode == COMPARE_OP || opcode == UNARY_NEGATIVE || opcode == UNARY_INVERT ||
         opcode == UNARY_POSITIVE || opcode == CALL;
}

void put_array_proxy(const rewriter::Instruction& instruction, bool has_keywords, PyObject** end) {
  const auto argument = static_cast<std::size_t>(instruction.arg);
  if (instruction.opcode == CALL) {
    PyObject** arguments = end - argument;
    if (may_be_executed(arguments, argument, has_keywords)) {
      replace(arguments - 1);
    }
    return;
  }
  const bool is_product =
      instruction.opcode == BINARY_OP && (argument == NB_MATRIX_MULTIPLY || argument == NB_INPLACE_MATRIX_MULTIPLY);
  const std::size_t count = instruction.opcode == BINARY_OP || instruction.opcode == COMPARE_OP ? 2 : 1;
  if (!is_product && are_large_arrays({end - count, count})) {
    replace(end - count);
  }
}

}  // namespace tagalong::recorder
