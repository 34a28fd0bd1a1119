#include "replay/regions.h"

#include <opcode.h>

#include <algorithm>
#include <map>

#include "replay/executor.h"
#include "rewriter/interp/dicts.h"

namespace tagalong::replay {

namespace {

bool is_array_operation(const Step& step) {
  return step.op == Op::array_unary || step.op == Op::array_binary || step.op == Op::array_compare ||
         step.op == Op::array_call;
}

// Nobody sees when it happens, as long as it happens as planned.
bool is_silent(const Step& step) {
  switch (step.op) {
    case Op::load_global:
    case Op::load_module_attr:
    case Op::sync_local:
    case Op::leave_frame:
    case Op::drop:
    case Op::guard_function:
    case Op::guard_is:
    case Op::guard_type:
      return true;
    default:
      return false;
  }
}

bool may_be_inside(const Step& step) {
  return !step.in_loop && !step.expects_raise && (is_array_operation(step) || is_silent(step));
}

constexpr std::uint32_t kMostPatience = 1U << 16U;

// Goes through the steps as the interpreter would, with descriptions in the place of objects.
class RegionPlanner {
 public:
  RegionPlanner(const array::Numpy& np, const RegionSource& source)
      : source_(source), builder_(np), region_(std::make_unique<PlannedRegion>()) {}

  std::unique_ptr<PlannedRegion> plan() {
    for (const Step* step = source_.first; step != source_.end && may_be_inside(*step) && take(*step); ++step) {
      if (is_array_operation(*step)) {
        region_->count = static_cast<std::uint32_t>(step - source_.first) + 1;
        accepted_ = state_;
      }
    }
    if (is_premature_ || builder_.operation_count() < 2 || !commit()) {
      return nullptr;
    }
    return std::move(region_);
  }

 private:
  enum class Kind : std::uint8_t { kExternal, kConstant, kLoaded, kResult };
  struct Content {
    Kind kind = Kind::kExternal;
    PyObject* object = nullptr;  // this run's; null: a result
    int number = -1;             // of the builder
  };
  // After some of the steps.
  struct State {
    std::map<std::int32_t, int> registers;  // what is in them: an index of contents_, -1: nothing any more
    std::vector<std::int32_t> dropped;      // what was in them before the region
    std::size_t loads = 0, guards = 0, same = 0, returned_frames = 0, locals = 0;
  };

  int content_of(std::int32_t place) {
    const auto [known, is_new] = state_.registers.emplace(place, static_cast<int>(contents_.size()));
    if (is_new) {
      const bool is_constant = place < source_.constants && place != kFunctionRegister;
      contents_.push_back({is_constant ? Kind::kConstant : Kind::kExternal, source_.registers[place], -1});
      origins_.push_back(place);
    }
    return known->second;
  }

  // The builder's number of an operand; negative: it is nothing for a region.
  int number_of(std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return -1;
    }
    Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.number < 0 && content.object != nullptr) {
      content.number = content.kind == Kind::kExternal ? -1 : builder_.constant(content.object);
      if (content.number < 0 && content.kind != Kind::kConstant) {
        content.number = builder_.external(content.object, static_cast<unsigned>(region_->externals.size()));
        region_->externals.push_back({.place = content.kind == Kind::kExternal ? place : -1, .object = content.object});
      }
    }
    return content.number;
  }

  bool take(const Step& step) {
    const std::int32_t* operands = source_.used + step.operands;
    bool is_taken = false;
    switch (step.op) {
      case Op::load_global:
        is_taken = load_global(step, operands[0]);
        break;
      case Op::load_module_attr:
        is_taken = load_attribute(step, operands[0]);
        break;
      case Op::sync_local:
        is_taken = true;
        locals_.emplace_back(&step, content_of(operands[0]));
        state_.locals = locals_.size();
        break;
      case Op::drop:
        is_taken = true;
        break;
      case Op::guard_function:
      case Op::guard_is:
      case Op::guard_type:
        is_taken = guard(step, operands[0]);
        break;
      case Op::leave_frame:
        is_taken = true;
        region_->returned_frames.push_back(step.immediate);
        state_.returned_frames = region_->returned_frames.size();
        break;
      default:
        is_taken = operate(step, operands);
        break;
    }
    const std::int32_t* drops = operands + step.operand_count + step.result_count;
    for (std::uint16_t index = 0; is_taken && index < step.drop_count; ++index) {
      const int content = content_of(drops[index]);
      if (content >= 0 && origins_[static_cast<std::size_t>(content)] == drops[index]) {
        state_.dropped.push_back(drops[index]);
      }
      state_.registers[drops[index]] = -1;
    }
    return is_taken;
  }

