#include "replay/regions.h"

#include <opcode.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>

#include "replay/array/functions.h"
#include "replay/executor.h"
#include "rewriter/interp/dicts.h"

namespace tagalong::replay {

namespace {

using Reason = array::RegionReason;

}  // namespace

bool is_region_operation(const Step& step) {
  return is_array_operation(step.op) || step.op == Op::store_subscr || step.op == Op::call;
}

namespace {

// Nobody sees when it happens, as long as it happens as planned.
bool is_silent(const Step& step) {
  switch (step.op) {
    case Op::load_global:
    case Op::load_module_attr:
    case Op::load_module_method:
    case Op::sync_local:
    case Op::leave_frame:
    case Op::drop:
    case Op::guard_function:
    case Op::guard_is:
    case Op::guard_type:
    case Op::build_slice:
    case Op::build_tuple:
    case Op::binary_subscr:
    case Op::load_method:
    case Op::guard_not_null:
    case Op::guard_unwatched:
    case Op::int_binary:
    case Op::float_binary:
      return true;
    default:
      return false;
  }
}

bool may_be_inside(const Step& step) { return !step.expects_raise && (is_region_operation(step) || is_silent(step)); }

bool may_be_inside(const LoopOp& op, const Step& step) {
  switch (op.code) {
    case LoopCode::kStep:
    case LoopCode::kSync:
      return may_be_inside(step);
    case LoopCode::kLeaveIfWatched:  // nothing in a region makes anybody watch
    case LoopCode::kBox:
    case LoopCode::kClear:
    case LoopCode::kClearShown:
    case LoopCode::kSyncRaw:
    case LoopCode::kGuardType:
    case LoopCode::kGuardIs:
      return true;
    case LoopCode::kGuardNull:
      return op.flag != 0;
    case LoopCode::kGlobal:
    case LoopCode::kMethod:
      return is_silent(step) && !step.expects_raise;
    default:
      return result_of(op) != Raw::kNone;
  }
}

constexpr std::uint32_t kMostPatience = 1U << 16U;

// Goes through the steps as the interpreter would, with descriptions in the place of objects.
class RegionPlanner {
 public:
  RegionPlanner(const array::Numpy& np, const RegionSource& source)
      : np_(np), source_(source), builder_(np), region_(std::make_unique<PlannedRegion>()) {}

  std::unique_ptr<PlannedRegion> plan(Reason* reason) {
    const bool is_in_loop = !source_.operations.empty();
    const auto count = is_in_loop ? source_.operations.size() : static_cast<std::size_t>(source_.end - source_.first);
    for (std::size_t number = 0; number < count; ++number) {
      const LoopOp* op = is_in_loop ? &source_.operations[number] : nullptr;
      const Step& step = source_.first[is_in_loop ? op->step : number];
      if (is_in_loop ? !may_be_inside(*op, step) : step.in_loop || !may_be_inside(step)) {
        reason_ = Reason::kOther;
        if ((!is_in_loop || op->code == LoopCode::kStep) && step.op == Op::return_value && operations_ != 0 &&
            operations_ == builder_.operation_count() && is_presentable()) {
          region_->count = static_cast<std::uint32_t>(number);
          region_->returns = true;
          returned_ = source_.used[step.operands];
          accepted_ = state_;
        }
      }
      if (reason_ != Reason::kNone || !(is_in_loop ? take(*op, step) : take(step))) {
        break;
      }
      const bool is_whole = !is_in_loop || op->code == LoopCode::kStep;
      if (is_whole && is_region_operation(step) && is_presentable()) {
        operations_ = builder_.operation_count();
        region_->count = static_cast<std::uint32_t>(number) + 1;
        region_->last_line = step.line;
        accepted_ = state_;
      }
    }
    // Where a name is not looked up yet, more can be fused next time.
    if (reason_ == Reason::kNotLooked || builder_.operation_count() == 0) {
      *reason = reason_;
      return nullptr;
    }
    if (operations_ < 2 && !(operations_ == builder_.operation_count() && builder_.pays_alone())) {
      *reason = reason_ == Reason::kOther ? Reason::kSingle : reason_;
      return nullptr;
    }
    if (operations_ != builder_.operation_count()) {
      // What follows needs an object that a region does not make.
      RegionSource shorter = source_;
      if (is_in_loop) {
        shorter.operations = source_.operations.first(region_->count);
      } else {
        shorter.end = source_.first + region_->count;
      }
      return RegionPlanner(np_, shorter).plan(reason);
    }
    if (!commit()) {
      *reason = Reason::kLimit;
      return nullptr;
    }
    region_->end = reason_;
    return std::move(region_);
  }

 private:
  // A view, a slice, a tuple and a method of a result are no objects in a region, so nothing of the kind may be left
  // when it ends.
  enum class Kind : std::uint8_t { kExternal, kConstant, kLoaded, kNumber, kResult, kView, kSlice, kTuple, kMethod };
  struct Content {
    Kind kind = Kind::kExternal;
    PyObject* object = nullptr;       // this run's; null: a result
    int number = -1;                  // of the builder
    array::KnownFunction function{};  // of a method
    int external = -1;                // of region_->externals
    std::vector<int> parts = {};      // of a slice or tuple: indices of contents_
    int computed = -1;                // of region_->computed
  };
  // After some of the steps.
  struct State {
    std::map<std::int32_t, int> registers;  // what is in them: an index of contents_, -1: nothing any more
    std::vector<std::int32_t> dropped;      // what was in them before the region
    std::map<std::int32_t, RawRegister> raw;
    std::size_t loads = 0, guards = 0, same = 0, returned_frames = 0, locals = 0, numeric_slots = 0, computed = 0;
  };

