#include "replay/codegen/scalar/assembler.h"

#ifdef __x86_64__

namespace tagalong::replay::native {

void Assembler::compare_with(const Xbyak::Address& word, const void* address) {
  const auto whole = reinterpret_cast<std::intptr_t>(address);
  const auto low = static_cast<std::int32_t>(whole);
  if (whole == low) {
    cmp(word, low);
  } else {
    mov(rcx, static_cast<std::size_t>(whole));
    cmp(word, rcx);
  }
}

void Assembler::load_object(const Reg64& target, PyObject* const& object) {
  const bool is_static =
      PyType_Check(object) && !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE);
  if (is_static || object == Py_None || object == Py_True || object == Py_False) {
    mov(target, reinterpret_cast<std::size_t>(object));
  } else {
    mov(target, reinterpret_cast<std::size_t>(&object));
    mov(target, qword[target]);
  }
}

}  // namespace tagalong::replay::native
#endif
