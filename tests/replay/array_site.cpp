// The array kernels from C++: the parts that need no NumPy, and the direct path if the interpreter has NumPy.
// tests/system/test_arrays_kernels.py compares them with eager NumPy, bit for bit.
#include <Python.h>

#include <boost/test/unit_test.hpp>
#include <cfenv>
#include <limits>

#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/operand.h"

namespace tagalong::array {
namespace {

// Evaluated at run time, not by the compiler.
template <class T>
T divide(T left, T right) {
  volatile T numerator = left;
  volatile T denominator = right;
  volatile T quotient = numerator / denominator;
  return quotient;
}

// The order of suites in a program is undefined, so another suite may have imported NumPy.
bool numpy_is_imported() { return PyDict_GetItemString(PyImport_GetModuleDict(), "numpy") != nullptr; }

boost::test_tools::assertion_result has_numpy(boost::unit_test::test_unit_id /*unit*/) {
  const Ref module = Ref::steal(PyImport_ImportModule("numpy"));
  PyErr_Clear();
  boost::test_tools::assertion_result answer(static_cast<bool>(module));
  answer.message() << "this interpreter has no NumPy";
  return answer;
}

Ref evaluate(const char* expression) {
  const Ref globals = Ref::steal(PyDict_New());
  const Ref module = Ref::steal(PyImport_ImportModule("numpy"));
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  PyDict_SetItemString(globals.get(), "np", module.get());
  return Ref::steal(PyRun_String(expression, Py_eval_input, globals.get(), globals.get()));
}

bool is_equal(const Ref& array, const char* expected) {
  const Ref list = Ref::steal(PyObject_CallMethod(array.get(), "tolist", nullptr));
  const Ref wanted = evaluate(expected);
  return PyObject_RichCompareBool(list.get(), wanted.get(), Py_EQ) == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_site)

BOOST_AUTO_TEST_CASE(codes_are_packed_and_read_back) {
  OperandCodes codes;
  codes.set(0, kDouble);
  codes.set(1, kPyFloat);
  BOOST_TEST(codes[0] == kDouble);
  BOOST_TEST(codes[1] == kPyFloat);
  BOOST_TEST(codes[2] == kNoOperand);
  BOOST_TEST(codes[3] == kNoOperand);
  OperandCodes other;
  BOOST_TEST((codes != other));
  other.set(1, kPyFloat);
  other.set(0, kDouble);
  BOOST_TEST((codes == other));
}

BOOST_AUTO_TEST_CASE(every_code_says_its_kind) {
  for (unsigned type = 0; type < kTypeNumbers; ++type) {
    BOOST_TEST(is_array(static_cast<OperandCode>(type)));
    BOOST_TEST(!is_array(static_cast<OperandCode>(kZeroDim + type)));
    BOOST_TEST(!is_python_number(static_cast<OperandCode>(kNumpyScalar + type)));
    BOOST_TEST(type_of(static_cast<OperandCode>(kNumpyScalar + type)) == type);
    BOOST_TEST(type_of(static_cast<OperandCode>(kZeroDim + type)) == type);
  }
  BOOST_TEST(type_of(kPyInt) == kLong);
  BOOST_TEST(type_of(kPyComplex) == kComplexDouble);
  BOOST_TEST(!is_array(kForeign));
  BOOST_TEST(!is_array(kNoOperand));
}

BOOST_AUTO_TEST_CASE(flags_of_the_vector_unit_are_seen_taken_and_cleared) {
  std::feclearexcept(FE_ALL_EXCEPT);
  BOOST_TEST(!float_status_raised(FloatUnits::kVector));
  BOOST_TEST(divide(1.0, 3.0) < 1.0);  // an inexact result is not reported
  BOOST_TEST(!float_status_raised(FloatUnits::kAll));
  static_cast<void>(divide(1.0, 0.0));
  BOOST_TEST(float_status_raised(FloatUnits::kVector));
  static_cast<void>(divide(0.0, 0.0));
  BOOST_TEST(take_float_status(FloatUnits::kAll) == (kDivideByZero | kInvalid));
  BOOST_TEST(!float_status_raised(FloatUnits::kAll));
}

BOOST_AUTO_TEST_CASE(flags_of_extended_precision_are_seen) {
  std::feclearexcept(FE_ALL_EXCEPT);
  static_cast<void>(divide(1.0L, 0.0L));
  BOOST_TEST(float_status_raised(FloatUnits::kAll));
  BOOST_TEST(take_float_status(FloatUnits::kAll) == +kDivideByZero);
  std::feraiseexcept(FE_OVERFLOW);
  BOOST_TEST(float_status_raised(FloatUnits::kAll));
  clear_float_status();
  BOOST_TEST(!float_status_raised(FloatUnits::kAll));
}

BOOST_AUTO_TEST_CASE(without_numpy_everything_falls_back) {
  if (numpy_is_imported()) {
    BOOST_TEST(ready());
    return;
  }
  BOOST_TEST(!ready());
  UfuncSite site;
  Ref result;
  const Ref number = Ref::steal(PyFloat_FromDouble(2));
  BOOST_TEST((site.binary(BinaryOperator::kAdd, number.get(), number.get(), 0, &result) == Outcome::kFallback));
  BOOST_TEST((site.unary(UnaryOperator::kNegative, number.get(), 0, &result) == Outcome::kFallback));
  BOOST_TEST((site.compare(Py_LT, number.get(), number.get(), 0, &result) == Outcome::kFallback));
  PyObject* operands[] = {number.get()};
  BOOST_TEST((site.call(Py_None, operands, 1, 0, &result) == Outcome::kFallback));
  BOOST_TEST(site.stats().fallback == 4);
  BOOST_TEST(!result);
  BOOST_TEST(PyErr_Occurred() == nullptr);
  BOOST_TEST(!numpy_is_imported());
}

BOOST_AUTO_TEST_CASE(a_chain_reuses_its_temporaries, *boost::unit_test::precondition(has_numpy)) {
  BOOST_REQUIRE(ready());
  const Ref array = evaluate("np.arange(4.0)");
  const Ref two = Ref::steal(PyFloat_FromDouble(2));
  UfuncSite multiply;
  UfuncSite add;
  Ref product;
  BOOST_REQUIRE((multiply.binary(BinaryOperator::kMultiply, two.get(), array.get(), 0, &product) == Outcome::kDone));
  BOOST_TEST(is_equal(product, "[0.0, 2.0, 4.0, 6.0]"));
  PyObject* memory = product.get();
  Ref sum;
  BOOST_REQUIRE(
      (add.binary(BinaryOperator::kAdd, array.get(), product.get(), kAnonymous << 1U, &sum) == Outcome::kDone));
  product = Ref();
  BOOST_TEST(sum.get() == memory);
  BOOST_TEST(Py_REFCNT(sum.get()) == 1);
  BOOST_TEST(is_equal(sum, "[0.0, 3.0, 6.0, 9.0]"));
  BOOST_TEST(is_equal(array, "[0.0, 1.0, 2.0, 3.0]"));
  BOOST_TEST(add.stats().reused == 1);
  BOOST_TEST(multiply.stats().direct == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_no_result, *boost::unit_test::precondition(has_numpy)) {
  const Ref base = evaluate("np.array([2, 3])");
  const Ref exponent = evaluate("np.array([1, -1])");
  UfuncSite site;
  Ref result;
  BOOST_TEST((site.binary(BinaryOperator::kPower, base.get(), exponent.get(), 0, &result) == Outcome::kError));
  BOOST_TEST(!result);
  BOOST_TEST(PyErr_ExceptionMatches(PyExc_ValueError) == 1);
  PyErr_Clear();
}

BOOST_AUTO_TEST_CASE(scalars_are_converted_or_refused, *boost::unit_test::precondition(has_numpy)) {
  const Numpy* np = numpy_if_ready();
  BOOST_REQUIRE(np != nullptr);
  alignas(16) char buffer[kScalarBytes];
  const Ref large = Ref::steal(PyLong_FromLong(300));
  BOOST_TEST(!read_scalar(*np, large.get(), kPyInt, kInt8, buffer));
  BOOST_TEST(!read_scalar(*np, large.get(), kPyInt, kUInt8, buffer));
  BOOST_TEST(!read_scalar(*np, large.get(), kPyInt, kBool, buffer));
  BOOST_TEST(read_scalar(*np, large.get(), kPyInt, kHalf, buffer) == np->weak_scalars);
  const Ref beyond_half = Ref::steal(PyLong_FromLong(2049));
  BOOST_TEST(!read_scalar(*np, beyond_half.get(), kPyInt, kHalf, buffer));
  BOOST_REQUIRE(read_scalar(*np, large.get(), kPyInt, kInt16, buffer));
  BOOST_TEST(*reinterpret_cast<short*>(buffer) == 300);
  BOOST_REQUIRE(read_scalar(*np, large.get(), kPyInt, kFloat, buffer));
  BOOST_TEST(*reinterpret_cast<float*>(buffer) == 300.0F);
  const Ref inexact = Ref::steal(PyLong_FromLongLong((1LL << 53) + 1));
  BOOST_TEST(!read_scalar(*np, inexact.get(), kPyInt, kDouble, buffer));
  const Ref huge = Ref::steal(PyFloat_FromDouble(std::numeric_limits<double>::max()));
  BOOST_TEST(!read_scalar(*np, huge.get(), kPyFloat, kFloat, buffer));
  BOOST_TEST(!read_scalar(*np, huge.get(), kPyFloat, kLong, buffer));
  BOOST_REQUIRE(read_scalar(*np, huge.get(), kPyFloat, kComplexDouble, buffer));
  BOOST_TEST(reinterpret_cast<double*>(buffer)[1] == 0.0);
  BOOST_TEST(PyErr_Occurred() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::array
