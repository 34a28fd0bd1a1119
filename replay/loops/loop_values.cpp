#include "replay/loops/loop_values.h"

namespace tagalong::replay {
namespace {

bool fits_int64(PyObject* object) {
  int overflow = 0;
  static_cast<void>(PyLong_AsLongLongAndOverflow(object, &overflow));
  return overflow == 0;
}

}  // namespace

LoopValues::LoopValues(const Graph& graph, const LoopGraph& loop, const std::vector<std::int32_t>& registers,
                       std::int32_t& next_register, std::vector<Unboxed>& kinds)
    : loop_(loop), registers_(registers), next_register_(next_register), kinds_(kinds) {
  if (loop.is_closed()) {
    values_.resize(loop.value_count());
    abstract_values_.emplace(graph);
  }
}

std::int32_t LoopValues::new_place(Unboxed kind) {
  const std::int32_t place = next_register_++;
  kinds_.resize(static_cast<std::size_t>(next_register_), Unboxed::kNone);
  kinds_[static_cast<std::size_t>(place)] = kind;
  return place;
}

Unboxed LoopValues::available(Value value) const {
  if ((*this)[value].kind != Unboxed::kNone) {
    return (*this)[value].kind;
  }
  const Node& maker = loop_.maker(value);
  if (maker.op == Op::constant && PyLong_CheckExact(maker.object.get()) && !fits_int64(maker.object.get())) {
    return Unboxed::kNone;
  }
  return unboxed_of(type(value));
}

void LoopValues::show(SnapshotId id) {
  const auto mark = [this](const Values& values) {
    for (const Value value : values) {
      if (value != kNoValue && (*this)[value].is_number) {
        (*this)[value].may_be_boxed = true;
      }
    }
  };
  for (; id != kNoSnapshot; id = loop_.snapshot(id).parent) {
    mark(loop_.snapshot(id).locals);
    mark(loop_.snapshot(id).stack);
  }
}

}  // namespace tagalong::replay
