#include "runtime/records/first_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "recorder/code/recording_code.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/functions.h"
#include "rewriter/cpython/requests.h"
#include "rewriter/cpython/stacks.h"
#include "rewriter/cpython/watch.h"
#include "runtime/base/options.h"
#include "runtime/records/anchor.h"
#include "runtime/records/replay_code.h"

namespace tagalong::runtime {
namespace {

using cpython::DefiningCode;

constexpr int kSpareRecursion = 2;  // for the redirect function

// The compiler limits nesting; code made by hand may be nested deeper than the C stack allows.
constexpr int kMaxNesting = 100;

PyCodeObject* maker_of(const DefiningCode& defining_code) {
  PyObject* maker = defining_code.maker ? PyWeakref_GET_OBJECT(defining_code.maker.get()) : Py_None;
  return maker == Py_None ? nullptr : reinterpret_cast<PyCodeObject*>(maker);
}

// Code as the compiler made it gets a longer tuple of constants, with spare places for its code objects at the end.
void make_room(PyCodeObject* maker) {
  PyObject* original = cpython::original_constants(maker);
  if (original == nullptr) {
    throw PythonError();
  }
  if (PyTuple_GET_SIZE(maker->co_consts) > PyTuple_GET_SIZE(original)) {
    return;  // it is longer already
  }
  std::vector<PyObject*> constants;
  for (const bool is_behind : {false, true}) {
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(original); ++index) {
      PyObject* constant = PyTuple_GET_ITEM(original, index);
      if (!is_behind || PyCode_Check(constant)) {
        constants.push_back(constant);
      }
    }
  }
  Ref longer = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(constants.size())));
  if (!longer) {
    throw PythonError();
  }
  for (std::size_t index = 0; index < constants.size(); ++index) {
    PyTuple_SET_ITEM(longer.get(), static_cast<Py_ssize_t>(index), Py_NewRef(constants[index]));
  }
  if (!cpython::exchange_constants(maker, std::move(longer))) {
    throw PythonError();
  }
}

// The spare place of the constant `used`.
int place_behind(PyCodeObject* maker, int used) {
  PyObject* original = cpython::original_constants(maker);
  auto place = static_cast<int>(PyTuple_GET_SIZE(original));
  for (int index = 0; index < used; ++index) {
    place += PyCode_Check(PyTuple_GET_ITEM(original, index)) ? 1 : 0;
  }
  return place;
}

void exchange(PyCodeObject* maker, int spare, PyCodeObject* original, const CodeRef& replay) {
  CodeRecord& record = *record_of(anchor_of(original));
  if (record.retirement.makers().has(maker)) {
    return;
  }
  const bool is_derived = cpython::original_of(maker) != maker;
  if (cpython::is_armed(maker) || is_derived != (spare >= 0)) {
    return;
  }
  PyObject* constants = is_derived ? maker->co_consts : cpython::original_constants(maker);
  if (constants == nullptr) {
    throw PythonError();
  }
  // Spare places lie behind the constants that instructions name.
  const int count = is_derived ? spare : static_cast<int>(PyTuple_GET_SIZE(constants));
  int used = 0;
  while (used < count && PyTuple_GET_ITEM(maker->co_consts, used) != reinterpret_cast<PyObject*>(original)) {
    ++used;
  }
  if (used == count) {
    return;
  }
  if (!is_derived) {
    make_room(maker);
    spare = place_behind(maker, used);
  }
  cpython::replace_constant(maker, spare, Ref::create(reinterpret_cast<PyObject*>(replay.get())));
  record.retirement.makers().add(CodeRef::create(maker), static_cast<std::size_t>(used),
                                 static_cast<std::size_t>(spare));
}

// From now on the maker makes functions of the replay code and keeps it alive. The maker is replay code itself, or the
// original if that was retired.
void exchange_in_maker(PyCodeObject* original, const CodeRef& replay) {
  const DefiningCode defining_code = cpython::defining_code(original);
  PyCodeObject* maker = maker_of(defining_code);
  if (maker == nullptr) {
    return;
  }
  exchange(maker, defining_code.spare, original, replay);
  PyCodeObject* as_written = cpython::original_of(maker);
  PyObject* its_anchor = as_written == maker ? nullptr : anchor_of(as_written);
  if (its_anchor != nullptr && record_of(its_anchor)->retirement.is_retired()) {
    exchange(as_written, -1, original, replay);
  }
}

