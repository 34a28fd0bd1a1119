#include "graph_generator.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "replay/ir/operators.h"

namespace tagalong::replay {
namespace {

enum class Kind : std::uint8_t { kAny, kInt, kFloat, kBool, kCell, kList, kFunction };

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {
    for (const double number : {0.0, 2.5, -1.5}) {
      pool_.emplace_back(Ref::steal(PyFloat_FromDouble(number)), Kind::kFloat);
    }
    for (const long number : {0L, 1L, 7L, -3L, 1000L}) {
      pool_.emplace_back(Ref::steal(PyLong_FromLong(number)), Kind::kInt);
    }
    pool_.emplace_back(Ref::create(Py_True), Kind::kBool);
    pool_.emplace_back(Ref::create(Py_False), Kind::kBool);
    pool_.emplace_back(Ref::create(Py_None), Kind::kAny);
    pool_.emplace_back(Ref::steal(PyUnicode_FromString("text")), Kind::kAny);
  }

  Graph generate(int nodes) {
    graph_.name = "generated";
    graph_.frames.emplace_back();
    define(Op::function, {}, Kind::kFunction);
    for (int slot = 0; slot < 3; ++slot) {
      define(Op::param, {}, Kind::kAny, slot);
    }
    while (std::cmp_less(graph_.nodes.size(), nodes)) {
      action();
    }
    while (!inlined_.empty()) {
      leave_frame();
    }
    if (chance(8)) {
      graph_.add(Op::leave, {}, 0, {}, snapshot());
    } else {
      graph_.add(Op::return_value, {any()});
    }
    return std::move(graph_);
  }

 private:
  struct Live {
    Value value;
    Kind kind;
  };
  struct Inlined {
    std::int32_t frame;
    SnapshotId caller;
    Values pinned;  // values that the snapshots of the frame need
  };

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <std::size_t N>
  std::string one_of(const std::array<const char*, N>& texts) {
    return texts.at(below(N));
  }
  static Ref string(const std::string& text) { return Ref::steal(PyUnicode_InternFromString(text.c_str())); }
  static Ref type(PyTypeObject& type) { return Ref::create(reinterpret_cast<PyObject*>(&type)); }

  // Usually one of the latest values, so that there are repetitions.
  Value any() { return live_[live_.size() - 1 - below(std::min<std::size_t>(live_.size(), chance(3) ? 40 : 6))].value; }

  // A value of the kind; made if there is none.
  Value some(Kind kind) {
    Values fitting;
    for (const Live& each : live_) {
      if (each.kind == kind) {
        fitting.push_back(each.value);
      }
    }
    if (!fitting.empty() && !chance(8)) {
      return fitting[below(fitting.size())];
    }
    switch (kind) {
      case Kind::kCell:
        return define(Op::make_cell, {any()}, kind);
      case Kind::kList:
        return define(Op::build_list, {any()}, kind);
      case Kind::kFunction:
        return define(Op::function, {}, kind);
      default:
        return constant(kind);
    }
  }

  Value constant(Kind kind) {
    std::vector<Ref> fitting;
    for (const auto& [object, its_kind] : pool_) {
      if (its_kind == kind || kind == Kind::kAny) {
        fitting.push_back(object);
      }
    }
    return define(Op::constant, {}, kind, 0, fitting[below(fitting.size())]);
  }

  Value define(Op op, Values operands, Kind kind, std::int64_t immediate = 0, Ref object = {},
               SnapshotId snapshot = kNoSnapshot) {
    const Value first =
        graph_.add(op, std::move(operands), immediate, std::move(object), snapshot, static_cast<int>(below(3)));
    for (std::int32_t i = 0; i < graph_.nodes.back().result_count; ++i) {
      live_.push_back({first + i, kind});
    }
    return first;
  }

