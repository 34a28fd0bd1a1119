// Short sequences of instructions of the processor that depend on the objects of CPython 3.11. Only replay/codegen
// includes this file.
#pragma once

#include <Python.h>
#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>

#include "version/frames.h"
#include "version/objects.h"

namespace tagalong::version::machine {

using Code = Xbyak::CodeGenerator;
using Xbyak::Label;
using Xbyak::Reg64;

// Adds a reference to the object.
inline void share(Code& code, const Reg64& object) { code.inc(code.qword[object + offsetof(PyObject, ob_refcnt)]); }
// Gives back a reference that is not the last one.
inline void give_back(Code& code, const Reg64& object) { code.dec(code.qword[object + offsetof(PyObject, ob_refcnt)]); }
// Gives back a reference, and goes to `dies` if it was the last one.
inline void give_back(Code& code, const Reg64& object, const Label& dies) {
  give_back(code, object);
  code.jz(dies);
}
// Goes to `last` if the object has one reference only.
inline void if_last(Code& code, const Reg64& object, const Label& last) {
  code.cmp(code.qword[object + offsetof(PyObject, ob_refcnt)], 1);
  code.je(last);
}
// Goes to `shared` if it has more.
inline void if_shared(Code& code, const Reg64& object, const Label& shared) {
  code.cmp(code.qword[object + offsetof(PyObject, ob_refcnt)], 1);
  code.jne(shared);
}

// The version of a dict; the registers may be the same one.
inline void load_dict_version(Code& code, const Reg64& version, const Reg64& dict) {
  code.mov(version, code.qword[dict + offsetof(PyDictObject, ma_version_tag)]);
}

// Goes to `watched` if a trace or profile function watches the thread; clobbers the registers.
inline void if_watched(Code& code, const Reg64& thread, const Reg64& /*scratch*/, const Label& watched) {
  code.mov(thread, code.qword[thread + offsetof(PyThreadState, cframe)]);
  code.cmp(code.byte[thread + offsetof(_PyCFrame, use_tracing)], 0);
  code.jne(watched);
}

// The next item of a range iterator; goes to `end` without one. Clobbers the scratch register.
inline void range_next(Code& code, const Reg64& iterator, const Reg64& item, const Reg64& /*scratch*/,
                       const Label& end) {
  code.mov(item, code.qword[iterator + offsetof(RangeIterator, index)]);
  code.cmp(item, code.qword[iterator + offsetof(RangeIterator, len)]);
  code.jge(end);
  code.inc(code.qword[iterator + offsetof(RangeIterator, index)]);
  code.imul(item, code.qword[iterator + offsetof(RangeIterator, step)]);
  code.add(item, code.qword[iterator + offsetof(RangeIterator, start)]);
}

// The array of values of an instance, whose class keeps its values so; goes to `none` if it has a dict instead.
inline void load_values(Code& code, const Reg64& values, const Reg64& object, const Label& none) {
  constexpr int kValuesBefore = -4 * static_cast<int>(sizeof(PyObject*));
  code.mov(values, code.qword[object + kValuesBefore]);
  code.test(values, values);
  code.jz(none);
}
// Goes to `none` if an instance whose class has Py_TPFLAGS_MANAGED_DICT has no such array. `type`: the register of its
// type, which stays as it is.
inline void if_without_values(Code& code, const Reg64& object, const Reg64& /*type*/, const Label& none) {
  constexpr int kValuesBefore = -4 * static_cast<int>(sizeof(PyObject*));
  code.cmp(code.qword[object + kValuesBefore], 0);
  code.je(none);
}

// The value of an exact int of at most two digits; goes to `large` for others. Clobbers both scratch registers.
inline void load_int(Code& code, const Reg64& value, const Reg64& object, const Reg64& size, const Reg64& scratch,
                     const Label& large) {
  constexpr std::size_t kDigits = offsetof(PyLongObject, ob_digit);
  Label small;
  Label found;
  code.mov(size, code.qword[object + offsetof(PyVarObject, ob_size)]);
  code.lea(scratch, code.ptr[size + 1]);
  code.cmp(scratch, 2);
  code.jbe(small);
  code.lea(scratch, code.ptr[size + 2]);
  code.cmp(scratch, 4);
  code.ja(large);
  code.mov(scratch.cvt32(), code.dword[object + kDigits + sizeof(digit)]);
  code.shl(scratch, PyLong_SHIFT);
  code.mov(value.cvt32(), code.dword[object + kDigits]);
  code.or_(value, scratch);
  code.test(size, size);
  code.jns(found);
  code.neg(value);
  code.jmp(found);
  code.L(small);
  code.mov(value.cvt32(), code.dword[object + kDigits]);
  code.imul(value, size);
  code.L(found);
}

}  // namespace tagalong::version::machine