  bool refuse(Reason reason) {
    reason_ = reason;
    return false;
  }

  int content_of(std::int32_t place) {
    if (source_.registers.may_be_raw(place)) {
      const int number = raw_number(place);
      return number < 0 ? -1 : content_of_number(number);
    }
    const auto [known, is_new] = state_.registers.emplace(place, static_cast<int>(contents_.size()));
    if (is_new) {
      const bool is_constant = place < source_.constants && place != kFunctionRegister;
      contents_.push_back(
          {.kind = is_constant ? Kind::kConstant : Kind::kExternal, .object = source_.registers.objects[place]});
      origins_.push_back(place);
    }
    return known->second;
  }

  // --- numbers

  // The place of a number among those that are computed in front; negative: there is none.
  int compute(const RegionNumber& number) {
    Ref object =
        region_->computed.size() == kMostNumbers ? Ref() : evaluate(number, source_.registers, numbers_.data());
    if (!object) {
      return -1;
    }
    numbers_.push_back(std::move(object));
    region_->computed.push_back(number);
    state_.computed = region_->computed.size();
    return static_cast<int>(region_->computed.size()) - 1;
  }

  int content_of_number(int number) {
    const auto [known, is_new] = number_contents_.emplace(number, static_cast<int>(contents_.size()));
    if (is_new) {
      contents_.push_back(
          {.kind = Kind::kNumber, .object = numbers_[static_cast<std::size_t>(number)].get(), .computed = number});
      origins_.push_back(-1);
    }
    return known->second;
  }

  // What is computed with it.
  int computed_of(std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return -1;
    }
    Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.object == nullptr || content.kind >= Kind::kResult) {
      return -1;
    }
    if (content.computed < 0 && content.kind == Kind::kExternal) {
      content.computed = compute({.kind = RegionNumber::Kind::kRegister, .place = place});
    } else if (content.computed < 0) {
      region_->numbers.push_back(Ref::create(content.object));
      const int computed = compute({.kind = RegionNumber::Kind::kObject, .object = content.object});
      contents_[static_cast<std::size_t>(index)].computed = computed;
      return computed;
    }
    return content.computed;
  }

  bool calculate(const Step& step, const std::int32_t* operands) {
    RegionNumber number{.kind = RegionNumber::Kind::kStep, .step = &step};
    number.left = computed_of(operands[0]);
    number.right = computed_of(operands[1]);
    const int result = number.left < 0 || number.right < 0 ? -1 : compute(number);
    if (result < 0) {
      return refuse(Reason::kOther);
    }
    state_.registers[step.result] = content_of_number(result);
    return true;
  }

  // The number that a register of a loop has beside its object.
  int raw_number(std::int32_t place) {
    const auto known = state_.raw.find(place);
    if (known != state_.raw.end() && known->second.number >= 0) {
      return known->second.number;
    }
    const int number = source_.registers.objects[place] != nullptr || source_.registers.may_be_raw(place)
                           ? compute({.kind = RegionNumber::Kind::kRegister, .place = place})
                           : -1;
    RawRegister& raw = state_.raw[place];
    raw.place = place;
    raw.number = number;
    return number;
  }

  bool calculate(const LoopOp& op) {
    const Raw raw = result_of(op);
    const bool is_unboxing = op.code == LoopCode::kUnboxInt || op.code == LoopCode::kUnboxFloat;
    RegionNumber number{.kind = RegionNumber::Kind::kOperation, .code = op.code, .raw = raw};
    if (is_unboxing) {
      number.left = computed_of(op.left);
    } else {
      number.left = raw_number(op.left);
      number.right = op.right < 0 ? -1 : raw_number(op.right);
    }
    const int result = number.left < 0 || (op.right >= 0 && number.right < 0) ? -1 : compute(number);
    if (result < 0) {
      return refuse(Reason::kOther);
    }
    const std::int32_t place = is_unboxing ? op.left : op.result;
    RawRegister& changed = state_.raw[place];
    changed.place = place;
    changed.number = result;
    changed.raw = raw;
    changed.is_changed = true;
    return true;
  }

  bool box(std::int32_t place) {
    if (raw_number(place) < 0) {
      return refuse(Reason::kOther);
    }
    state_.raw[place].boxes = true;
    return true;
  }

  void clear(std::int32_t place) {
    if (!source_.registers.may_be_raw(place)) {
      drop(place);
      return;
    }
    RawRegister& raw = state_.raw[place];
    raw.place = place;
    raw.clears = true;
    raw.boxes = false;
  }

  bool sync_raw(const Step& step) {
    const auto is_same = [&](const auto& local) {
      return local.first->immediate == step.immediate &&
             PyObject_RichCompareBool(local.first->object, step.object, Py_EQ) == 1;
    };
    if (std::ranges::any_of(locals_, is_same)) {
      return refuse(Reason::kOther);
    }
    region_->numeric_slots.emplace_back(static_cast<std::int32_t>(PyLong_AsLong(step.object)), step.immediate);
    state_.numeric_slots = region_->numeric_slots.size();
    return true;
  }

