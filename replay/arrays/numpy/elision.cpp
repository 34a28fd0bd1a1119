#include "replay/arrays/numpy/elision.h"

#include <algorithm>
#include <cstring>

#include "rewriter/cpython/eval_hook.h"

namespace tagalong::array {

namespace {

bool bits_depend_on_elision(OperandCode code) { return is_complex(code) || code == kHalf || code == kLongDouble; }

// A new result would have the canonical dtype object of its type.
bool dtype_depends_on_elision(const Numpy& np, PyObject* temporary) { return classify(np, temporary) == kForeign; }

// A result of several axes that is elided has the layout of the temporary, where a new one would have a layout from
// both operands. Of two types for the same integers it has the temporary's.
bool layout_depends_on_elision(const Numpy& np, PyObject* temporary, OperandCode code, PyObject* other) {
  const bool has_twin = is_integer(code) && np.item_size[code] == np.item_size[kLongLong];
  const bool has_axes = as_array(temporary)->nd > 1 && is_array(classify_numbers(np, other));
  return has_axes || has_twin;
}

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  return one->nd == other->nd && std::equal(one->dimensions, one->dimensions + one->nd, other->dimensions);
}

// Whether `other` can be cast safely to the temporary's dtype. Before 2.0 the value of a scalar decides.
bool casts_safely(const Numpy& np, PyObject* other, OperandCode code, OperandCode target) {
  Ref source = Ref::create(np.descr[type_of(code)]);
  if (!np.weak_scalars && !is_array(code)) {
    source = Ref::create(other);
  } else if (code == kPyInt) {
    int overflow = 0;
    static_cast<void>(PyLong_AsLongAndOverflow(other, &overflow));
    if (overflow != 0) {
      return false;  // uint64 or object; neither is safe for a dtype where bits matter, except for the widest one
    }
  }
  return can_cast(np, source.get(), target, "safe");
}

bool would_elide(const Numpy& np, PyObject* temporary, PyObject* other, const ElisionCase& the_case) {
  const OperandCode code = classify_numbers(np, temporary);
  if (!is_array(code) || (the_case.function == PyNumber_InPlaceTrueDivide && !is_floating(code) && !is_complex(code))) {
    return false;
  }
  const bool is_right = temporary == the_case.right;
  const bool other_decides = the_case.right_decides || is_right;
  // The right operand becomes the first one, and of two NaNs the first one's payload is the result's.
  const bool decides_payloads = is_right && is_floating(code);
  // A temporary of bools cannot hold their square or their quotients, which are integers.
  const bool raises = code == kBool && (!other_decides || the_case.function == PyNumber_InPlaceFloorDivide);
  if ((!bits_depend_on_elision(code) && !decides_payloads && !raises && !dtype_depends_on_elision(np, temporary) &&
       !(other_decides && layout_depends_on_elision(np, temporary, code, other))) ||
      !may_be_elided(temporary) || temporary == other || bytes_of(np, temporary, code) < kMinElidedBytes) {
    return false;
  }
  if (!other_decides) {
    return true;
  }
  const OperandCode other_code = classify_numbers(np, other);
  if (other_code == kForeign || (is_array(other_code) && !same_shape(as_array(temporary), as_array(other)))) {
    return false;
  }
  return casts_safely(np, other, other_code, code);
}

// What the probe's callback needs to make the temporary, and the address of its memory.
const Numpy* probed_numpy = nullptr;
const char* probed_memory = nullptr;

PyObject* make_temporary(PyObject* /*self*/, PyObject* /*none*/) {
  const Numpy* np = probed_numpy;
  const Extent elements = kMinElidedBytes / np->item_size[kDouble];
  Py_INCREF(np->descr[kDouble]);
  PyObject* array = np->new_from_descr(np->array_type, np->descr[kDouble], 1, &elements, nullptr, nullptr, 0, nullptr);
  if (array != nullptr) {
    probed_memory = as_array(array)->data;
    std::memset(as_array(array)->data, 0, static_cast<std::size_t>(kMinElidedBytes));
  }
  return array;
}
PyMethodDef kMakeTemporary{"make", make_temporary, METH_NOARGS, nullptr};

// Whether the expression computed its result into the temporary that it makes. Runs in the interpreter, hidden from the
// interpreter's trace and profile functions and from our own recorder.
bool computes_into_temporary(const char* expression, const Ref& globals) {
  PyThreadState* thread = PyThreadState_Get();
  PyThreadState_EnterTracing(thread);
  cpython::suspend_hook(thread);
  const Ref result = Ref::steal(PyRun_String(expression, Py_eval_input, globals.get(), globals.get()));
  cpython::restore_hook(thread);
  PyThreadState_LeaveTracing(thread);
  // The temporary lived until the result existed, so another address means another array.
  return result && as_array(result.get())->data == probed_memory;
}

}  // namespace

Elides probe_elision(const Numpy& np) {
  probed_numpy = &np;
  const Ref make = Ref::steal(PyCFunction_New(&kMakeTemporary, nullptr));
  const Ref scalar = Ref::steal(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(np.scalar_type[kDouble])));
  const Ref globals =
      make && scalar ? Ref::steal(Py_BuildValue("{sOsO}", "make", make.get(), "scalar", scalar.get())) : Ref();
  Elides elides;
  if (globals) {
    elides.ever = computes_into_temporary("make() + 1.0", globals);
    elides.after_numpy_scalar = elides.ever && computes_into_temporary("scalar + make()", globals);
  }
  PyErr_Clear();
  return elides;
}

bool elide_generally(const Numpy& np, const ElisionCase& the_case, Ref* result) {
  if (!np.elides) {
    return false;
  }
  PyObject* temporary = nullptr;
  PyObject* other = nullptr;
  if ((the_case.anonymous & 1U) != 0 && the_case.elision != Elision::kNever &&
      would_elide(np, the_case.left, the_case.right, the_case)) {
    temporary = the_case.left;
    other = the_case.right;
  } else if ((the_case.anonymous & 2U) != 0 && the_case.elision == Elision::kCommutative &&
             may_elide_right(np, classify(np, the_case.left)) &&
             would_elide(np, the_case.right, the_case.left, the_case)) {
    temporary = the_case.right;
    other = the_case.left;
  } else {
    return false;
  }
  *result = Ref::steal(the_case.function(temporary, other));
  return true;
}

}  // namespace tagalong::array
