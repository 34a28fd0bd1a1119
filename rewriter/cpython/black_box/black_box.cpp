#include "rewriter/cpython/black_box/black_box.h"

#include <structmember.h>

#include <string_view>
#include <utility>
#include <vector>

#include "rewriter/base/dicts.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/black_box/monitoring.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/methods.h"
#include "rewriter/cpython/watch.h"
#include "version/black_box.h"
#include "version/generators.h"
#include "version/objects.h"

namespace tagalong::cpython {
namespace {

// The original functions of the slots that we have replaced.
struct Inherited {
  getter function_code = nullptr;
  getter frame_code = nullptr;
  getter frame_lasti = nullptr;
  getter code_bytes = nullptr;
  getter code_adaptive_bytes = nullptr;
  getter generator_code = nullptr;
  getter coroutine_code = nullptr;
  getter async_generator_code = nullptr;
  descrgetfunc member = nullptr;
  newfunc traceback = nullptr;
  PyCFunction settrace = nullptr;
  hashfunc code_hash = nullptr;
  richcmpfunc code_compare = nullptr;
  _PyCFunctionFastWithKeywords code_replace = nullptr;
  version::MarshalFunction marshal_dumps = nullptr;
  version::MarshalFunction marshal_dump = nullptr;
  PyCFunction weak_count = nullptr;
  PyCFunction weak_list = nullptr;
  PyCFunction frame_size = nullptr;
  PyCFunction code_size = nullptr;
  PyCFunction generator_size = nullptr;
  PyCFunction coroutine_size = nullptr;
  PyCFunction async_generator_size = nullptr;
  version::ObjectsFunction referrers = nullptr;
  version::ObjectsFunction referents = nullptr;
  _PyCFunctionFastWithKeywords objects = nullptr;
};
Inherited g_inherited;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The descriptors of members whose values are shown differently; borrowed from static types.
struct Members {
  PyObject* generator_code = nullptr;
  PyObject* coroutine_code = nullptr;
  PyObject* async_generator_code = nullptr;
  PyObject* traceback_lasti = nullptr;
  PyObject* code_constants = nullptr;
  PyObject* code_stack_size = nullptr;
};
Members g_members;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Steals the reference and returns a new one: for derived code, the code that programs see.
PyObject* shown(PyObject* object) {
  if (object == nullptr || !PyCode_Check(object)) {
    return object;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  PyCodeObject* original = shown_of(code);
  if (original != code) {
    Py_INCREF(original);
    Py_DECREF(object);
  }
  return reinterpret_cast<PyObject*>(original);
}

PyObject* function_code(PyObject* self, void* closure) { return shown(g_inherited.function_code(self, closure)); }

template <getter Inherited::*inherited>
PyObject* generator_code(PyObject* self, void* closure) {
  return shown((g_inherited.*inherited)(self, closure));
}

PyObject* frame_code(PyObject* self, void* closure) { return shown(g_inherited.frame_code(self, closure)); }

PyObject* frame_lasti(PyObject* self, void* closure) {
  Frame* frame = reinterpret_cast<PyFrameObject*>(self)->f_frame;
  PyCodeObject* code = code_of(frame);
  if (shown_of(code) == code) {
    return g_inherited.frame_lasti(self, closure);
  }
  const int unit = unit_of(frame);
  return PyLong_FromLong(unit < 0 ? -1 : shown_offset(code, unit * static_cast<int>(sizeof(rewriter::CodeUnit))));
}

// Derived code may need a larger stack than the code that programs see. Programs get the size of the latter. Steals the
// reference.
PyObject* shown_size(PyObject* size, PyCodeObject* code) {
  const Ref owned = Ref::steal(size);
  const int more = code->co_stacksize - compiled_stack_size(shown_of(code));
  const Py_ssize_t number = owned ? PyLong_AsSsize_t(owned.get()) : -1;
  return number < 0 ? nullptr : PyLong_FromSsize_t(number - more * static_cast<Py_ssize_t>(sizeof(PyObject*)));
}

PyObject* code_size(PyObject* self, PyObject* arguments) {
  const Ref size = Ref::steal(g_inherited.code_size(self, arguments));
  const Py_ssize_t number = size ? PyLong_AsSsize_t(size.get()) : -1;
  return number < 0 ? nullptr : PyLong_FromSsize_t(number - added_size(reinterpret_cast<PyCodeObject*>(self)));
}

PyObject* frame_size(PyObject* self, PyObject* arguments) {
  return shown_size(g_inherited.frame_size(self, arguments), code_of(reinterpret_cast<PyFrameObject*>(self)->f_frame));
}

// Getters of generators, coroutines and asynchronous generators, whose objects begin with the same fields.
template <PyCFunction Inherited::*inherited>
PyObject* generator_size(PyObject* self, PyObject* arguments) {
  return shown_size((g_inherited.*inherited)(self, arguments),
                    version::code_of_generator(reinterpret_cast<PyGenObject*>(self)));
}

PyObject* traceback_lasti(PyObject* object) {
  const auto* traceback = reinterpret_cast<PyTracebackObject*>(object);
  return PyLong_FromLong(shown_offset(code_of(traceback->tb_frame->f_frame), traceback->tb_lasti));
}

PyObject* code_constants(PyObject* object) {
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  // Our own tools give out derived code; its constants are shown as they are.
  return Py_XNewRef(original_of(code) == code ? original_constants(shown_of(code)) : code->co_consts);
}

template <getter Inherited::*inherited>
PyObject* code_bytes(PyObject* self, void* closure) {
  const AsCompiled as_compiled(reinterpret_cast<PyCodeObject*>(self));
  return (g_inherited.*inherited)(self, closure);
}

PyObject* member(PyObject* descriptor, PyObject* object, PyObject* type) {
  if (descriptor == g_members.code_constants && object != nullptr && PyCode_Check(object)) {
    return code_constants(object);
  }
  PyObject* value = g_inherited.member(descriptor, object, type);
  if (value == nullptr || object == nullptr) {
    return value;
  }
  if (descriptor == g_members.generator_code || descriptor == g_members.coroutine_code ||
      descriptor == g_members.async_generator_code) {
    return shown(value);
  }
  if (descriptor == g_members.traceback_lasti) {
    Py_DECREF(value);
    return traceback_lasti(object);
  }
  if (descriptor == g_members.code_stack_size) {
    Py_DECREF(value);
    return PyLong_FromLong(compiled_stack_size(reinterpret_cast<PyCodeObject*>(object)));
  }
  return value;
}

// types.TracebackType(next, frame, lasti, lineno): the caller passes an offset into the code that programs see.
PyObject* new_traceback(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* object = g_inherited.traceback(type, args, kwargs);
  if (object != nullptr) {
    auto* traceback = reinterpret_cast<PyTracebackObject*>(object);
    traceback->tb_lasti = real_offset(code_of(traceback->tb_frame->f_frame), traceback->tb_lasti);
  }
  return object;
}

Py_hash_t hash_code(PyObject* self) {
  const OriginalConstants constants(self);
  return constants ? g_inherited.code_hash(self) : -1;
}

PyObject* compare_code(PyObject* left, PyObject* right, int operation) {
  const OriginalConstants of_left(left);
  const OriginalConstants of_right(right);
  return of_left && of_right ? g_inherited.code_compare(left, right, operation) : nullptr;
}

PyObject* replace_code(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  const OriginalConstants constants(self);
  return constants ? g_inherited.code_replace(self, arguments, count, names) : nullptr;
}

// marshal reads the fields of code objects directly, at any depth of nesting.
void restore_constants(PyObject* object, std::vector<OriginalConstants>& restored, int depth) {
  constexpr int kMarshalDepth = 2000;  // marshal refuses deeper nesting
  if (depth > kMarshalDepth || (!restored.empty() && !restored.back())) {
    return;
  }
  if (PyCode_Check(object)) {
    if (!restored.emplace_back(object)) {
      return;
    }
    restore_constants(original_constants(reinterpret_cast<PyCodeObject*>(object)), restored, depth + 1);
  } else if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(object); ++index) {
      restore_constants(PySequence_Fast_GET_ITEM(object, index), restored, depth + 1);
    }
  } else if (PyDict_CheckExact(object)) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(object, &position, &key, &value) != 0) {
      restore_constants(key, restored, depth + 1);
      restore_constants(value, restored, depth + 1);
    }
  }
}