  bool is_presentable() const {
    return std::ranges::none_of(state_.registers, [&](const auto& known) {
      return known.second >= 0 && contents_[static_cast<std::size_t>(known.second)].kind >= Kind::kView;
    });
  }

  // The number among the externals, of which there are not too many yet.
  int external_of(Content* content, std::int32_t place) {
    if (content->external < 0) {
      content->external = static_cast<int>(region_->externals.size());
      region_->externals.push_back({.place = content->kind == Kind::kExternal ? place : -1,
                                    .object = content->kind == Kind::kNumber ? nullptr : content->object,
                                    .number = content->kind == Kind::kNumber ? content->computed : -1});
      external_objects_.push_back(content->object);
    }
    return content->external;
  }

  // What C calls a method without one by.
  bool is_null(std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return false;
    }
    const Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.kind == Kind::kExternal && content.object == nullptr) {
      region_->same.emplace_back(place, nullptr);
      state_.same = region_->same.size();
    }
    return content.kind < Kind::kResult && content.object == nullptr;
  }

  // The builder's number of an operand; negative: it is nothing for a region.
  int number_of(std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return -1;
    }
    Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.number < 0 && content.object != nullptr) {
      const bool may_change = content.kind == Kind::kExternal || content.kind == Kind::kNumber;
      content.number = may_change ? -1 : builder_.constant(content.object);
      if (content.number >= 0 && content.kind == Kind::kLoaded) {
        region_->numbers.push_back(Ref::create(content.object));
      }
      if (content.number < 0 && content.kind != Kind::kConstant) {
        if (region_->externals.size() == kMostExternals) {
          return -1;
        }
        content.number = builder_.external(content.object, static_cast<unsigned>(external_of(&content, place)));
      }
    }
    return content.number;
  }

  bool take(const LoopOp& op, const Step& step) {
    switch (op.code) {
      case LoopCode::kStep:
      case LoopCode::kSync:
      case LoopCode::kGlobal:
      case LoopCode::kMethod:
        return take(step);
      case LoopCode::kLeaveIfWatched:
        return true;
      case LoopCode::kGuardType:
      case LoopCode::kGuardIs:
      case LoopCode::kGuardNull:
        return guard(step, op.left);
      case LoopCode::kBox:
        return box(op.left);
      case LoopCode::kClear:
      case LoopCode::kClearShown:
        clear(op.left);
        return true;
      case LoopCode::kSyncRaw:
        return sync_raw(step);
      default:
        return calculate(op);
    }
  }

  bool take(const Step& step) {
    const std::int32_t* operands = source_.used + step.operands;
    bool is_taken = false;
    switch (step.op) {
      case Op::load_global:
        is_taken = load_global(step, operands[0]);
        break;
      case Op::load_module_attr:
      case Op::load_module_method:
        is_taken = load_attribute(step, operands[0]);
        break;
      case Op::build_slice:
      case Op::build_tuple:
        is_taken = true;
        build(step, operands);
        break;
      case Op::binary_subscr:
        is_taken = take_part(step, operands);
        break;
      case Op::store_subscr:
        is_taken = assign(operands);
        break;
      case Op::load_method:
        is_taken = load_method(step, operands);
        break;
      case Op::call:
        is_taken = call(step, operands);
        break;
      case Op::sync_local:
        is_taken = true;
        locals_.emplace_back(&step, content_of(operands[0]));
        state_.locals = locals_.size();
        break;
      case Op::drop:
      case Op::guard_unwatched:
        is_taken = true;
        break;
      case Op::guard_function:
      case Op::guard_is:
      case Op::guard_type:
      case Op::guard_not_null:
        is_taken = guard(step, operands[0]);
        break;
      case Op::leave_frame:
        is_taken = true;
        region_->returned_frames.push_back(step.immediate);
        state_.returned_frames = region_->returned_frames.size();
        break;
      case Op::int_binary:
      case Op::float_binary:
        is_taken = calculate(step, operands);
        break;
      default:
        is_taken = operate(step, operands);
        break;
    }
    const std::int32_t* drops = operands + step.operand_count + step.result_count;
    for (std::uint16_t index = 0; is_taken && index < step.drop_count; ++index) {
      drop(drops[index]);
    }
    return is_taken;
  }

  void drop(std::int32_t place) {
    const int content = content_of(place);
    if (content >= 0 && origins_[static_cast<std::size_t>(content)] == place) {
      state_.dropped.push_back(place);
    }
    state_.registers[place] = -1;
  }

  void define(std::int32_t place, const Content& content) {
    state_.registers[place] = static_cast<int>(contents_.size());
    contents_.push_back(content);
    origins_.push_back(-1);
  }

  void build(const Step& step, const std::int32_t* operands) {
    Content content{.kind = step.op == Op::build_slice ? Kind::kSlice : Kind::kTuple};
    for (int index = 0; index < step.operand_count; ++index) {
      content.parts.push_back(content_of(operands[index]));
    }
    define(step.result, content);
  }

  // An integer, or None, of an index; false: something else.
  bool read_number(int index, array::ViewSpec::Number* number) {
    Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
    if (content == nullptr || content->object == nullptr) {
      return false;
    }
    if (content->object == Py_None && content->kind == Kind::kConstant) {
      return true;
    }
    number->is_none = false;
    if (!PyLong_CheckExact(content->object) || region_->externals.size() == kMostExternals) {
      return false;
    }
    if (content->kind == Kind::kExternal || content->kind == Kind::kNumber) {
      number->external = static_cast<std::int16_t>(external_of(content, origins_[static_cast<std::size_t>(index)]));
      return true;
    }
    int overflow = 0;
    number->value = PyLong_AsLongLongAndOverflow(content->object, &overflow);
    region_->numbers.push_back(Ref::create(content->object));
    return overflow == 0;
  }

  bool read_axis(int index, array::ViewSpec::Axis* axis) {
    const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
    if (content != nullptr && content->object == Py_None &&
        (content->kind == Kind::kConstant || content->kind == Kind::kLoaded)) {
      axis->is_new = true;
      return true;
    }
    if (content == nullptr || content->kind != Kind::kSlice) {
      return read_number(index, &axis->start) && !axis->start.is_none;
    }
    axis->is_slice = true;
    const std::vector<int> parts = content->parts;
    return read_number(parts[0], &axis->start) && read_number(parts[1], &axis->stop) &&
           (parts.size() < 3 || read_number(parts[2], &axis->step));
  }

  // The builder's number of a part of an array that is not the region's own; negative: it is none.
  int part_of(std::int32_t container, std::int32_t key) {
    const int array = content_of(container);
    const int index = content_of(key);
    if (array < 0 || index < 0 || number_of(container) < 0) {
      return -1;
    }
    const Content& content = contents_[static_cast<std::size_t>(array)];
    if (content.external < 0 || Py_TYPE(content.object) != np_.array_type || builder_.is_written(content.number)) {
      return -1;
    }
    array::ViewSpec spec{.external = static_cast<std::uint16_t>(content.external)};
    const Content& subscript = contents_[static_cast<std::size_t>(index)];
    const std::vector<int> parts = subscript.kind == Kind::kTuple ? subscript.parts : std::vector<int>{index};
    for (const int part : parts) {
      spec.axes.emplace_back();
      if (!read_axis(part, &spec.axes.back())) {
        return -1;
      }
    }
    return builder_.view(std::move(spec), external_objects_.data());
  }

  bool take_part(const Step& step, const std::int32_t* operands) {
    const int number = part_of(operands[0], operands[1]);
    if (number < 0) {
      return refuse(Reason::kOther);
    }
    define(step.result, {.kind = Kind::kView, .number = number});
    return true;
  }

  // A method of an array that the region has made: what its class says.
  bool load_method(const Step& step, const std::int32_t* operands) {
    const int index = content_of(operands[0]);
    // One that is there already gets its number by the register that it comes in.
    const bool is_given = index >= 0 && contents_[static_cast<std::size_t>(index)].kind == Kind::kExternal &&
                          contents_[static_cast<std::size_t>(index)].object != nullptr &&
                          Py_TYPE(contents_[static_cast<std::size_t>(index)].object) == np_.array_type &&
                          number_of(operands[0]) >= 0;
    if (index < 0 || (contents_[static_cast<std::size_t>(index)].kind != Kind::kResult && !is_given) ||
        builder_.is_scalar(contents_[static_cast<std::size_t>(index)].number) ||
        builder_.is_column(contents_[static_cast<std::size_t>(index)].number)) {
      return refuse(Reason::kOther);
    }
    const array::KnownFunction function = array::known_method(step.object);
    if (function.kind == array::KnownFunction::Kind::kNone) {
      return refuse(Reason::kOther);
    }
    const std::int32_t* results = operands + step.operand_count;
    define(results[0], {.kind = Kind::kMethod, .function = function});
    state_.registers[results[1]] = index;
    return true;
  }

  // Of an array that is there already, by a method that was looked up in front of the region.
  bool is_array_method(const std::int32_t* operands) {
    const int array = content_of(operands[1]);
    const Content& method = contents_[static_cast<std::size_t>(content_of(operands[0]))];
    return array >= 0 && method.kind == Kind::kExternal &&
           array::known_descriptor(np_, method.object).kind == array::KnownFunction::Kind::kReduction &&
           contents_[static_cast<std::size_t>(array)].kind == Kind::kExternal &&
           contents_[static_cast<std::size_t>(array)].object != nullptr &&
           Py_TYPE(contents_[static_cast<std::size_t>(array)].object) == np_.array_type;
  }

  // numpy.sum(x), x.sum() and the like, and ufuncs with `out`.
  bool call(const Step& step, const std::int32_t* operands) {
    const int first = content_of(operands[0]);
    bool is_method = first >= 0 && contents_[static_cast<std::size_t>(first)].kind == Kind::kMethod;
    array::KnownFunction function;
    PyObject* callable = nullptr;
    if (is_method) {
      function = contents_[static_cast<std::size_t>(first)].function;
    } else if (first >= 0 && is_array_method(operands)) {
      is_method = true;
      function = array::known_descriptor(np_, same_callable(operands[0]));
    } else {
      callable = is_null(operands[0]) ? same_callable(operands[1]) : nullptr;
      function = array::known_function(callable);
    }
    const bool is_ufunc = callable != nullptr && Py_TYPE(callable) == np_.ufunc_type && has_out(step.object);
    const bool is_reduction = function.kind == array::KnownFunction::Kind::kReduction;
    const bool is_known = function.kind != array::KnownFunction::Kind::kNone && step.object == Py_None;
    if (!is_ufunc && !is_known && !is_reduction) {
      return refuse(Reason::kOther);
    }
    const int begin = is_method ? 1 : 2;
    if (function.kind == array::KnownFunction::Kind::kAstype) {
      return is_method && step.object == Py_None && step.operand_count == 3 ? cast(step, operands)
                                                                            : refuse(Reason::kOther);
    }
    if (is_reduction) {
      return reduce(step, function.reduction, {operands + begin, operands + step.operand_count});
    }
    std::vector<int> numbers;
    for (int index = begin; index < step.operand_count; ++index) {
      numbers.push_back(number_of(operands[index]));
      if (numbers.back() < 0) {
        return refuse(Reason::kForeign);
      }
    }
    const int result = is_ufunc ? call_into(callable, step.object, numbers) : call_known(function, numbers);
    if (result < 0) {
      return refuse(builder_.reason());
    }
    define(step.result, {.kind = Kind::kResult, .number = result});
    return true;
  }

  // array.astype(dtype), where that is one of NumPy's own or a type that stands for it.
  bool cast(const Step& step, const std::int32_t* operands) {
    const int number = number_of(operands[1]);
    const int index = content_of(operands[2]);
    const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
    PyObject* object = content == nullptr || content->kind >= Kind::kNumber ? nullptr : content->object;
    PyObject* descr = object == nullptr ? nullptr : descr_of(object);
    if (number < 0 || descr == nullptr) {
      return refuse(Reason::kOther);
    }
    if (content->kind == Kind::kExternal) {
      region_->same.emplace_back(origins_[static_cast<std::size_t>(index)], object);
      state_.same = region_->same.size();
    }
    const int result = builder_.astype(number, descr);
    if (result < 0) {
      return refuse(builder_.reason());
    }
    define(step.result, {.kind = Kind::kResult, .number = result});
    return true;
  }

  // Of objects that live as long as the process.
  PyObject* descr_of(PyObject* object) const {
    const auto of = [&](unsigned type) { return np_.descr.at(type); };
    if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
      return of(array::kDouble);
    }
    if (object == reinterpret_cast<PyObject*>(&PyLong_Type) && np_.major >= 2) {
      return of(array::kLong);
    }
    if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
      return of(array::kBool);
    }
    for (unsigned type = 0; type < array::kTypeNumbers; ++type) {
      if (of(type) == object || (reinterpret_cast<PyObject*>(np_.scalar_type.at(type)) == object)) {
        return of(type);
      }
    }
    return nullptr;
  }

  // The operand, an axis and whether dimensions are kept, by their places or names.
  bool reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands) {
    const std::size_t named = PyTuple_Check(step.object) ? static_cast<std::size_t>(PyTuple_GET_SIZE(step.object)) : 0;
    const std::size_t placed = operands.size() - std::min(named, operands.size());
    if (placed == 0 || placed > 2) {
      return refuse(Reason::kOther);
    }
    const int number = number_of(operands[0]);
    std::vector<int> axes;
    bool is_along_axes = false;
    bool keeps_dims = false;
    bool is_tuple = placed > 1 && is_a_tuple(operands[1]);
    bool is_known = number >= 0 && (placed == 1 || read_axes(operands[1], &axes, &is_along_axes));
    for (std::size_t index = 0; index < named && is_known; ++index) {
      PyObject* name = PyTuple_GET_ITEM(step.object, static_cast<Py_ssize_t>(index));
      const std::int32_t place = operands[placed + index];
      if (PyUnicode_CompareWithASCIIString(name, "axis") == 0) {
        is_tuple = is_a_tuple(place);
        is_known = read_axes(place, &axes, &is_along_axes);
      } else if (PyUnicode_CompareWithASCIIString(name, "keepdims") == 0) {
        PyObject* value = same_object(place);
        is_known = value == Py_True || value == Py_False;
        keeps_dims = value == Py_True;
      } else {
        is_known = false;
      }
    }
    const bool is_place = reduction == array::Reduction::kArgMax || reduction == array::Reduction::kArgMin;
    if (!is_known || (is_place && is_tuple)) {
      return refuse(Reason::kOther);
    }
    const int result = is_along_axes ? builder_.reduce(reduction, number, axes, keeps_dims)
                       : keeps_dims  ? builder_.refused(Reason::kOther)
                                     : builder_.reduce(reduction, number);
    if (result < 0) {
      return refuse(builder_.reason());
    }
    define(step.result, {.kind = Kind::kResult, .number = result});
    return true;
  }

  bool is_a_tuple(std::int32_t place) {
    const int index = content_of(place);
    const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
    return content == nullptr || content->kind == Kind::kTuple ||
           (content->object != nullptr && PyTuple_Check(content->object));
  }

  // An int, a tuple of them, or None.
  bool read_axes(std::int32_t place, std::vector<int>* axes, bool* is_along_axes) {
    const auto read = [&](PyObject* object) {
      int overflow = 0;
      const long axis =
          object != nullptr && PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : -INT_MAX;
      axes->push_back(static_cast<int>(axis));
      return overflow == 0 && std::abs(axis) <= array::kMaxRegionDims;
    };
    const int index = content_of(place);
    if (index >= 0 && contents_[static_cast<std::size_t>(index)].kind == Kind::kTuple) {
      const std::vector<int> parts = contents_[static_cast<std::size_t>(index)].parts;
      *is_along_axes = true;
      return !parts.empty() &&
             std::ranges::all_of(parts, [&](int part) { return part >= 0 && read(same_content(part)); });
    }
    PyObject* object = same_object(place);
    *is_along_axes = object != Py_None;
    if (object == nullptr || object == Py_None) {
      return object == Py_None;
    }
    if (!PyTuple_CheckExact(object)) {
      return read(object);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      if (!read(PyTuple_GET_ITEM(object, i))) {
        return false;
      }
    }
    return PyTuple_GET_SIZE(object) > 0;
  }

  // `out`, and perhaps `where`.
  static bool has_out(PyObject* keywords) {
    const Py_ssize_t count = PyTuple_Check(keywords) ? PyTuple_GET_SIZE(keywords) : 0;
    return (count == 1 && is_named(keywords, 0, "out")) ||
           (count == 2 && ((is_named(keywords, 0, "out") && is_named(keywords, 1, "where")) ||
                           (is_named(keywords, 0, "where") && is_named(keywords, 1, "out"))));
  }
  static bool is_named(PyObject* keywords, Py_ssize_t index, const char* name) {
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, index), name) == 0;
  }

  int call_into(PyObject* ufunc, PyObject* keywords, std::vector<int> numbers) {
    int out = numbers.back();
    int where = -1;
    numbers.pop_back();
    if (PyTuple_GET_SIZE(keywords) == 2) {
      where = numbers.back();
      numbers.pop_back();
      if (is_named(keywords, 0, "out")) {
        std::swap(out, where);
      }
    }
    return builder_.call(ufunc, numbers, out, where);
  }

  int call_known(const array::KnownFunction& function, const std::vector<int>& numbers) {
    using Kind = array::KnownFunction::Kind;
    constexpr std::size_t kThree = 3;
    if (function.kind == Kind::kWhere && numbers.size() == kThree) {
      return builder_.where(numbers[0], numbers[1], numbers[2]);
    }
    return function.kind == Kind::kClip && numbers.size() == kThree ? builder_.clip(numbers[0], numbers[1], numbers[2])
                                                                    : builder_.refused(Reason::kOther);
  }

  // What is called, if runs can rely on its being the same.
  PyObject* same_callable(std::int32_t place) {
    const int index = content_of(place);
    const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
    if (content != nullptr && content->kind == Kind::kExternal) {
      region_->same.emplace_back(place, content->object);
      state_.same = region_->same.size();
    }
    return content == nullptr ? nullptr : content->object;
  }

  static bool is_plain_value(PyObject* object) {
    if (!PyTuple_CheckExact(object)) {
      return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      if (!PyLong_CheckExact(PyTuple_GET_ITEM(object, i))) {
        return false;
      }
    }
    return true;
  }

  // A value that is a part of the plan, and kept alive by it; null: it may be another one in each run.
  PyObject* same_object(std::int32_t place) {
    const int index = content_of(place);
    return index < 0 ? nullptr : same_content(index);
  }
  PyObject* same_content(int index) {
    const Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.object == nullptr || content.kind >= Kind::kNumber || !is_plain_value(content.object)) {
      return nullptr;
    }
    if (content.kind == Kind::kExternal) {
      region_->same.emplace_back(origins_[static_cast<std::size_t>(index)], content.object);
      state_.same = region_->same.size();
    }
    region_->numbers.push_back(Ref::create(content.object));
    return content.object;
  }

  bool assign(const std::int32_t* operands) {
    const int value = number_of(operands[2]);
    const int number = value < 0 ? -1 : part_of(operands[0], operands[1]);
    if (number < 0) {
      return refuse(Reason::kOther);
    }
    return builder_.assign(number, value) >= 0 || refuse(builder_.reason());
  }

  bool load_global(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0 || origins_[static_cast<std::size_t>(index)] != place) {
      return refuse(Reason::kName);
    }
    return add_load({&step, place, nullptr, nullptr, step.cached});
  }

  bool load_attribute(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return refuse(Reason::kName);
    }
    const Content& module = contents_[static_cast<std::size_t>(index)];
    if (module.kind != Kind::kLoaded || module.object == nullptr || !PyModule_CheckExact(module.object) ||
        (step.cached != nullptr && PyModule_GetDict(module.object) != step.key)) {
      return refuse(Reason::kName);
    }
    return add_load({&step, -1, module.object, step.key, step.cached});
  }

  // Asked before anything is computed.
  bool guard(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return refuse(Reason::kGuard);
    }
    const Content& content = contents_[static_cast<std::size_t>(index)];
    if (step.op == Op::guard_not_null) {
      return content.object != nullptr || content.kind >= Kind::kResult || refuse(Reason::kGuard);
    }
    if (content.kind == Kind::kResult && step.op == Op::guard_type && !builder_.is_scalar(content.number) &&
        step.object == reinterpret_cast<PyObject*>(np_.array_type)) {
      return true;
    }
    if (content.object == nullptr) {
      return refuse(Reason::kGuard);
    }
    if (content.kind == Kind::kNumber) {
      region_->guards.push_back({&step, -1, nullptr, content.computed});
      state_.guards = region_->guards.size();
      return true;
    }
    const bool is_loaded = content.kind == Kind::kLoaded;
    region_->guards.push_back({&step, is_loaded ? -1 : place, is_loaded ? content.object : nullptr});
    state_.guards = region_->guards.size();
    return true;
  }

  bool add_load(const PlannedRegion::Load& load) {
    if (load.value == nullptr || !load_holds(load, source_.registers.objects)) {
      return refuse(Reason::kNotLooked);
    }
    region_->loads.push_back(load);
    state_.loads = region_->loads.size();
    if (load.step->op == Op::load_module_method) {
      const std::int32_t* results = source_.used + load.step->operands + load.step->operand_count;
      define(results[0], {.kind = Kind::kLoaded});
      define(results[1], {.kind = Kind::kLoaded, .object = load.value});
    } else {
      define(load.step->result, {.kind = Kind::kLoaded, .object = load.value});
    }
    return true;
  }

  bool operate(const Step& step, const std::int32_t* operands) {
    constexpr int kCallableSlots = 2;  // null and the ufunc
    int result = -1;
    std::vector<int> numbers;
    const int first = step.op == Op::array_call ? kCallableSlots : 0;
    for (int index = first; index < step.operand_count; ++index) {
      numbers.push_back(number_of(operands[index]));
      if (numbers.back() < 0) {
        return refuse(region_->externals.size() == kMostExternals ? Reason::kLimit : Reason::kForeign);
      }
    }
    switch (step.op) {
      case Op::array_unary:
        result = builder_.unary(unary_operator(step.immediate), numbers[0], step.temporaries);
        break;
      case Op::array_binary:
        result = builder_.binary(static_cast<array::BinaryOperator>(step.immediate), numbers[0], numbers[1],
                                 step.temporaries);
        break;
      case Op::array_compare:
        result = builder_.compare(step.immediate, numbers[0], numbers[1]);
        break;
      default: {
        PyObject* callable = is_null(operands[0]) ? same_callable(operands[1]) : nullptr;
        if (callable == nullptr) {
          return refuse(Reason::kOther);
        }
        result = builder_.call(callable, numbers);
        break;
      }
    }
    if (result < 0) {
      return refuse(builder_.reason());
    }
    define(step.result, {.kind = Kind::kResult, .number = result});
    return true;
  }

  // From the state after the last operation to what has to be done then.
  bool commit() {
    region_->loads.resize(accepted_.loads);
    region_->guards.resize(accepted_.guards);
    region_->same.resize(accepted_.same);
    region_->returned_frames.resize(accepted_.returned_frames);
    locals_.resize(accepted_.locals);
    region_->numeric_slots.resize(accepted_.numeric_slots);
    region_->computed.resize(accepted_.computed);
    for (const auto& [place, raw] : accepted_.raw) {
      if (raw.is_changed || raw.clears || raw.boxes) {
        region_->raw.push_back(raw);
      }
    }
    region_->dropped = accepted_.dropped;
    for (const PlannedRegion::Load& load : region_->loads) {
      if (std::ranges::find(region_->named, load.value) == region_->named.end()) {
        region_->named.push_back(load.value);
      }
    }
    if (region_->named.size() > kMostNamed) {
      return false;
    }
    std::vector<int> outputs;
    for (const auto& [place, index] : accepted_.registers) {
      if (index < 0 || origins_[static_cast<std::size_t>(index)] == place) {
        continue;
      }
      const Content& content = contents_[static_cast<std::size_t>(index)];
      if (region_->returns && content.kind == Kind::kResult && !is_returned(index)) {
        continue;
      }
      if (content.kind == Kind::kNumber) {
        region_->numeric.emplace_back(place, content.computed);
        continue;
      }
      if (content.kind != Kind::kResult) {
        region_->loaded.emplace_back(place, content.object);
        continue;
      }
      auto output = std::ranges::find(outputs, content.number);
      if (output == outputs.end()) {
        output = outputs.insert(outputs.end(), content.number);
      }
      region_->results.emplace_back(place, static_cast<unsigned>(output - outputs.begin()));
    }
    for (auto local = locals_.begin(); local != locals_.end(); ++local) {
      const auto is_same = [&](const auto& later) {
        return later.first->immediate == local->first->immediate &&
               PyObject_RichCompareBool(later.first->object, local->first->object, Py_EQ) == 1;
      };
      if (std::none_of(local + 1, locals_.end(), is_same)) {
        region_->locals.push_back({.frame = static_cast<std::int32_t>(PyLong_AsLong(local->first->object)),
                                   .slot = local->first->immediate,
                                   .source = register_with(local->second)});
      }
    }
    region_->plan = builder_.finish(outputs);
    return region_->plan != nullptr;
  }

  // What the returning frame's variables hold dies with it, unseen.
  bool is_returned(int content) const {
    const auto returned = accepted_.registers.find(returned_);
    return returned != accepted_.registers.end() && returned->second == content;
  }

  std::int32_t register_with(int content) const {
    for (const auto& [place, index] : accepted_.registers) {
      if (index == content) {
        return place;
      }
    }
    return -1;
  }

 public:
  static bool load_holds(const PlannedRegion::Load& load, PyObject* const* registers) {
    const Step& step = *load.step;
    if (load.function < 0) {
      // An earlier load has found the module; another one may have got the address of that of the plan.
      return load.module != nullptr && PyModule_CheckExact(load.module) && PyModule_GetDict(load.module) == load.dict &&
             is_bound(step, load.dict, load.value);
    }
    const auto* function = reinterpret_cast<PyFunctionObject*>(registers[load.function]);
    return (step.version2 == 0 || step.version2 == interp::dict_version(function->func_builtins)) &&
           is_bound(step, function->func_globals, load.value);
  }

  // Something else may have changed in the dict.
  static bool is_bound(const Step& step, PyObject* dict, PyObject* value) {
    if (dict == nullptr || step.key != dict || step.cached != value) {
      return false;
    }
    if (step.version1 == interp::dict_version(dict)) {
      return true;
    }
    if (step.version2 != 0 || !PyDict_CheckExact(dict) || PyDict_GetItemWithError(dict, step.object) != value) {
      PyErr_Clear();
      return false;
    }
    step.version1 = interp::dict_version(dict);
    return true;
  }

 private:
  static constexpr std::int32_t kFunctionRegister = 1;
  const array::Numpy& np_;
  const RegionSource& source_;
  array::RegionBuilder builder_;
  std::unique_ptr<PlannedRegion> region_;
  std::vector<Content> contents_;
  std::vector<std::int32_t> origins_;  // of each content: its register before the region, or -1
  std::vector<std::pair<const Step*, int>> locals_;
  std::vector<PyObject*> external_objects_;  // of region_->externals, in this run
  std::vector<Ref> numbers_;                 // region_->computed, in this run
  std::map<int, int> number_contents_;       // of contents_, by their places there
  State state_, accepted_;
  Reason reason_ = Reason::kNone;
  std::size_t operations_ = 0;  // of the builder, in the accepted state
  std::int32_t returned_ = -1;  // register, where that is followed by the end of the trace
};

}  // namespace

