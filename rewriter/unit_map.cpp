#include "rewriter/unit_map.h"

#include <algorithm>

#include "rewriter/cpython/code_object.h"

namespace tagalong::rewriter {
namespace {

// Maps EXTENDED_ARGs to the original's EXTENDED_ARGs at the same distance in front of the instruction.
void map_prefixes(cpython::UnitMap& map, PyCodeObject* changed, const Moved& moved) {
  const std::span<const std::uint16_t> units = cpython::code_units(changed);
  constexpr unsigned kOpcode = 0xFF;
  for (std::size_t index = 0; index < moved.original.instructions.size(); ++index) {
    for (int distance = 1; distance <= moved.from[index] - moved.starts[index]; ++distance) {
      const int unit = moved.to[index] - distance;
      if (unit < 0 || (units[static_cast<std::size_t>(unit)] & kOpcode) != op::kEXTENDED_ARG) {
        break;
      }
      map.set_own(unit, moved.from[index] - distance);
    }
  }
}

}  // namespace

cpython::UnitMap unit_map(PyCodeObject* changed, Moved moved) {
  std::ranges::sort(moved.exceptions);
  cpython::UnitMap map(static_cast<std::size_t>(Py_SIZE(changed)));
  const auto size = static_cast<int>(Py_SIZE(changed));
  const auto count = moved.original.instructions.size();
  std::size_t next = 0;  // index of the next instruction
  std::size_t exception = 0;
  int owner = 0;  // unit in the original
  int unit = 0;
  while (unit < size) {
    if (next < count && unit == moved.to[next]) {
      owner = moved.from[next];
      const int caches = info(moved.original.instructions[next].opcode).caches;
      for (int cache = 0; cache <= caches; ++cache) {
        map.set_own(unit++, owner + cache);
      }
      ++next;
      continue;
    }
    while (exception < moved.exceptions.size() && moved.exceptions[exception].first <= unit) {
      const auto& [start, instruction] = moved.exceptions[exception++];
      if (start == unit) {
        owner = moved.from[static_cast<std::size_t>(instruction)];
      }
    }
    map.set_added(unit++, owner);
  }
  map_prefixes(map, changed, moved);
  return map;
}

}  // namespace tagalong::rewriter