  void define(const Step& step, Content content) {
    state_.registers[step.result] = static_cast<int>(contents_.size());
    contents_.push_back(content);
    origins_.push_back(-1);
  }

  bool load_global(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0 || origins_[static_cast<std::size_t>(index)] != place || !is_looked_up(step)) {
      return false;
    }
    return add_load({&step, place, nullptr, step.cached}) && (define(step, {Kind::kLoaded, step.cached, -1}), true);
  }

  // If not, more can be fused next time.
  bool is_looked_up(const Step& step) {
    is_premature_ = is_premature_ || step.cached == nullptr;
    return step.cached != nullptr;
  }

  bool load_attribute(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0 || !is_looked_up(step)) {
      return false;
    }
    const Content& module = contents_[static_cast<std::size_t>(index)];
    if (module.kind != Kind::kLoaded || !PyModule_CheckExact(module.object) ||
        PyModule_GetDict(module.object) != step.key) {
      return false;
    }
    return add_load({&step, -1, step.key, step.cached}) && (define(step, {Kind::kLoaded, step.cached, -1}), true);
  }

  // Asked before anything is computed.
  bool guard(const Step& step, std::int32_t place) {
    const int index = content_of(place);
    if (index < 0) {
      return false;
    }
    const Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.object == nullptr) {
      return false;
    }
    const bool is_loaded = content.kind == Kind::kLoaded;
    region_->guards.push_back({&step, is_loaded ? -1 : place, is_loaded ? content.object : nullptr});
    state_.guards = region_->guards.size();
    return true;
  }

  bool add_load(const PlannedRegion::Load& load) {
    region_->loads.push_back(load);
    state_.loads = region_->loads.size();
    return load_holds(load, source_.registers);
  }

  bool operate(const Step& step, const std::int32_t* operands) {
    constexpr int kCallableSlots = 2;  // null and the ufunc
    int result = -1;
    std::vector<int> numbers;
    const int first = step.op == Op::array_call ? kCallableSlots : 0;
    for (int index = first; index < step.operand_count; ++index) {
      numbers.push_back(number_of(operands[index]));
      if (numbers.back() < 0) {
        return false;
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
        const int callable = content_of(operands[1]);
        if (operands[0] != kNullRegister || callable < 0) {
          return false;
        }
        const Content& content = contents_[static_cast<std::size_t>(callable)];
        if (content.object == nullptr) {
          return false;
        }
        if (content.kind == Kind::kExternal) {
          region_->same.emplace_back(operands[1], content.object);
          state_.same = region_->same.size();
        }
        result = builder_.call(content.object, numbers);
        break;
      }
    }
    if (result < 0) {
      return false;
    }
    define(step, {Kind::kResult, nullptr, result});
    return true;
  }

  // From the state after the last operation to what has to be done then.
  bool commit() {
    region_->loads.resize(accepted_.loads);
    region_->guards.resize(accepted_.guards);
    region_->same.resize(accepted_.same);
    region_->returned_frames.resize(accepted_.returned_frames);
    locals_.resize(accepted_.locals);
    region_->dropped = accepted_.dropped;
    std::vector<int> outputs;
    for (const auto& [place, index] : accepted_.registers) {
      if (index < 0 || origins_[static_cast<std::size_t>(index)] == place) {
        continue;
      }
      const Content& content = contents_[static_cast<std::size_t>(index)];
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
      return is_bound(step, load.module, load.value);
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
  static constexpr std::int32_t kNullRegister = 0;
  static constexpr std::int32_t kFunctionRegister = 1;
  const RegionSource& source_;
  array::RegionBuilder builder_;
  std::unique_ptr<PlannedRegion> region_;
  std::vector<Content> contents_;
  std::vector<std::int32_t> origins_;  // of each content: its register before the region, or -1
  std::vector<std::pair<const Step*, int>> locals_;
  State state_, accepted_;
  bool is_premature_ = false;
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

void mark_regions(std::vector<Step>* steps) {
  bool has_more = false;
  for (std::size_t place = steps->size(); place-- > 0;) {
    Step& step = (*steps)[place];
    if (!may_be_inside(step)) {
      has_more = false;
    } else if (is_array_operation(step)) {
      step.begins_region = has_more;
      has_more = true;
    }
  }
}

void RegionSite::put_off() {
  wait = patience;
  patience = std::min(patience * 2, kMostPatience);
}

std::unique_ptr<PlannedRegion> plan_region(const array::Numpy& np, const RegionSource& source) {
  return RegionPlanner(np, source).plan();
}

bool loads_hold(const PlannedRegion& region, PyObject* const* registers) {
  return std::ranges::all_of(
      region.loads, [&](const PlannedRegion::Load& load) { return RegionPlanner::load_holds(load, registers); });
}

}  // namespace tagalong::replay
