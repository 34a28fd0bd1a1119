// The compiler of one loop program: one pass over its operations, each of which is emitted by a part of the compiler.
#include <utility>

#include "replay/codegen/scalar/arithmetic.h"
#include "replay/codegen/scalar/array_items.h"
#include "replay/codegen/scalar/attributes.h"
#include "replay/codegen/scalar/boxing.h"
#include "replay/codegen/scalar/code.h"
#include "replay/codegen/scalar/comparisons.h"
#include "replay/codegen/scalar/guards.h"
#include "replay/codegen/scalar/polls.h"
#include "replay/codegen/scalar/references.h"
#include "replay/codegen/scalar/sequences.h"

#ifdef __x86_64__

namespace tagalong::replay::native {
namespace {

class Compiler {
 public:
  explicit Compiler(const Source& source) : emission_(source) {}

  std::unique_ptr<const Code> make();

 private:
  void emit(const LoopOp& op);
  void emit_step(const LoopOp& op);
  void jump(const LoopOp& op) { emission_.assembler.jmp(exits_.target(op.right)); }

  Emission emission_;
  Exits& exits_ = emission_.exits;
  ArithmeticCode arithmetic_{emission_};
  ComparisonCode comparisons_{emission_};
  BoxingCode boxing_{emission_};
  ReferenceCode references_{emission_};
  PollCode polls_{emission_};
  GuardCode guards_{emission_};
  SequenceCode sequences_{emission_, references_, boxing_};
  ArrayItemCode array_items_{emission_, boxing_};
  AttributeCode attributes_{emission_, references_, boxing_, polls_};
};

std::unique_ptr<const Code> Compiler::make() {
  const std::vector<LoopOp>& ops = emission_.source.program.ops;
  Assembler& assembler = emission_.assembler;
  exits_.prologue();
  for (std::size_t number = 0; number < ops.size(); ++number) {
    exits_.begin(number);
    emit(ops[number]);
  }
  assembler.ud2();  // unreachable: every program ends with a jump
  exits_.finish();
  assembler.ready(Assembler::PROTECT_RW);  // resolves labels; the code runs in executable memory
  return Code::make({assembler.getCode(), assembler.getSize()}, exits_.entries());
}

void Compiler::emit_step(const LoopOp& op) {
  if (attributes_.is_stored(emission_.source.steps[op.step])) {
    attributes_.store_attribute(op);
  } else {
    guards_.step(op);
  }
}

void Compiler::emit(const LoopOp& op) {
  using enum LoopCode;
  switch (op.code) {
    case kAddInt:
    case kSubtractInt:
    case kAndInt:
    case kOrInt:
    case kXorInt:
      return arithmetic_.binary_int(op);
    case kMultiplyInt:
      return arithmetic_.multiply_int(op);
    case kFloorDivideInt:
    case kRemainderInt:
      return arithmetic_.divide_int(op);
    case kTrueDivideInt:
      return arithmetic_.true_divide(op);
    case kShiftLeftInt:
      return arithmetic_.shift_left(op);
    case kShiftRightInt:
      return arithmetic_.shift_right(op);
    case kNegateInt:
      return arithmetic_.negate_int(op);
    case kAddFloat:
    case kSubtractFloat:
    case kMultiplyFloat:
    case kDivideFloat:
      return arithmetic_.binary_float(op);
    case kAddFloat64:
    case kSubtractFloat64:
    case kMultiplyFloat64:
    case kDivideFloat64:
      return arithmetic_.binary_float64(op);
    case kNegateFloat:
      return arithmetic_.negate_float(op);
    case kFloatOfInt:
      return arithmetic_.float_of_int(op);
    case kCallFloat:
      return arithmetic_.call_float(op);
    case kCallInt:
      return arithmetic_.call_int(op);
    case kLessInt:
    case kLessEqualInt:
    case kEqualInt:
    case kNotEqualInt:
    case kGreaterInt:
    case kGreaterEqualInt:
      return comparisons_.compare_int(op);
    case kLessFloat:
    case kLessEqualFloat:
    case kEqualFloat:
    case kNotEqualFloat:
    case kGreaterFloat:
    case kGreaterEqualFloat:
      return comparisons_.compare_float(op);
    case kGuardLessInt:
    case kGuardLessEqualInt:
    case kGuardEqualInt:
    case kGuardNotEqualInt:
    case kGuardGreaterInt:
    case kGuardGreaterEqualInt:
      return comparisons_.guard_int(op);
    case kGuardLessFloat:
    case kGuardLessEqualFloat:
    case kGuardEqualFloat:
    case kGuardNotEqualFloat:
    case kGuardGreaterFloat:
    case kGuardGreaterEqualFloat:
      return comparisons_.guard_float(op);
    case kTruthInt:
    case kTruthFloat:
    case kNotBool:
      return comparisons_.truth(op);
    case kGuardBool:
      return comparisons_.guard_bool(op);
    case kBox:
      return boxing_.box(op);
    case kUnboxInt:
    case kUnboxFloat:
    case kUnboxBool:
    case kUnboxNumpyInt:
    case kUnboxNumpyFloat:
    case kUnboxNumpyBool:
      return boxing_.unbox(op);
    case kClear:
      return references_.clear(op.left);
    case kClearShown:
      return references_.clear_shown(op);
    case kGiveUpRest:
      return references_.release_rest(op);
    case kMove:
    case kShare:
      return references_.move_or_share(op);
    case kSync:
      return references_.sync(op);
    case kRangeNext:
      return sequences_.range_next(op);
    case kMakeRange:
      return sequences_.make_range(op);
    case kForIter:
      return sequences_.for_iter(op);
    case kItem:
    case kItemInt:
    case kItemFloat:
      return sequences_.item(op);
    case kStoreItem:
      return sequences_.store_item(op);
    case kAppend:
      return sequences_.append(op);
    case kLength:
      return sequences_.length(op);
    case kPair:
      return array_items_.make_pair(op);
    case kArrayItem:
    case kArrayItem2:
      return array_items_.array_item(op);
    case kArrayNext:
      return array_items_.array_next(op);
    case kArrayStore:
    case kArrayStore2:
      return array_items_.array_store(op);
    case kGlobal:
    case kGlobalInt:
    case kGlobalFloat:
      return attributes_.global(op);
    case kAttribute:
      return attributes_.attribute(op);
    case kMethod:
      return attributes_.method(op);
    case kGuardType:
    case kGuardIs:
      return guards_.guard_object(op, emission_.source.steps[op.step].object);
    case kCheckType:
      return guards_.guard_object(op, emission_.source.program.types[static_cast<std::size_t>(op.right)]);
    case kGuardNull:
      return guards_.guard_null(op);
    case kCheckBound:
    case kCheckUnbound:
      return guards_.check_bound(op);
    case kCheckRelocatable:
      return guards_.check_relocatable(op);
    case kStep:
      return emit_step(op);
    case kSyncUnboxed:
    case kUnbind:
    case kRebind:
      return exits_.perform(op);
    case kLeaveIfWatched:
      return polls_.leave_if_watched();
    case kPoll:
    case kCross:
      return polls_.poll(op);
    case kPollAndJump:
      polls_.begin_iteration(op);
      return jump(op);
    case kJump:
#ifdef TAGALONG_CHECKS
      if (op.flag != 0) {
        exits_.perform(op);
      }
#endif
      return jump(op);
  }
}

}  // namespace

std::unique_ptr<const Code> compile(const Source& source) {
  try {
    return Compiler(source).make();
  } catch (const Xbyak::Error&) {
    return nullptr;  // no memory, or a displacement that does not fit an instruction
  }
}

}  // namespace tagalong::replay::native

#else

namespace tagalong::replay::native {

std::unique_ptr<const Code> compile(const Source& /*source*/) { return nullptr; }

}  // namespace tagalong::replay::native

#endif