  SnapshotId new_snapshot() {
    Snapshot snapshot;
    snapshot.frame = inlined_.empty() ? 0 : inlined_.back().frame;
    snapshot.parent = inlined_.empty() ? kNoSnapshot : inlined_.back().caller;
    snapshot.instruction = static_cast<std::int32_t>(graph_.snapshots.size());
    snapshot.locals = {chance(3) ? kNoValue : any(), chance(2) ? kNoValue : any()};
    for (std::size_t depth = below(3); depth > 0; --depth) {
      snapshot.stack.push_back(any());
    }
    graph_.snapshots.push_back(std::move(snapshot));
    return static_cast<SnapshotId>(graph_.snapshots.size() - 1);
  }
  // Several nodes of one instruction share a snapshot.
  SnapshotId snapshot() {
    if (last_snapshot_ == kNoSnapshot || !chance(3)) {
      last_snapshot_ = new_snapshot();
    }
    return last_snapshot_;
  }

  void enter_frame() {
    Inlined inlined;
    inlined.frame = static_cast<std::int32_t>(graph_.frames.size());
    inlined.caller = new_snapshot();
    FrameInfo info;
    info.parent = inlined_.empty() ? 0 : inlined_.back().frame;
    info.function = some(Kind::kFunction);
    if (chance(4)) {
      info.return_kind = ReturnKind::kNone;
      info.instance = any();
      inlined.pinned.push_back(info.instance);
    }
    inlined.pinned.push_back(info.function);
    const Snapshot& caller = graph_.snapshots[static_cast<std::size_t>(inlined.caller)];
    inlined.pinned.insert(inlined.pinned.end(), caller.locals.begin(), caller.locals.end());
    inlined.pinned.insert(inlined.pinned.end(), caller.stack.begin(), caller.stack.end());
    graph_.frames.push_back(std::move(info));
    inlined_.push_back(std::move(inlined));
    last_snapshot_ = kNoSnapshot;
  }
  void leave_frame() {
    graph_.add(Op::leave_frame, {}, inlined_.back().frame);
    inlined_.pop_back();
    last_snapshot_ = kNoSnapshot;
  }

  [[nodiscard]] bool is_pinned(Value value) const {
    return std::ranges::any_of(inlined_, [value](const Inlined& frame) {
      return std::ranges::find(frame.pinned, value) != frame.pinned.end();
    });
  }
  void drop() {
    Values values;
    for (std::size_t count = 1 + below(3); count > 0 && live_.size() > 6; --count) {
      const std::size_t place = live_.size() - 1 - below(std::min<std::size_t>(live_.size(), 10));
      if (live_[place].kind != Kind::kFunction && !is_pinned(live_[place].value)) {
        values.push_back(live_[place].value);
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(place));
      }
    }
    if (!values.empty()) {
      graph_.add(Op::drop, std::move(values));
      last_snapshot_ = kNoSnapshot;
    }
  }

  void guard() {
    const Value value = any();
    const auto kind = std::ranges::find_if(live_, [value](const Live& each) { return each.value == value; });
    switch (below(6)) {
      case 0:
        graph_.add(Op::guard_is_not, {value}, 0, pool_[below(pool_.size())].first, snapshot());
        return;
      case 1:
        graph_.add(Op::guard_not_null, {value}, 0, {}, snapshot());
        return;
      case 2:
        graph_.add(chance(2) ? Op::guard_true : Op::guard_false, {some(Kind::kBool)}, 0, {}, snapshot());
        return;
      case 3:
        if (chance(2)) {
          graph_.add(Op::guard_is, {value}, 0, pool_[below(pool_.size())].first, snapshot());
        }
        return;
      default:
        break;
    }
    const bool is_float = kind->kind == Kind::kFloat || (kind->kind != Kind::kInt && chance(2));
    graph_.add(Op::guard_type, {value}, 0, is_float ? type(PyFloat_Type) : type(PyLong_Type), snapshot());
    if (kind->kind == Kind::kAny) {
      kind->kind = is_float ? Kind::kFloat : Kind::kInt;
    }
  }

  void arithmetic() {
    const auto number = [](Op op, const std::string& text) { return *operator_number(op, text); };
    const bool is_float = chance(2);
    const Kind kind = is_float ? Kind::kFloat : Kind::kInt;
    const Value left = some(kind);
    const Value right = some(kind);
    if (chance(3)) {
      const Op op = is_float ? Op::float_compare : Op::int_compare;
      define(op, {left, right}, Kind::kBool, number(op, one_of(std::array{"<", "==", ">="})));
    } else if (is_float) {
      const std::string text = one_of(std::array{"+", "-", "*", "/", "+="});
      define(Op::float_binary, {left, right}, kind, number(Op::float_binary, text), {}, snapshot());
    } else {  // products and quotients stay small: one side is a constant
      const std::string text = one_of(std::array{"+", "-", "*", "//", "/", "%", "&", "-="});
      const bool small = text != "*" || chance(2);
      const Value other = small && text != "*" ? right : constant(Kind::kInt);
      define(Op::int_binary, {left, other}, text == "/" ? Kind::kFloat : kind, number(Op::int_binary, text), {},
             snapshot());
    }
  }