template <version::MarshalFunction Inherited::*inherited, class... Names>
PyObject* marshal_code(PyObject* module, PyObject* const* arguments, Py_ssize_t count, Names... names) {
  std::vector<OriginalConstants> restored;
  if (count > 0) {
    restore_constants(arguments[0], restored, 0);
  }
  const bool failed = !restored.empty() && !restored.back();
  PyObject* result = failed ? nullptr : (g_inherited.*inherited)(module, arguments, count, names...);
  while (!restored.empty()) {
    restored.pop_back();
  }
  return result;
}

// weakref.getweakrefcount() and getweakrefs(), without our own weak references.
PyObject* weak_count(PyObject* module, PyObject* object) {
  const Ref count = Ref::steal(g_inherited.weak_count(module, object));
  const Py_ssize_t number = count ? PyLong_AsSsize_t(count.get()) : -1;
  return number < 0 ? nullptr : PyLong_FromSsize_t(number - (watch_of(object) != nullptr ? 1 : 0));
}

PyObject* weak_list(PyObject* module, PyObject* object) {
  PyObject* list = g_inherited.weak_list(module, object);
  PyObject* watch = watch_of(object);
  for (Py_ssize_t index = 0; list != nullptr && watch != nullptr && index < PyList_GET_SIZE(list); ++index) {
    if (PyList_GET_ITEM(list, index) == watch) {
      PyList_SetSlice(list, index, index + 1, nullptr);
    }
  }
  return list;
}