array::UnaryOperator unary_operator(int opcode) {
  switch (opcode) {
    case UNARY_NEGATIVE:
      return array::UnaryOperator::kNegative;
    case UNARY_POSITIVE:
      return array::UnaryOperator::kPositive;
    default:
      return array::UnaryOperator::kInvert;
  }
}

namespace {

// Whether a call may be one of NumPy's reductions, which is a region on its own.
bool may_reduce(const std::vector<Step>& steps, const Step& call, const std::int32_t* used) {
  if (call.op != Op::call || call.operand_count < 2) {
    return false;
  }
  const std::int32_t* operands = used + call.operands;
  for (const Step* step = &call; step != steps.data();) {
    --step;
    const std::int32_t* results = used + step->operands + step->operand_count;
    const bool is_function = step->op == Op::load_module_attr && step->result == operands[1];
    const bool is_method =
        step->result_count > 1 && ((step->op == Op::load_method && results[0] == operands[0]) ||
                                   (step->op == Op::load_module_method && results[1] == operands[1]));
    if (is_function || is_method) {
      return array::may_be_reduction(step->object);
    }
  }
  return false;
}

}  // namespace

void mark_regions(std::vector<Step>* steps, const LoopProgram& loop, const std::int32_t* used) {
  unsigned more = 0;        // operations that follow
  Step* leading = nullptr;  // a part of an array that they begin with
  const auto mark = [&](Step& step, bool is_inside, bool is_whole) {
    const bool is_part = is_inside && is_whole && (step.op == Op::build_slice || step.op == Op::binary_subscr);
    if (is_part) {
      if (leading != nullptr) {
        leading->begins_region = false;
      }
      leading = &step;
      step.begins_region = more > 1;
    } else if (!is_inside || (is_whole && is_region_operation(step))) {
      leading = nullptr;
    }
    if (!is_inside) {
      more = 0;
    } else if (is_whole && is_array_operation(step.op)) {
      step.begins_region = more > 0;
      ++more;
    } else if (is_whole && is_region_operation(step)) {
      step.begins_region = may_reduce(*steps, step, used);
      ++more;
    }
  };
  for (std::size_t place = steps->size(); place-- > 0;) {
    Step& step = (*steps)[place];
    mark(step, !step.in_loop && may_be_inside(step), true);
  }
  more = 0;
  leading = nullptr;
  for (std::size_t place = loop.ops.size(); place-- > 0;) {
    const LoopOp& op = loop.ops[place];
    Step& step = (*steps)[op.step];
    mark(step, may_be_inside(op, step), op.code == LoopCode::kStep);
  }
}

void RegionSite::put_off(array::RegionReason reason) {
  reasons.add(reason);
  array::region_counts.reasons.add(reason);
  delay();
}

void RegionSite::delay() {
  wait = patience;
  patience = std::min(patience * 2, kMostPatience);
}

std::unique_ptr<PlannedRegion> plan_region(const array::Numpy& np, const RegionSource& source,
                                           array::RegionReason* reason) {
  return RegionPlanner(np, source).plan(reason);
}

bool loads_hold(const PlannedRegion& region, PyObject* const* registers) {
  return std::ranges::all_of(
      region.loads, [&](const PlannedRegion::Load& load) { return RegionPlanner::load_holds(load, registers); });
}

}  // namespace tagalong::replay
