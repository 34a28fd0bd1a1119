#include "replay/arrays/kernels/ufunc_site.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "replay/arrays/kernels/loop_parts.h"
#include "replay/arrays/kernels/matmul.h"
#include "replay/arrays/numpy/elision.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/arrays/numpy/operators.h"

namespace tagalong::array {

struct UfuncSite::Request {
  PyObject* ufunc;
  PyObject* const* operands;
  unsigned nin;
  unsigned temporaries;
  Elision elision = Elision::kNever;
  bool inplace = false;
  const BeforeReport* before = nullptr;
};

namespace {

struct Operands {
  PyObject* const* items;
  unsigned count;
  OperandCodes codes;
  const BeforeReport* before;

  PyObject* operator[](unsigned index) const { return items[index]; }
};

// One call of an inner loop, of the kind that NumPy calls trivial: all operands are 1-D, or all are contiguous in the
// same order; scalars have stride 0.
struct Call {
  std::array<char*, kMaxInputs + 1> data{};
  std::array<Extent, kMaxInputs + 1> strides{};
  alignas(16) std::array<std::array<char, kScalarBytes>, kMaxInputs> scalars;  // not initialised: rarely used
  const ArrayFields* shape = nullptr;                                          // the first operand that has dimensions
  int order = 0;
  Extent count = 0;
};

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  if (one->nd != other->nd) {
    return false;
  }
  for (int i = 0; i < one->nd; ++i) {  // few dimensions: a call of memcmp would cost more
    if (one->dimensions[i] != other->dimensions[i]) {
      return false;
    }
  }
  return true;
}

bool add_array(const ArrayFields* array, Extent item_size, unsigned index, Call* call) {
  if ((array->flags & kAligned) == 0) {
    return false;
  }
  if (call->shape == nullptr) {
    call->shape = array;
  } else if (!same_shape(call->shape, array)) {
    return false;
  }
  call->data[index] = array->data;
  if (array->nd == 1) {
    call->strides[index] = array->strides[0];
    return true;
  }
  const int order = array->flags & kOrders;
  call->strides[index] = item_size;
  if (order == 0 || (call->order != 0 && call->order != order)) {
    return false;
  }
  call->order = order;
  return true;
}

bool gather(const Numpy& np, const Kernel& kernel, const Operands& operands, Call* call) {
  const OperandCodes codes = operands.codes;
  for (unsigned i = 0; i < operands.count; ++i) {
    if (is_array(codes[i])) {
      if (!add_array(as_array(operands[i]), np.item_size[kernel.in_type[i]], i, call)) {
        return false;
      }
    } else {
      if (!read_scalar(np, operands[i], codes[i], kernel.in_type[i], call->scalars[i].data())) {
        return false;
      }
      call->data[i] = call->scalars[i].data();
      call->strides[i] = 0;
    }
  }
  if (call->shape == nullptr) {
    return false;
  }
  call->count = element_count(call->shape);
  return !kernel.casts_number || call->shape->nd == 1 || call->order == kCContiguous;
}

// The range of memory that an operand of the call touches.
struct Bytes {
  const char* first;
  const char* last;
};
Bytes bytes_of(const Call& call, unsigned index, Extent item_size) {
  const Extent span = (call.count - 1) * call.strides[index];
  const char* start = call.data[index];
  return {start + std::min<Extent>(span, 0), start + std::max<Extent>(span, 0) + item_size};
}

// Makes the left operand the output. False: another dtype, or an input partially overlaps the output.
bool direct_into_left(const Numpy& np, const Kernel& kernel, const Operands& operands, Call* call) {
  const OperandCodes codes = operands.codes;
  const ArrayFields* target = as_array(operands[0]);
  if (!is_array(codes[0]) || kernel.out_type != codes[0] || (target->flags & kWriteable) == 0 ||
      (target->flags & kWarnOnWrite) != 0 || call->strides[0] < kernel.out_size) {
    return false;
  }
  call->data[kernel.nin] = call->data[0];
  call->strides[kernel.nin] = call->strides[0];
  if (call->count == 0) {
    return true;
  }
  const Bytes written = bytes_of(*call, 0, kernel.out_size);
  for (unsigned i = 1; i < kernel.nin; ++i) {
    if (!is_array(codes[i]) || (call->data[i] == call->data[0] && call->strides[i] == call->strides[0] &&
                                kernel.in_type[i] == kernel.out_type)) {
      continue;
    }
    const Bytes read = bytes_of(*call, i, np.item_size[kernel.in_type[i]]);
    if (read.first < written.last && written.first < read.last) {
      return false;
    }
  }
  return true;
}

struct Placement {
  int into = -1;         // compute into this operand, or -1
  bool swapped = false;  // commutative operands are exchanged
  bool impossible = false;
};

// The placement that eager's temporary elision would choose.
Placement place_elided(const Kernel& kernel, const Operands& operands, unsigned anonymous, Elision elision,
                       const Call& call) {
  Placement placement;
  const unsigned allowed = kernel.elidable & anonymous & (elision == Elision::kCommutative ? 3U : 1U);
  if (allowed == 0 || call.count * kernel.out_size < kMinElidedBytes ||
      (operands.count == 2 && operands[0] == operands[1])) {
    return placement;
  }
  for (unsigned i = 0; i < operands.count; ++i) {
    if ((allowed >> i & 1U) == 0 || !may_be_elided(operands[i])) {
      continue;
    }
    placement.swapped = i == 1;
    if (call.strides[i] != kernel.out_size) {
      placement.impossible = true;
    } else {
      placement.into = static_cast<int>(i);
    }
    return placement;
  }
  return placement;
}

// Whether elision would keep the operand's dtype where the result has the other dtype of the same integers, such as
// long and long long.
bool may_keep_other_type(const Numpy& np, const Kernel& kernel, const Operands& operands, unsigned temporaries,
                         const Call& call) {
  for (unsigned i = 0; i < operands.count; ++i) {
    const OperandCode code = operands.codes[i];
    if ((temporaries >> i & 1U) != 0 && is_array(code) && is_integer(type_of(code)) && is_integer(kernel.out_type) &&
        type_of(code) != kernel.out_type && np.item_size[type_of(code)] == kernel.out_size &&
        call.count * kernel.out_size >= kMinElidedBytes) {
      return true;
    }
  }
  return false;
}

Placement place(const Numpy& np, const Kernel& kernel, const Operands& operands, unsigned temporaries, Elision elision,
                const Call& call) {
  Placement placement;
  if (elision != Elision::kNever && np.elides) {
    placement = place_elided(kernel, operands, temporaries, elision, call);
    placement.impossible = placement.impossible || may_keep_other_type(np, kernel, operands, temporaries, call);
  }
  if (placement.into >= 0 || !kernel.alias_safe || placement.impossible || call.count == 0) {
    return placement;
  }
  const unsigned reusable = temporaries | temporaries >> 8U;
  for (unsigned i = 0; i < operands.count; ++i) {
    if ((reusable >> i & 1U) != 0 && operands.codes[i] == kernel.out_type && is_unique(operands[i]) &&
        looks_fresh(as_array(operands[i]), kernel.out_size, call.order)) {
      placement.into = static_cast<int>(i);
      break;
    }
  }
  return placement;
}

// Makes the output array and completes the call. Empty with an exception set: no memory.
Ref make_output(const Numpy& np, const Kernel& kernel, const Operands& operands, const Placement& placement,
                Call* call) {
  const unsigned out = kernel.nin;
  Ref output;
  if (placement.into >= 0) {
    output = Ref::create(operands[static_cast<unsigned>(placement.into)]);
  } else {
    const KeptMemory kept(np, static_cast<std::size_t>(call->count) * kernel.out_size);
    Py_INCREF(kernel.out_descr);
    output = Ref::steal(np.new_from_descr(np.array_type, kernel.out_descr, call->shape->nd, call->shape->dimensions,
                                          nullptr, nullptr, call->order == kFContiguous ? 1 : 0, nullptr));
    if (!output) {
      return output;
    }
  }
  call->data[out] = as_array(output.get())->data;
  call->strides[out] = kernel.out_size;
  if (placement.swapped) {
    std::swap(call->data[0], call->data[1]);
    std::swap(call->strides[0], call->strides[1]);
  }
  return output;
}

// Releases the GIL, and keeps the operands alive whatever other threads do to the caller's variables.
class ReleasedGil {
 public:
  explicit ReleasedGil(const Operands& operands) {
    for (unsigned i = 0; i < operands.count; ++i) {
      keep_[i] = Ref::create(operands[i]);
    }
    state_ = PyEval_SaveThread();
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() { PyEval_RestoreThread(state_); }

 private:
  std::array<Ref, kMaxInputs> keep_;
  PyThreadState* state_;
};

int run_once(const Kernel& kernel, const Call& call) {
  return kernel.loop(kernel.context, call.data.data(), &call.count, call.strides.data(), kernel.auxdata);
}

// False: an exception is set.
bool run_in_parts(const Numpy& np, const Kernel& kernel, const Operands& operands, const Call& call,
                  std::size_t parts) {
  int errors = 0;
  {
    const ReleasedGil released(operands);
    errors = run_loop_parts(kernel, {.data = &call.data, .strides = &call.strides, .count = call.count}, parts);
  }
  return errors == 0 || report_float_errors(np, kernel.name.c_str(), errors, operands.before);
}

int run_released(const Kernel& kernel, const Operands& operands, const Call& call) {
  const ReleasedGil released(operands);
  return run_once(kernel, call);
}

// Clears the flags, runs the loop, and reports the flags. False: an exception is set.
bool run_and_report(const Numpy& np, const Kernel& kernel, const Operands& operands, const Call& call) {
  if (const std::size_t parts = loop_parts(kernel, call.count); parts > 1) {
    return run_in_parts(np, kernel, operands, call, parts);
  }
  forget_float_status(kernel.float_units);
  const bool release = call.count > kernel.gil_threshold && !kernel.requires_pyapi;
  const int status = release ? run_released(kernel, operands, call) : run_once(kernel, call);
  // Some loops of NumPy's old kind set an exception and return 0 (integer power).
  if (status != 0 || PyErr_Occurred() != nullptr) {
    return false;
  }
  if (kernel.float_units != FloatUnits::kNone && float_status_raised(kernel.float_units)) {
    return report_float_errors(np, kernel.name.c_str(), take_float_status(kernel.float_units), operands.before);
  }
  return true;
}

constexpr Extent kShortLoop = 64;         // elements
constexpr std::size_t kSavedBytes = 512;  // kShortLoop elements of any dtype of a repeatable loop

// Reading the flags waits for all arithmetic in flight, which is a large part of a short loop's time. So the flags are
// read once, afterwards. If one is set, the loop runs again from clear flags, with an overwritten input restored, to
// find out whether the loop raised it. False: an exception is set.
bool run_short(const Numpy& np, const Kernel& kernel, const Operands& operands, const Call& call, bool overwrites) {
  std::array<char, kSavedBytes> saved;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  const auto bytes = static_cast<std::size_t>(call.count * kernel.out_size);
  char* out = call.data[kernel.nin];
  if (overwrites) {
    std::memcpy(saved.data(), out, bytes);
  }
  static_cast<void>(run_once(kernel, call));
  if (kernel.float_units == FloatUnits::kNone || !float_status_raised(kernel.float_units)) [[likely]] {
    return true;
  }
  clear_float_status();
  if (overwrites) {
    std::memcpy(out, saved.data(), bytes);
  }
  return run_and_report(np, kernel, operands, call);
}

// `overwrites`: the output is an input. False: an exception is set.
bool run_loop(const Numpy& np, const Kernel& kernel, const Operands& operands, const Call& call, bool overwrites) {
  if (call.count == 0) {
    return true;
  }
  if (kernel.repeatable && call.count <= kShortLoop &&
      (!overwrites || call.count == 1 || call.strides[kernel.nin] == kernel.out_size)) {
    return run_short(np, kernel, operands, call, overwrites);
  }
  return run_and_report(np, kernel, operands, call);
}

}  // namespace

bool ready() { return numpy_if_ready() != nullptr; }

namespace {

// False: an exception is set.
bool shows_frames(const BeforeReport* before) { return before == nullptr || before->show(before->context); }

}  // namespace

Outcome UfuncSite::fallback() {
  ++stats_.fallback;
  return Outcome::kFallback;
}

Outcome UfuncSite::elide(const Numpy& np, const ElisionCase& the_case, Ref* result) {
  if (!elide_generally(np, the_case, result)) {
    return Outcome::kFallback;
  }
  --stats_.fallback;
  ++stats_.elided;
  return *result ? Outcome::kDone : Outcome::kError;
}

const Kernel& UfuncSite::find(const Numpy& np, PyObject* ufunc, OperandCodes codes) {
  for (const Entry& entry : entries_) {
    if (entry.ufunc == ufunc && entry.codes == codes) {
      return *entry.kernel;
    }
  }
  const Kernel& kernel = kernel_for(np, ufunc, codes);
  if (kernel.ufunc.get() == ufunc) {  // false if there are too many kernels
    entries_[next_entry_] = {ufunc, codes, &kernel};
    next_entry_ = (next_entry_ + 1) % kEntries;
  }
  return kernel;
}

Outcome UfuncSite::apply(const Numpy& np, const Request& request, Ref* result) {
  OperandCodes codes;
  for (unsigned i = 0; i < request.nin; ++i) {
    const OperandCode code = classify(np, request.operands[i]);
    if (code == kForeign) {
      return fallback();
    }
    codes.set(i, code);
  }
  // Resolution makes objects, so the collector may run.
  const bool is_known = std::ranges::any_of(
      entries_, [&](const Entry& entry) { return entry.ufunc == request.ufunc && entry.codes == codes; });
  if (!is_known && !shows_frames(request.before)) {
    return Outcome::kError;
  }
  const Kernel& kernel = find(np, request.ufunc, codes);
  return kernel.usable ? run(np, kernel, request, codes, result) : fallback();
}

Outcome UfuncSite::run(const Numpy& np, const Kernel& kernel, const Request& request, OperandCodes codes, Ref* result) {
  const Operands operands{request.operands, request.nin, codes, request.before};
  Call call;
  if (!gather(np, kernel, operands, &call)) {
    return fallback();
  }
  Ref output;
  bool overwrites = request.inplace;
  if (request.inplace) {
    if (!direct_into_left(np, kernel, operands, &call)) {
      return fallback();
    }
    output = Ref::create(operands[0]);
  } else {
    Placement placement;
    if (request.temporaries != 0) {
      placement = place(np, kernel, operands, request.temporaries, request.elision, call);
      if (placement.impossible) {
        return fallback();
      }
      overwrites = placement.into >= 0;
      stats_.reused += overwrites ? 1 : 0;
    }
    output = make_output(np, kernel, operands, placement, &call);
  }
  ++stats_.direct;
  if (request.inplace && call.count == 1) {
    call.strides.fill(0);  // as in NumPy for one element; some loops then take their path for reductions
  }
  if (!output || !run_loop(np, kernel, operands, call, overwrites)) {
    return Outcome::kError;
  }
  *result = std::move(output);
  return Outcome::kDone;
}

Outcome UfuncSite::call(PyObject* ufunc, PyObject* const* operands, unsigned nin, unsigned temporaries, Ref* result,
                        const BeforeReport* before) {
  const Numpy* np = numpy_if_ready();
  if (np == nullptr || nin == 0 || nin > kMaxInputs || Py_TYPE(ufunc) != np->ufunc_type) {
    return fallback();
  }
  if (nin == 2 && ufunc == matmul_ufunc(*np) && multiply_matrices(*np, operands[0], operands[1], result, before)) {
    ++stats_.direct;
    return *result ? Outcome::kDone : Outcome::kError;
  }
  return apply(*np, {.ufunc = ufunc, .operands = operands, .nin = nin, .temporaries = temporaries, .before = before},
               result);
}

Outcome UfuncSite::binary(BinaryOperator op, PyObject* left, PyObject* right, unsigned temporaries, Ref* result,
                          const BeforeReport* before) {
  const Numpy* np = numpy_if_ready();
  if (np == nullptr) {
    return fallback();
  }
  // An in-place operator whose left operand is no array is the plain operator.
  const bool inplace = is_inplace(op) && Py_TYPE(left) == np->array_type;
  if (op == BinaryOperator::kMatrixMultiply && multiply_matrices(*np, left, right, result, before)) {
    ++stats_.direct;
    return *result ? Outcome::kDone : Outcome::kError;
  }
  const OperatorRow& row = operator_row(op);
  if (row.ufunc == UfuncName::kCount || (Py_TYPE(left) != np->array_type && Py_TYPE(right) != np->array_type)) {
    return fallback();
  }
  PyObject* const operands[] = {left, right};
  Request request{.ufunc = np->ufunc(row.ufunc),
                  .operands = operands,
                  .nin = 2,
                  .temporaries = inplace ? 0 : temporaries,
                  .elision = row.elision,
                  .inplace = inplace,
                  .before = before};
  if (row.ufunc == UfuncName::kPower) {
    return power(*np, request, result);
  }
  const ElisionCase elided{left, right, request.temporaries & 3U, row.elision, true, row.inplace};
  // The quotients of bools are integers, which a temporary of bools cannot hold: where eager elides, it raises.
  const bool may_raise = row.ufunc == UfuncName::kFloorDivide && classify(*np, left) == kBool;
  if (!may_raise) {
    const Outcome outcome = apply(*np, request, result);
    if (outcome != Outcome::kFallback || (request.temporaries & 3U) == 0) {
      return outcome;
    }
    return shows_frames(before) ? elide(*np, elided, result) : Outcome::kError;
  }
  if ((request.temporaries & 3U) != 0) {
    static_cast<void>(fallback());
    if (!shows_frames(before)) {
      return Outcome::kError;
    }
    if (const Outcome outcome = elide(*np, elided, result); outcome != Outcome::kFallback) {
      return outcome;
    }
    --stats_.fallback;
  }
  return apply(*np, request, result);
}

namespace {

bool elides_integer_powers(const Numpy& np) {
  constexpr int kMinor = 3;
  return np.major == 2 && np.minor >= kMinor;
}

// Whether this is the square of bools that eager elides into a large temporary. The temporary cannot hold the integers,
// so eager raises.
bool squares_bools(const Numpy& np, OperandCode base, PyObject* exponent) {
  int overflow = 0;
  return elides_integer_powers(np) && base == kBool && PyLong_CheckExact(exponent) &&
         PyLong_AsLongAndOverflow(exponent, &overflow) == 2;
}

PyObject* call_in_place(PyObject* array, PyObject* ufunc) {
  return PyObject_CallFunctionObjArgs(ufunc, array, array, nullptr);
}

}  // namespace

Outcome UfuncSite::power(const Numpy& np, const Request& request, Ref* result) {
  PyObject* base = request.operands[0];
  PyObject* exponent = request.operands[1];
  UfuncName fast = UfuncName::kCount;
  const OperandCode code = classify_numbers(np, base);
  switch (power_kind(np, code, classify(np, exponent), exponent, &fast)) {
    case PowerKind::kUnknown: {
      const Outcome outcome = fallback();
      if (!squares_bools(np, code, exponent) || (request.temporaries & 1U) == 0) {
        return outcome;
      }
      return shows_frames(request.before) ? elide(np, {base, exponent, 1, Elision::kLeft, false, inplace_power}, result)
                                          : Outcome::kError;
    }
    case PowerKind::kGeneral:
      return apply(np, request, result);
    case PowerKind::kFast:
      break;
  }
  const Outcome outcome = apply(np,
                                {.ufunc = np.ufunc(fast),
                                 .operands = &base,
                                 .nin = 1,
                                 .temporaries = request.temporaries & ~(kAnonymous << 1U | kDeadName << 1U),
                                 .elision = Elision::kLeft,
                                 .inplace = request.inplace,
                                 .before = request.before},
                                result);
  const bool is_elided = is_floating(code) || is_complex(code) || elides_integer_powers(np);
  if (outcome != Outcome::kFallback || (request.temporaries & 1U) == 0 || !is_elided) {
    return outcome;
  }
  return shows_frames(request.before) ? elide(np, {base, exponent, 1, Elision::kLeft, false, inplace_power}, result)
                                      : Outcome::kError;
}

Outcome UfuncSite::unary(UnaryOperator op, PyObject* operand, unsigned temporaries, Ref* result,
                         const BeforeReport* before) {
  const Numpy* np = numpy_if_ready();
  if (np == nullptr || Py_TYPE(operand) != np->array_type) {
    return fallback();
  }
  PyObject* ufunc = np->ufunc(unary_ufunc(op));
  const Outcome outcome = apply(*np,
                                {.ufunc = ufunc,
                                 .operands = &operand,
                                 .nin = 1,
                                 .temporaries = temporaries,
                                 .elision = Elision::kLeft,
                                 .before = before},
                                result);
  const bool stays = op != UnaryOperator::kAbsolute || !is_complex(type_of(classify_numbers(*np, operand)));
  if (outcome != Outcome::kFallback || (temporaries & 1U) == 0 || !stays) {
    return outcome;
  }
  return shows_frames(before) ? elide(*np, {operand, ufunc, 1, Elision::kLeft, false, call_in_place}, result)
                              : Outcome::kError;
}

Outcome UfuncSite::compare(int py_op, PyObject* left, PyObject* right, unsigned temporaries, Ref* result,
                           const BeforeReport* before) {
  const Numpy* np = numpy_if_ready();
  if (np == nullptr || (Py_TYPE(left) != np->array_type && Py_TYPE(right) != np->array_type)) {
    return fallback();
  }
  PyObject* operands[] = {left, right};
  if (Py_TYPE(left) != np->array_type) {
    const OperandCode code = classify(*np, left);
    if (!is_python_number(code)) {
      // A NumPy scalar may reflect the comparison, which changes the text of warnings.
      return fallback();
    }
    // A Python number does not compare with arrays, so Python calls the array's reflected comparison.
    std::swap(operands[0], operands[1]);
    py_op = reflected(py_op);
    temporaries = 0;
  }
  return apply(*np,
               {.ufunc = np->ufunc(comparison(py_op)),
                .operands = operands,
                .nin = 2,
                .temporaries = temporaries,
                .before = before},
               result);
}

}  // namespace tagalong::array
