#include "rewriter/cpython/first_call.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/frame_redirect.h"
#include "rewriter/cpython/thunks.h"
#include "version/code.h"
#include "version/first_call.h"

namespace tagalong::cpython {
namespace {

using version::kAsking;
constexpr int kStub = version::kFirstCallStub;
constexpr int kToResume = 2;  // RETURN_GENERATOR, POP_TOP
constexpr int kConstants = 2;
constexpr int kMostConstants = 256;  // what an instruction without EXTENDED_ARG can name
constexpr int kMostStack = 1 << 20;
constexpr int kMostInt16 = std::numeric_limits<std::int16_t>::max();
constexpr int kIncomplete = std::numeric_limits<int>::max();  // no instruction is traceable, so the frame is not shown

// The last constant but one of armed code. The redirect function follows it.
struct Stub {
  PyObject_HEAD
  std::array<CodeUnit, kStub> compiled;
  std::int16_t start;   // the first code unit that the stub has replaced
  std::int16_t spare;   // DefiningCode::spare
  std::int8_t length;   // number of code units that the stub has replaced
  bool is_out;          // the compiler's instructions are back for a while
  PyObject* maker;      // weak reference
  PyObject* constants;  // the tuple as compiled, if it has other owners; else null
};
static_assert(sizeof(Stub) <= 64,
              "there is one for each function that has not been called: the allocator counts by 16");

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): written once, under the GIL
FirstCallHandler g_handler = nullptr;

// A first call between the handler's decision and the redirect.
struct Pending {
  Frame* frame = nullptr;
  CodeRef armed;
  Continuation continuation;
  int start = 0;
  std::array<CodeUnit, kStub> compiled{};  // what the stub has replaced
};
thread_local Pending t_pending;

PyTypeObject* stub_type();

Stub* stub_of(PyCodeObject* code) {
  PyObject* constants = code->co_consts;
  const Py_ssize_t count = PyTuple_GET_SIZE(constants);
  PyObject* object = count < kConstants ? nullptr : PyTuple_GET_ITEM(constants, count - kConstants);
  return object != nullptr && Py_TYPE(object) == stub_type() ? reinterpret_cast<Stub*>(object) : nullptr;
}

// The interpreter caches co_code; the cached bytes may contain the stub.
using version::forget_bytes;

// Value of co_firsttraceable: the first RESUME.
int traceable(const Stub& stub) {
  return stub.start + (rewriter::opcode_in(stub.compiled[0]) == op::kRESUME ? 0 : kToResume);
}

void put_in(PyCodeObject* code, Stub& stub) {
  stub.is_out = false;
  const auto first = static_cast<int>(PyTuple_GET_SIZE(code->co_consts)) - kConstants;
  const auto units = version::first_call_stub(first);
  std::copy_n(units.begin(), stub.length, units_of(code) + stub.start);
  version::add_to_stack(code, kStubStack);
  code->_co_firsttraceable = kIncomplete;
  forget_bytes(code);
}

void take_out(PyCodeObject* code, Stub& stub) {
  if (std::exchange(stub.is_out, true)) {
    return;
  }
  std::copy_n(stub.compiled.begin(), stub.length, units_of(code) + stub.start);
  version::add_to_stack(code, -kStubStack);
  code->_co_firsttraceable = traceable(stub);
  forget_bytes(code);
}

int ask(PyObject* self) {
  PyThreadState* thread = thread_state();
  Frame* frame = current_frame(thread);
  PyCodeObject* code = code_of(frame);
  const auto* stub = reinterpret_cast<const Stub*>(self);
  const int start = stub->start;
  // The location at which the original would poll the eval breaker.
  set_location(frame, start);
  Continuation continuation = g_handler(thread, frame);
  const bool is_still_armed = reinterpret_cast<PyObject*>(stub_of(code)) == self;
  const bool moves = continuation.code && is_still_armed && stub->length == kStub;
  if (moves || !version::kAskingJumps) {
    t_pending = {.frame = frame,
                 .armed = CodeRef::create(code),
                 .continuation = moves ? std::move(continuation) : Continuation{},
                 .start = start,
                 .compiled = stub->compiled};
    if (!is_still_armed || stub->is_out) {
      // The frame is still going to execute the rest of the stub, which names no constant.
      const auto units = version::first_call_stub(0);
      std::copy(units.begin() + kAsking, units.end(), units_of(code) + start + kAsking);
    }
    expect_redirect(thread);
    return 1;
  }
  disarm(code);
  return 0;
}

PyObject* redirect_iterator();

PyObject* ask_for_object(PyObject* self) {
  const Ref kept = Ref::create(self);  // disarmed code has no such constant
  ask(self);
  return Py_XNewRef(redirect_iterator());
}

// The frame goes on with the original instructions.
PyObject* go_on_in_original(Frame* frame, const Pending& pending) {
  PyCodeObject* code = pending.armed.get();
  if (is_armed(code)) {
    disarm(code);
  } else {
    std::copy(pending.compiled.begin() + kAsking, pending.compiled.end(), units_of(code) + pending.start + kAsking);
    forget_bytes(code);
  }
  return redirect_to_empty_stack(frame, code, pending.start, pending.start);
}

PyObject* redirect_frame(PyThreadState* /*thread*/, Frame* frame, PyObject* /*argument*/, bool can_redirect) {
  const Pending pending = std::exchange(t_pending, Pending{});
  TAGALONG_CHECK(can_redirect && pending.frame == frame, "a first call in {} was redirected in {}",
                 fmt::ptr(pending.frame), fmt::ptr(frame));
  if (!pending.continuation.code) {
    return go_on_in_original(frame, pending);
  }
  redirect(frame, pending.continuation.code.get(), pending.continuation.unit, 0);
  if (pending.continuation.is_last) {
    disarm(pending.armed.get());
  }
  Py_RETURN_NONE;
}

PyObject* redirect_iterator() {
  static PyObject* function = nullptr;
  return once(function, [] { return make_redirect_function("first_call", redirect_frame, false).release(); });
}

void stub_dealloc(PyObject* self) {
  Py_XDECREF(reinterpret_cast<Stub*>(self)->maker);
  Py_XDECREF(reinterpret_cast<Stub*>(self)->constants);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* stub_type() {
  static PyTypeObject* type = nullptr;
  return once(type, [] {
    static std::array<PyType_Slot, 3> slots = {{
        {version::kAskingSlot,
         version::kAskingJumps ? reinterpret_cast<void*>(ask) : reinterpret_cast<void*>(ask_for_object)},
        {Py_tp_dealloc, reinterpret_cast<void*>(stub_dealloc)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Stub", sizeof(Stub), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

// The first instruction behind the creation of cells that the stub can replace. -1: none.
int start_of(PyCodeObject* code) {
  const CodeUnit* units = units_of(code);
  const int resume = code->_co_firsttraceable;
  int start = resume;
  for (int unit = 0; unit < resume; ++unit) {
    const rewriter::Opcode opcode = rewriter::opcode_in(units[unit]);
    if (opcode == op::kRETURN_GENERATOR) {
      start = unit;
    } else if (opcode != op::kCOPY_FREE_VARS && opcode != op::kMAKE_CELL && opcode != op::kPOP_TOP) {
      return -1;
    }
  }
  // A stub whose asking does not jump needs a local slot.
  const bool has_room = resume + version::kShortestStub <= Py_SIZE(code) && resume + kAsking < Py_SIZE(code) &&
                        (version::kAskingJumps || slot_count(code) > 0);
  return has_room && resume <= kMostInt16 && (start == resume || start + kToResume == resume) &&
                 rewriter::opcode_in(units[resume]) == op::kRESUME
             ? start
             : -1;
}

}  // namespace

void set_first_call_handler(FirstCallHandler handler) {
  g_handler = handler;
  // Done before the program registers a user of co_extra: users that come later are not called for our code.
  link_number();
}

bool arm(PyCodeObject* code, const DefiningCode& defining_code) {
  PyObject* constants = code->co_consts;
  const Py_ssize_t count = PyTuple_GET_SIZE(constants);
  const int start = start_of(code);
  if (start < 0 || version::has_run(code) || code->co_stacksize > kMostStack || stub_of(code) != nullptr ||
      count + kConstants > kMostConstants || original_of(code) != code || original_constants(code) != constants) {
    return false;
  }
  PyTypeObject* type = stub_type();
  PyObject* function = type == nullptr ? nullptr : redirect_iterator();
  const Ref stub = function == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  const Ref longer = stub ? Ref::steal(PyTuple_New(count + kConstants)) : Ref();
  if (!longer || code->co_consts != constants) {  // a collection may have armed or disarmed the code meanwhile
    return false;
  }
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyTuple_SET_ITEM(longer.get(), index, Py_NewRef(PyTuple_GET_ITEM(constants, index)));
  }
  PyTuple_SET_ITEM(longer.get(), count, Py_NewRef(stub.get()));
  PyTuple_SET_ITEM(longer.get(), count + 1, Py_NewRef(function));
  PyObject_GC_UnTrack(longer.get());  // untracked, as the collector does with tuples that hold no tracked object
  auto* own = reinterpret_cast<Stub*>(stub.get());
  own->length = code->_co_firsttraceable + kStub <= Py_SIZE(code) ? kStub : kAsking;
  own->start = static_cast<std::int16_t>(start);
  own->spare = static_cast<std::int16_t>(defining_code.spare);
  own->maker = Py_XNewRef(defining_code.maker.get());
  own->constants = Py_REFCNT(constants) > 1 ? Py_NewRef(constants) : nullptr;
  std::copy_n(units_of(code) + start, own->length, own->compiled.begin());
  code->co_consts = Py_NewRef(longer.get());
  put_in(code, *own);
  Py_DECREF(constants);
  return true;
}

bool is_armed(PyCodeObject* code) { return stub_of(code) != nullptr; }

void disarm(PyCodeObject* code) {
  Stub* stub = stub_of(code);
  if (stub == nullptr) {
    return;
  }
  take_out(code, *stub);
  // From now on frames may begin in the middle of the stub, so the code is not armed again.
  version::mark_run(code);
  if (stub->constants != nullptr && !set_original_constants(code, stub->constants)) {
    PyErr_Clear();  // the other owners have an equal tuple
  }
  // In place: a frame that is in the stub keeps the tuple's address. The code object is the only owner.
  const Py_ssize_t count = PyTuple_GET_SIZE(code->co_consts) - kConstants;
  PyObject* function = PyTuple_GET_ITEM(code->co_consts, count + 1);
  Py_SET_SIZE(reinterpret_cast<PyVarObject*>(code->co_consts), count);
  Py_DECREF(stub);
  Py_DECREF(function);
}

DefiningCode defining_code(PyCodeObject* code) {
  const Stub* stub = stub_of(code);
  return stub == nullptr ? DefiningCode{} : DefiningCode{Ref::create(stub->maker), stub->spare};
}

void set_defining_code(PyCodeObject* code, const DefiningCode& defining_code) {
  Stub* stub = defining_code.spare <= kMostInt16 ? stub_of(code) : nullptr;
  if (stub != nullptr) {
    const Ref old = Ref::steal(std::exchange(stub->maker, Py_XNewRef(defining_code.maker.get())));
    stub->spare = static_cast<std::int16_t>(defining_code.spare);
  }
}

void pass_stub(PyThreadState* thread, Frame* frame) {
  const CodeRef code = CodeRef::create(code_of(frame));
  const Continuation continuation = g_handler(thread, frame);
  if (!is_armed(code.get())) {
    return;
  }
  if (!continuation.code || !exchange_code(thread, frame, continuation.code.get()) || continuation.is_last) {
    disarm(code.get());
  }
}

std::vector<std::uint16_t> compiled_units(PyCodeObject* code) {
  std::vector<std::uint16_t> units(units_of(code), units_of(code) + Py_SIZE(code));
  version::remove_events(code, units);
  if (const Stub* stub = stub_of(code)) {
    std::copy_n(stub->compiled.begin(), stub->length, units.begin() + stub->start);
  }
  return units;
}

std::vector<std::uint8_t> compiled_opcodes(PyCodeObject* code) {
  const std::vector<std::uint16_t> units = compiled_units(code);
  std::vector<std::uint8_t> opcodes(units.size(), op::kCACHE);
  for (std::size_t unit = 0; unit < units.size();) {
    opcodes[unit] = static_cast<std::uint8_t>(rewriter::info(rewriter::opcode_in(units[unit])).base);
    unit += std::size_t{1} + rewriter::info(opcodes[unit]).caches;
  }
  return opcodes;
}

Py_ssize_t compiled_constant_count(PyCodeObject* code) {
  return PyTuple_GET_SIZE(code->co_consts) - (is_armed(code) ? kConstants : 0);
}

PyObject* compiled_constants(PyCodeObject* code) {
  Stub* stub = stub_of(code);
  if (stub == nullptr) {
    return code->co_consts;
  }
  if (stub->constants == nullptr) {
    stub->constants = PyTuple_GetSlice(code->co_consts, 0, compiled_constant_count(code));
  }
  return stub->constants;
}

int compiled_stack_size(PyCodeObject* code) {
  const Stub* stub = stub_of(code);
  return code->co_stacksize - (stub != nullptr && !stub->is_out ? kStubStack : 0);
}

CodeRef code_to_run(PyCodeObject* original) {
  if (!is_armed(original)) {
    return CodeRef::create(original);
  }
  const std::vector<std::uint16_t> units = compiled_units(original);
  CodeParts parts;
  parts.code = Ref::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(units.data()),
                                                    static_cast<Py_ssize_t>(units.size() * sizeof(CodeUnit))));
  parts.constants = Ref::steal(PyTuple_GetSlice(original->co_consts, 0, compiled_constant_count(original)));
  parts.exception_table = Ref::create(original->co_exceptiontable);
  parts.line_table = Ref::create(original->co_linetable);
  parts.names = Ref::create(original->co_names);
  parts.stack_size = compiled_stack_size(original);
  if (!parts.code || !parts.constants) {
    throw PythonError();
  }
  CodeRef twin = make_code(original, parts);
  parts.constants = {};  // only the twin owns this tuple, so it can share the constants
  if (!set_original(twin.get(), original, {})) {
    throw PythonError();
  }
  return twin;
}

bool has_backward_jump(PyCodeObject* code) {
  const CodeUnit* units = units_of(code);
  const Stub* stub = stub_of(code);
  for (Py_ssize_t unit = 0; unit < Py_SIZE(code);) {
    const bool is_stub = stub != nullptr && unit >= stub->start && unit < stub->start + stub->length;
    const rewriter::Opcode opcode =
        rewriter::opcode_in((is_stub ? stub->compiled.at(static_cast<std::size_t>(unit - stub->start)) : units[unit]));
    const rewriter::OpcodeInfo& info = rewriter::info(rewriter::info(opcode).base);
    if (info.jumps() && info.backward() && opcode != op::kJUMP_BACKWARD_NO_INTERRUPT) {
      return true;
    }
    unit += 1 + info.caches;
  }
  return false;
}

AsCompiled::AsCompiled(PyCodeObject* code) {
  Stub* stub = stub_of(code);
  if (stub != nullptr && !stub->is_out) {
    code_ = CodeRef::create(code);
    take_out(code, *stub);
  }
}

// If the code has run meanwhile, one of its frames may be where the stub's instructions would be.
AsCompiled::~AsCompiled() {
  Stub* stub = code_ ? stub_of(code_.get()) : nullptr;
  if (stub == nullptr) {
    return;
  }
  if (!version::has_run(code_.get())) {
    put_in(code_.get(), *stub);
  } else {
    disarm(code_.get());
  }
}

}  // namespace tagalong::cpython
