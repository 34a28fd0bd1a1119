#include "rewriter/cpython/handlers.h"

namespace tagalong::cpython {
namespace {

// Numbers of 6 bits a byte, the highest ones first.
int read_number(const unsigned char*& byte) {
  constexpr unsigned kMore = 0x40;
  constexpr unsigned kBits = 0x3F;
  unsigned number = *byte & kBits;
  while ((*byte++ & kMore) != 0) {
    number = number << 6U | (*byte & kBits);
  }
  return static_cast<int>(number);
}

}  // namespace

int range_at(const PyCodeObject* code, int unit) {
  const auto* byte = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(code->co_exceptiontable));
  const unsigned char* end = byte + PyBytes_GET_SIZE(code->co_exceptiontable);
  for (int range = 0; byte < end; ++range) {
    const int start = read_number(byte);
    const int length = read_number(byte);
    read_number(byte);  // the handler
    read_number(byte);  // its stack
    if (unit < start) {
      break;
    }
    if (unit < start + length) {
      return range;
    }
  }
  return -1;
}

}  // namespace tagalong::cpython