  void repeat() {
    const Node& node = graph_.nodes[graph_.nodes.size() - 1 - below(std::min<std::size_t>(graph_.nodes.size(), 12))];
    const OpInfo& row = node.info();
    const bool fits = (row.is_pure() || row.effect == Effect::kReads) && row.results < 2 && node.op != Op::param;
    const auto is_live = [this](Value value) {
      return std::ranges::any_of(live_, [value](const Live& each) { return each.value == value; });
    };
    if (!fits || !std::ranges::all_of(node.operands, is_live)) {
      return;
    }
    const auto kind =
        std::ranges::find_if(live_, [&node](const Live& each) { return each.value == node.first_result; });
    const Node copy = node;  // adding a node moves the nodes
    // A read may give another value than the guarded one that it gave before.
    const bool is_known = kind != live_.end() && row.is_pure();
    define(copy.op, copy.operands, is_known ? kind->kind : Kind::kAny, copy.immediate, copy.object,
           row.needs_snapshot() ? snapshot() : kNoSnapshot);
  }

  void action() {
    switch (below(25)) {
      case 0:
        constant(Kind::kAny);
        return;
      case 1:
        define(Op::load_global, {some(Kind::kFunction)}, Kind::kAny, 0, string(one_of(std::array{"a", "b", "c"})),
               snapshot());
        return;
      case 2:
        define(Op::load_module_method, {any()}, Kind::kAny, 0, string(one_of(std::array{"a", "b"})), snapshot());
        return;
      case 3:
        define(Op::function_default, {some(Kind::kFunction)}, Kind::kAny, 0);
        return;
      case 4:
        define(Op::is_op, {any(), any()}, Kind::kBool, static_cast<std::int64_t>(below(2)));
        return;
      case 5:
        define(Op::bool_not, {some(Kind::kBool)}, Kind::kBool);
        return;
      case 6:
        define(chance(2) ? Op::number_truth : Op::to_bool, {some(chance(2) ? Kind::kInt : Kind::kFloat)}, Kind::kBool,
               0, {}, snapshot());
        return;
      case 7:
        define(Op::cell_get, {some(Kind::kCell)}, Kind::kAny, 0, string("v"), snapshot());
        return;
      case 8:
        graph_.add(Op::cell_set, {some(Kind::kCell), any()});
        return;
      case 9:
      case 10:
        define(chance(3) ? Op::build_list : Op::build_tuple, {any(), any()}, Kind::kAny);
        return;
      case 11:
        graph_.add(Op::list_append, {some(Kind::kList), any()}, 0, {}, snapshot());
        return;
      case 12:
      case 13:
        define(Op::call, {any(), any()}, Kind::kAny, 0, Ref::create(Py_None), snapshot());
        return;
      case 14:
        guard();
        return;
      case 15:
        if (inlined_.size() < 2) {
          enter_frame();
        }
        return;
      case 16:
        if (!inlined_.empty()) {
          leave_frame();
        }
        return;
      case 17:
      case 18:
        repeat();
        return;
      case 19:
      case 20:
      case 21:
        drop();
        return;
      case 22:
        for (int count = 0; count < 2; ++count) {
          define(Op::array_binary, {any(), any()}, Kind::kAny, *operator_number(Op::array_binary, "+"), {}, snapshot());
        }
        return;
      default:
        arithmetic();
        return;
    }
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<std::pair<Ref, Kind>> pool_;
  std::vector<Live> live_;
  std::vector<Inlined> inlined_;
  SnapshotId last_snapshot_ = kNoSnapshot;
};

}  // namespace

Graph generate_graph(std::uint32_t seed, int nodes) { return Generator(seed).generate(nodes); }

}  // namespace tagalong::replay