// gc.get_referents(): derived code objects are replaced by those that programs see.
PyObject* referents(PyObject* module, PyObject* arguments) {
  PyObject* result = version::call_with_objects(g_inherited.referents, module, arguments);
  for (Py_ssize_t index = 0; result != nullptr && index < PyList_GET_SIZE(result); ++index) {
    PyList_SET_ITEM(result, index, shown(PyList_GET_ITEM(result, index)));
  }
  return result;
}

// gc.get_objects(): without our weak references, whose number changes while the program does nothing new.
PyObject* all_objects(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  PyObject* list = g_inherited.objects(module, arguments, count, names);
  Py_ssize_t kept = 0;
  for (Py_ssize_t index = 0; list != nullptr && index < PyList_GET_SIZE(list); ++index) {
    PyObject* object = PyList_GET_ITEM(list, index);
    if (is_watch(object)) {
      Py_DECREF(object);
    } else {
      PyList_SET_ITEM(list, kept++, object);
    }
  }
  if (list != nullptr) {
    Py_SET_SIZE(reinterpret_cast<PyVarObject*>(list), kept);
  }
  return list;
}

// A visitproc: whether an object refers to one of the wanted objects, or to code that is shown as one of them.
int refers(PyObject* visited, void* wanted) {
  PyObject* seen =
      PyCode_Check(visited) ? reinterpret_cast<PyObject*>(shown_of(reinterpret_cast<PyCodeObject*>(visited))) : visited;
  auto* tuple = static_cast<PyObject*>(wanted);
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple); ++index) {
    if (PyTuple_GET_ITEM(tuple, index) == seen) {
      return 1;
    }
  }
  return 0;
}