CodeRef first_replay_code(PyCodeObject* original) {
  CodeRef replay = replay_code_of(original);
  PyObject* anchor = anchor_of(original);
  if (replay.get() != original && anchor != nullptr && cpython::is_armed(original)) {
    if (!cpython::make_of_derived(original, record_of(anchor)->code.replay_code.weak)) {
      throw PythonError();
    }
    exchange_in_maker(original, replay);
  }
  return replay;
}

// Whether the called function is the only one of this code: references come from that function, the frame, and the code
// that makes the function.
bool is_only_function(PyCodeObject* original) {
  constexpr Py_ssize_t kFunctionAndFrame = 2;
  constexpr Py_ssize_t kInDerived = 3;  // from the original's constants, the derived code's, and the decoded ones
  const DefiningCode defining_code = cpython::defining_code(original);
  Py_ssize_t known = kFunctionAndFrame;
  if (maker_of(defining_code) != nullptr) {
    known += defining_code.spare >= 0 ? kInDerived : 1;
  }
  return Py_REFCNT(original) <= known;
}

cpython::Continuation first_call(PyThreadState* thread, cpython::Frame* frame) {
  if (!cpython::has_c_stack(thread, options().limits.stack)) {
    count_first_call_left_out();
    return {};
  }
  const CodeRef original = CodeRef::create(cpython::code_of(frame));
  const bool is_only = is_only_function(cpython::code_of(frame));
  cpython::Continuation continuation;
  try {
    CodeRef replay = first_replay_code(original.get());
    PyObject* anchor = anchor_of(original.get());
    PyFunctionObject* function = cpython::function_of(frame);
    if (anchor != nullptr && replay.get() != original.get()) {
      if (function->func_code == reinterpret_cast<PyObject*>(original.get())) {
        const CodeRef old = cpython::install_code(function, replay.get());
      }
      CodeRecord& record = *record_of(anchor);
      const int pad = record.code.replay_code.pads[record.code.decoded().call_place()];
      // Debuggers, tracemalloc and other evaluation functions see this call in the original code.
      if (note_left_out(thread, record)) {
        return {};
      }
      if (cpython::recursion_left(thread) > kSpareRecursion && !record.retirement.is_retired() && pad >= 0) {
        continuation = {std::move(replay), pad, is_only};
      }
    }
  } catch (const std::exception&) {  // damaged code, or no memory: the original runs
    PyErr_Clear();
  }
  return continuation;
}

void arm_nested(PyCodeObject* code, int depth) {
  PyObject* constants = code->co_consts;
  Ref maker;
  for (Py_ssize_t index = 0; depth < kMaxNesting && index < PyTuple_GET_SIZE(constants); ++index) {
    PyObject* constant = PyTuple_GET_ITEM(constants, index);
    if (!PyCode_Check(constant)) {
      continue;
    }
    auto* inner = reinterpret_cast<PyCodeObject*>(constant);
    if (cpython::original_of(inner) != inner || cpython::is_armed(inner)) {
      continue;
    }
    arm_nested(inner, depth + 1);
    if (recorder::is_namespace(inner)) {  // bodies of classes run once
      continue;
    }
    maker = maker ? maker : cpython::weak_reference(reinterpret_cast<PyObject*>(code));
    if (!maker) {
      throw PythonError();
    }
    if (cpython::arm(inner, {maker, -1})) {
      continue;
    }
    if (PyErr_Occurred() != nullptr) {
      throw PythonError();
    }
    try {
      const CodeRef replay = replay_code_of(inner);
      if (replay.get() != inner) {
        exchange(code, -1, inner, replay);
      }
    } catch (const rewriter::RewriteError&) {  // damaged code runs as it is
      continue;
    }
  }
}

}  // namespace

void arm_nested(PyCodeObject* code) { arm_nested(code, 0); }

void install_armed(PyFunctionObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  if (!cpython::is_armed(code)) {
    return;
  }
  const CodeRef replay = first_replay_code(code);
  if (function->func_code == reinterpret_cast<PyObject*>(code)) {
    const CodeRef old = cpython::install_code(function, replay.get());
  }
}

void handle_first_calls() { cpython::set_first_call_handler(first_call); }

}  // namespace tagalong::runtime
