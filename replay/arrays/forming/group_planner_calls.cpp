// Calls of NumPy's functions and of methods of arrays, and what their arguments have to be.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "replay/arrays/forming/group_planner.h"
#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/objects/known_functions.h"
#include "rewriter/base/dicts.h"
#include "version/objects.h"

namespace tagalong::replay {
namespace {

using VerbKind = array::ArrayVerb::Kind;

// Whether the keywords are `out` and perhaps `where`.
bool has_out(PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Check(keywords) ? PyTuple_GET_SIZE(keywords) : 0;
  return (count == 1 && is_named(keywords, 0, "out")) ||
         (count == 2 && ((is_named(keywords, 0, "out") && is_named(keywords, 1, "where")) ||
                         (is_named(keywords, 0, "where") && is_named(keywords, 1, "out"))));
}

// The last operands of a ufunc's call are `out` and perhaps `where`, in the order of the keywords.
void name_out(PyObject* keywords, array::ArrayVerb* verb) {
  for (Py_ssize_t index = PyTuple_GET_SIZE(keywords); index-- > 0;) {
    (is_named(keywords, index, "out") ? verb->out : verb->where) = verb->operands.back();
    verb->operands.pop_back();
  }
}

VerbKind verb_of(array::KnownFunction::Kind function) {
  return function == array::KnownFunction::Kind::kWhere       ? VerbKind::kWhere
         : function == array::KnownFunction::Kind::kClip      ? VerbKind::kClip
         : function == array::KnownFunction::Kind::kConjugate ? VerbKind::kConjugate
         : function == array::KnownFunction::Kind::kCopy      ? VerbKind::kAstype
                                                              : VerbKind::kCount;
}

// Borrowed.
PyObject* list_append() {
  static PyObject* const method = Py_XNewRef(item_of(version::dict_of(&PyList_Type), "append"));
  return method;
}

// Whether it is a reduction of an existing array by a method that was looked up in front of the fusion group.
bool is_array_method(GroupContents& contents, const std::int32_t* operands) {
  const int array = contents.of(operands[1]);
  const GroupContents::Content& method = contents.at(contents.of(operands[0]));
  return array >= 0 && method.kind == GroupContents::Kind::kExternal &&
         array::may_be_alone(array::known_descriptor(contents.np(), method.object)) &&
         contents.is_existing_array(array);
}

}  // namespace

// A method of an array that the fusion group has made is looked up by its name.
bool FusionPlanner::load_method(const Step& step, const std::int32_t* operands) {
  const int index = contents_.of(operands[0]);
  const array::KnownFunction function = array::known_method(step.object);
  const bool is_copy = function.kind == array::KnownFunction::Kind::kCopy;
  const bool is_fused = function.kind != array::KnownFunction::Kind::kNone;
  if (index >= 0 && contents_.at(index).kind < Kind::kResult &&
      (!contents_.is_existing_array(index) || !is_fused || is_copy)) {
    return load_method_of_object(step, operands);
  }
  // An existing array gets its number by its register.
  const bool is_given = index >= 0 && contents_.is_existing_array(index) && contents_.number_of(operands[0]) >= 0;
  const bool is_copied = is_copy && index >= 0 && contents_.at(index).kind == Kind::kView;
  if (index < 0 || (contents_.at(index).kind != Kind::kResult && !is_given && !is_copied) ||
      builder().is_scalar(contents_.at(index).number) || builder().is_column(contents_.at(index).number)) {
    return refuse(Reason::kOther);
  }
  if (!is_fused) {
    return refuse(Reason::kOther);
  }
  const std::int32_t* results = operands + step.operand_count;
  contents_.define(results[0], {.kind = Kind::kMethod, .function = function});
  contents_.state().registers[results[1]] = index;
  return true;
}

// Calls such as numpy.sum(x) and x.sum(), and of ufuncs with `out`.
bool FusionPlanner::call(const Step& step, const std::int32_t* operands) {
  const int first = contents_.of(operands[0]);
  bool is_method = first >= 0 && contents_.at(first).kind == Kind::kMethod;
  array::KnownFunction function;
  PyObject* callable = nullptr;
  if (is_method) {
    function = contents_.at(first).function;
  } else if (first >= 0 && is_array_method(contents_, operands)) {
    is_method = true;
    function = array::known_descriptor(np(), contents_.same_callable(operands[0]));
  } else {
    callable = contents_.is_null(operands[0]) ? contents_.same_callable(operands[1]) : nullptr;
    function = array::known_function(callable);
  }
  if (first >= 0 && contents_.at(first).kind < Kind::kResult && contents_.at(first).object == list_append()) {
    contents_.require_same(first);
    return step.object == Py_None && step.operand_count == kCallableSlots + 1 ? append(step, operands)
                                                                              : refuse(Reason::kOther);
  }
  if (callable != nullptr && replay::known_function(callable) == Known::kAbsolute && step.object == Py_None &&
      step.operand_count == kCallableSlots + 1) {
    return absolute(step, operands);
  }
  const bool is_ufunc = callable != nullptr && Py_TYPE(callable) == np().ufunc_type && has_out(step.object);
  const bool is_reduction = function.kind == array::KnownFunction::Kind::kReduction;
  const bool is_known = function.kind != array::KnownFunction::Kind::kNone && step.object == Py_None;
  const bool is_bincount = function.kind == array::KnownFunction::Kind::kBins;
  const bool is_composed = array::is_composed(function);
  if (!is_ufunc && !is_known && !is_reduction && !is_bincount && !is_composed) {
    return calculate(step, operands);
  }
  const int begin = is_method ? 1 : 2;
  if (is_composed || is_bincount || is_reduction) {
    return functions_.call(step, function, {operands + begin, operands + step.operand_count}) ||
           refuse(functions_.reason());
  }
  if (function.kind == array::KnownFunction::Kind::kAstype) {
    const bool is_plain = is_method && step.object == Py_None && step.operand_count == 3;
    return (is_plain && functions_.cast(step, operands[1], operands[2])) ||
           refuse(is_plain ? functions_.reason() : Reason::kOther);
  }
  if (array::is_component(function)) {
    const bool is_imaginary = function.kind == array::KnownFunction::Kind::kImaginaryPart;
    return is_known && step.operand_count == kCallableSlots + 1
               ? take_component(step, operands[kCallableSlots], is_imaginary)
               : refuse(Reason::kOther);
  }
  const bool has_no_arguments =
      function.kind == array::KnownFunction::Kind::kConjugate || function.kind == array::KnownFunction::Kind::kCopy;
  if (has_no_arguments && (!is_method || step.operand_count != 2)) {
    return refuse(Reason::kOther);
  }
  array::ArrayVerb verb{.kind = is_ufunc ? VerbKind::kCall : verb_of(function.kind), .object = callable};
  for (int index = begin; index < step.operand_count; ++index) {
    verb.operands.push_back(contents_.number_of(operands[index]));
    if (verb.operands.back() < 0) {
      return refuse(Reason::kForeign);
    }
  }
  if (is_ufunc) {
    name_out(step.object, &verb);
  }
  return add(verb, step);
}

// The real or imaginary parts of a result: a view without an object.
bool FusionPlanner::take_component(const Step& step, std::int32_t place, bool is_imaginary) {
  const Content* whole = contents_.find(place);
  if (whole == nullptr || whole->kind != Kind::kResult) {
    return refuse(Reason::kOther);
  }
  const int number =
      builder().add({.kind = VerbKind::kComponent, .code = is_imaginary ? 1 : 0, .operands = {whole->number}});
  if (number < 0) {
    return refuse(builder().reason());
  }
  contents_.define(step.result, {.kind = Kind::kView, .number = number});
  return true;
}

// The builtin function, of an array. Eager NumPy may compute into a result without a name; it does not into an existing
// array of complex numbers.
bool FusionPlanner::absolute(const Step& step, const std::int32_t* operands) {
  const std::int32_t place = operands[kCallableSlots];
  const int index = contents_.of(place);
  if (index < 0) {
    return refuse(Reason::kOther);
  }
  const bool is_result = contents_.at(index).kind == Kind::kResult && !builder().is_scalar(contents_.at(index).number);
  const bool is_view = contents_.at(index).kind == Kind::kView;
  const bool is_existing =
      contents_.is_existing_array(index) && array::holds_complex(np(), array::as_array(contents_.at(index).object));
  if (!is_result && !is_view && !is_existing) {
    return calculate(step, operands);
  }
  const int number = contents_.number_of(place);
  if (number < 0) {
    return refuse(Reason::kForeign);
  }
  return add({.kind = VerbKind::kCall,
              .object = np().ufunc(array::UfuncName::kAbsolute),
              .operands = {number},
              .temporaries = is_result && !is_held(place) ? 1U : 0U},
             step);
}

}  // namespace tagalong::replay