// gc.get_referrers(): an object that refers to installed code refers, for programs, to the code that they see.
PyObject* referrers(PyObject* module, PyObject* arguments) {
  bool has_code = false;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(arguments); ++index) {
    has_code = has_code || PyCode_Check(PyTuple_GET_ITEM(arguments, index));
  }
  Ref result = Ref::steal(version::call_with_objects(g_inherited.referrers, module, arguments));
  if (!has_code || !result) {
    return result.release();
  }
  const Ref objects = Ref::steal(PyObject_CallMethod(module, "get_objects", nullptr));
  if (!objects) {
    return nullptr;
  }
  result = Ref::steal(PyList_New(0));
  for (Py_ssize_t index = 0; result && index < PyList_GET_SIZE(objects.get()); ++index) {
    PyObject* object = PyList_GET_ITEM(objects.get(), index);
    const traverseproc traverse = Py_TYPE(object)->tp_traverse;
    if (object != arguments && traverse(object, refers, arguments) != 0 && PyList_Append(result.get(), object) != 0) {
      return nullptr;
    }
  }
  return result.release();
}

// The trace function that sys.settrace() installs; CPython uses one function for all threads.
Py_tracefunc g_trampoline = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int filtered_trace(PyObject* object, PyFrameObject* frame, int event, PyObject* argument) {
  if (event == PyTrace_OPCODE && !is_shown_unit(code_of(frame->f_frame), unit_of(frame->f_frame))) {
    return 0;
  }
  return g_trampoline(object, frame, event, argument);
}

PyObject* settrace(PyObject* module, PyObject* function) {
  PyObject* result = g_inherited.settrace(module, function);
  PyThreadState* thread = thread_state();
  if (result != nullptr && function != Py_None && thread->c_tracefunc != nullptr &&
      thread->c_tracefunc != filtered_trace) {
    g_trampoline = thread->c_tracefunc;
    thread->c_tracefunc = filtered_trace;
  }
  return result;
}

getter replace_getter(PyTypeObject& type, std::string_view name, getter replacement) {
  for (PyGetSetDef* entry = type.tp_getset; entry != nullptr && entry->name != nullptr; ++entry) {
    if (entry->name == name) {
      const getter old = entry->get;
      entry->get = replacement;
      return old;
    }
  }
  TAGALONG_CHECK(false, "{} has no attribute {}", type.tp_name, name);
}

PyObject* member_of(PyTypeObject& type, const char* name) {
  PyObject* descriptor = item_of(version::dict_of(&type), name);
  TAGALONG_CHECK(descriptor != nullptr && Py_IS_TYPE(descriptor, &PyMemberDescr_Type), "{}.{} is no member",
                 type.tp_name, name);
  return descriptor;
}

// Specialised instructions read members that are objects without asking the descriptor, unless reading them is audited.
// member() reads this one itself, without an audit event.
void keep_general(PyObject* descriptor) {
  auto* member = reinterpret_cast<PyMemberDescrObject*>(descriptor);
  member->d_member->flags |= READ_RESTRICTED;
  PyType_Modified(member->d_common.d_type);
}

}  // namespace

