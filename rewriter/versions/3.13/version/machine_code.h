// Short sequences of instructions of the processor that depend on the objects of CPython 3.13. Only replay/codegen
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

// Adds a reference to the object. The count of an immortal object stays as it is.
inline void share(Code& code, const Reg64& object) {
  Label immortal;
  code.cmp(code.dword[object + offsetof(PyObject, ob_refcnt)], -1);
  code.je(immortal);
  code.inc(code.dword[object + offsetof(PyObject, ob_refcnt)]);
  code.L(immortal);
}
// Gives back a reference, and goes to `dies` if it was the last one.
inline void give_back(Code& code, const Reg64& object, const Label& dies) {
  Label immortal;
  code.cmp(code.dword[object + offsetof(PyObject, ob_refcnt)], 0);
  code.jl(immortal);
  code.dec(code.dword[object + offsetof(PyObject, ob_refcnt)]);
  code.jz(dies);
  code.L(immortal);
}
// Gives back a reference that is not the last one.
inline void give_back(Code& code, const Reg64& object) {
  Label immortal;
  code.cmp(code.dword[object + offsetof(PyObject, ob_refcnt)], 0);
  code.jl(immortal);
  code.dec(code.dword[object + offsetof(PyObject, ob_refcnt)]);
  code.L(immortal);
}
// Goes to `last` if the object has one reference only.
inline void if_last(Code& code, const Reg64& object, const Label& last) {
  code.cmp(code.dword[object + offsetof(PyObject, ob_refcnt)], 1);
  code.je(last);
}
// Goes to `shared` if it has more.
inline void if_shared(Code& code, const Reg64& object, const Label& shared) {
  code.cmp(code.dword[object + offsetof(PyObject, ob_refcnt)], 1);
  code.jne(shared);
}

// The version of a dict; the registers may be the same one.
inline void load_dict_version(Code& code, const Reg64& version, const Reg64& dict) {
  code.mov(version, code.qword[dict + kDictVersion]);
  code.shr(version, kNoVersionBits);
}

// Goes to `watched` if a trace or profile function watches the thread, or perhaps a tool all threads; clobbers the
// registers.
inline void if_watched(Code& code, const Reg64& thread, const Reg64& scratch, const Label& watched) {
  code.cmp(code.qword[thread + offsetof(PyThreadState, c_tracefunc)], 0);
  code.jne(watched);
  code.cmp(code.qword[thread + offsetof(PyThreadState, c_profilefunc)], 0);
  code.jne(watched);
  code.mov(thread, code.qword[thread + offsetof(PyThreadState, eval_breaker)]);
  static_assert(kEventsVersion == ~std::uintptr_t{0xff});
  code.mov(thread.cvt8(), 0);
  code.mov(scratch, reinterpret_cast<std::size_t>(&quiet_version));
  code.cmp(thread, code.qword[scratch]);
  code.jne(watched);
}

// The next item of a range iterator; goes to `end` without one. Clobbers the scratch register.
inline void range_next(Code& code, const Reg64& iterator, const Reg64& item, const Reg64& scratch, const Label& end) {
  code.cmp(code.qword[iterator + offsetof(RangeIterator, len)], 0);
  code.jle(end);
  code.dec(code.qword[iterator + offsetof(RangeIterator, len)]);
  code.mov(item, code.qword[iterator + offsetof(RangeIterator, start)]);
  code.mov(scratch, item);
  code.add(scratch, code.qword[iterator + offsetof(RangeIterator, step)]);
  code.mov(code.qword[iterator + offsetof(RangeIterator, start)], scratch);
}

inline constexpr int kDictBefore = -3 * static_cast<int>(sizeof(PyObject*));

// The array of values of an instance whose class has Py_TPFLAGS_MANAGED_DICT; goes to `none` without one.
inline void load_values(Code& code, const Reg64& values, const Reg64& object, const Label& none) {
  code.cmp(code.qword[object + kDictBefore], 0);
  code.jne(none);
  code.mov(values, code.qword[object + offsetof(PyObject, ob_type)]);
  code.test(code.dword[values + offsetof(PyTypeObject, tp_flags)], Py_TPFLAGS_INLINE_VALUES);
  code.jz(none);
  code.mov(values, code.qword[values + offsetof(PyTypeObject, tp_basicsize)]);
  code.add(values, object);
  code.cmp(code.byte[values + offsetof(PyDictValues, valid)], 0);
  code.je(none);
  code.add(values, offsetof(PyDictValues, values));
}
// Goes to `none` if an instance whose class has Py_TPFLAGS_MANAGED_DICT has no such array. `type`: the register of its
// type, which stays as it is.
inline void if_without_values(Code& code, const Reg64& object, const Reg64& type, const Label& none) {
  code.cmp(code.qword[object + kDictBefore], 0);
  code.jne(none);
  code.test(code.dword[type + offsetof(PyTypeObject, tp_flags)], Py_TPFLAGS_INLINE_VALUES);
  code.jz(none);
  code.mov(type, code.qword[type + offsetof(PyTypeObject, tp_basicsize)]);
  code.cmp(code.byte[object + type + offsetof(PyDictValues, valid)], 0);
  code.mov(type, code.qword[object + offsetof(PyObject, ob_type)]);
  code.je(none);
}

// The value of an exact int of at most two digits; goes to `large` for others. Clobbers both scratch registers.
inline void load_int(Code& code, const Reg64& value, const Reg64& object, const Reg64& tag, const Reg64& scratch,
                     const Label& large) {
  constexpr std::size_t kDigits = offsetof(PyLongObject, long_value.ob_digit);
  constexpr unsigned kTwoDigits = 2U << _PyLong_NON_SIZE_BITS;
  constexpr unsigned kNegative = 2;
  Label small;
  Label positive;
  code.mov(tag, code.qword[object + offsetof(PyLongObject, long_value.lv_tag)]);
  code.mov(value.cvt32(), code.dword[object + kDigits]);
  code.cmp(tag, kTwoDigits);
  code.jb(small);
  code.cmp(tag, kTwoDigits + (1U << _PyLong_NON_SIZE_BITS));
  code.jae(large);
  code.mov(scratch.cvt32(), code.dword[object + kDigits + sizeof(digit)]);
  code.shl(scratch, PyLong_SHIFT);
  code.or_(value, scratch);
  code.L(small);
  code.test(tag.cvt32(), kNegative);
  code.jz(positive);
  code.neg(value);
  code.L(positive);
}

}  // namespace tagalong::version::machine