void show_originals() {
  if (g_inherited.member != nullptr) {
    return;
  }
  g_members = {.traceback_lasti = member_of(PyTraceBack_Type, "tb_lasti"),
               .code_constants = member_of(PyCode_Type, "co_consts"),
               .code_stack_size = member_of(PyCode_Type, "co_stacksize")};
  keep_general(g_members.code_constants);
  if (version::kGeneratorCodeIsMember) {
    g_members.generator_code = member_of(PyGen_Type, "gi_code");
    g_members.coroutine_code = member_of(PyCoro_Type, "cr_code");
    g_members.async_generator_code = member_of(PyAsyncGen_Type, "ag_code");
  } else {
    g_inherited.generator_code = replace_getter(PyGen_Type, "gi_code", generator_code<&Inherited::generator_code>);
    g_inherited.coroutine_code = replace_getter(PyCoro_Type, "cr_code", generator_code<&Inherited::coroutine_code>);
    g_inherited.async_generator_code =
        replace_getter(PyAsyncGen_Type, "ag_code", generator_code<&Inherited::async_generator_code>);
  }
  g_inherited.function_code = replace_getter(PyFunction_Type, "__code__", function_code);
  g_inherited.frame_code = replace_getter(PyFrame_Type, "f_code", frame_code);
  g_inherited.frame_lasti = replace_getter(PyFrame_Type, "f_lasti", frame_lasti);
  g_inherited.code_bytes = replace_getter(PyCode_Type, "co_code", code_bytes<&Inherited::code_bytes>);
  g_inherited.code_adaptive_bytes =
      replace_getter(PyCode_Type, "_co_code_adaptive", code_bytes<&Inherited::code_adaptive_bytes>);
  g_inherited.traceback = std::exchange(PyTraceBack_Type.tp_new, new_traceback);
  PyTypeObject& member_type = PyMemberDescr_Type;
  g_inherited.member = replace_slot(member_type, member_type.tp_descr_get, {"__get__"}, member);
  PyTypeObject& code_type = PyCode_Type;
  g_inherited.code_hash = replace_slot(code_type, code_type.tp_hash, {"__hash__"}, hash_code);
  g_inherited.code_compare = replace_slot(code_type, code_type.tp_richcompare,
                                          {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}, compare_code);
  g_inherited.code_replace =
      replace_method(definition_of(code_type, "replace"), METH_FASTCALL | METH_KEYWORDS, replace_code);
  if (PyMethodDef* replace = definition_of(code_type, "__replace__"); replace != nullptr) {
    replace_method(replace, METH_FASTCALL | METH_KEYWORDS, replace_code);  // the same function in CPython
  }
  g_inherited.settrace = replace_method(definition_of("sys", "settrace"), METH_O, settrace);
  g_inherited.weak_count = replace_method(definition_of("_weakref", "getweakrefcount"), METH_O, weak_count);
  g_inherited.weak_list = replace_method(definition_of("_weakref", "getweakrefs"), METH_O, weak_list);
  g_inherited.code_size = replace_method(definition_of(code_type, "__sizeof__"), METH_NOARGS, code_size);
  g_inherited.frame_size = replace_method(definition_of(PyFrame_Type, "__sizeof__"), METH_NOARGS, frame_size);
  g_inherited.generator_size =
      replace_method(definition_of(PyGen_Type, "__sizeof__"), METH_NOARGS, generator_size<&Inherited::generator_size>);
  g_inherited.coroutine_size =
      replace_method(definition_of(PyCoro_Type, "__sizeof__"), METH_NOARGS, generator_size<&Inherited::coroutine_size>);
  g_inherited.async_generator_size = replace_method(definition_of(PyAsyncGen_Type, "__sizeof__"), METH_NOARGS,
                                                    generator_size<&Inherited::async_generator_size>);
  g_inherited.objects = replace_method(definition_of("gc", "get_objects"), METH_FASTCALL | METH_KEYWORDS, all_objects);
  g_inherited.referents =
      replace_method(definition_of("gc", "get_referents"), version::kObjectsFlags, version::with_objects<referents>);
  g_inherited.referrers =
      replace_method(definition_of("gc", "get_referrers"), version::kObjectsFlags, version::with_objects<referrers>);
  g_inherited.marshal_dumps = replace_method<version::MarshalFunction>(
      definition_of("marshal", "dumps"), version::kMarshalFlags, marshal_code<&Inherited::marshal_dumps>);
  g_inherited.marshal_dump = replace_method<version::MarshalFunction>(
      definition_of("marshal", "dump"), version::kMarshalFlags, marshal_code<&Inherited::marshal_dump>);
  show_originals_to_tools();
}

}  // namespace tagalong::cpython
