#include "replay/ir/verifier.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "replay/ir/printer.h"

namespace tagalong::replay {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph),
        defined_(static_cast<std::size_t>(graph.value_count), kNowhere),
        dropped_(static_cast<std::size_t>(graph.value_count), kNowhere),
        left_(graph.frames.size(), kNowhere),
        whole_(graph.snapshots.size(), false) {}

  std::vector<std::string> verify() {
    frames();
    snapshots();
    for (place_ = 0; place_ < static_cast<std::int32_t>(graph_.nodes.size()); ++place_) {
      node(graph_.nodes[static_cast<std::size_t>(place_)]);
    }
    if (graph_.nodes.empty() || !graph_.nodes.back().info().is_terminator()) {
      problems_.emplace_back("the graph does not end in return_value, yield_value or leave");
    }
    return std::move(problems_);
  }

 private:
  static constexpr std::int32_t kNowhere = -1;

  template <class... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format("node {} ({}): {}", place_, print_node(graph_, static_cast<std::size_t>(place_)),
                                    fmt::format(format, std::forward<Args>(args)...)));
  }
  template <class... Args>
  void problem_of(const char* what, std::size_t index, fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format("{} {}: {}", what, index, fmt::format(format, std::forward<Args>(args)...)));
  }

  [[nodiscard]] bool is_frame(std::int32_t frame) const {
    return frame >= 0 && static_cast<std::size_t>(frame) < graph_.frames.size();
  }
  [[nodiscard]] bool is_snapshot(SnapshotId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < graph_.snapshots.size();
  }
  [[nodiscard]] bool is_value(Value value) const { return value >= 0 && value < graph_.value_count; }

  void frames() {
    for (std::size_t i = 0; i < graph_.frames.size(); ++i) {
      const FrameInfo& frame = graph_.frames[i];
      if (i == 0 && frame.parent != -1) {
        problem_of("frame", i, "the root frame has parent {}", frame.parent);
      }
      if (i != 0 && (frame.parent < 0 || static_cast<std::size_t>(frame.parent) >= i)) {
        problem_of("frame", i, "parent {} is not an earlier frame", frame.parent);
      }
      for (const Value value : {frame.function, frame.instance}) {
        if (value != kNoValue && !is_value(value)) {
          problem_of("frame", i, "there is no value %{}", value);
        }
      }
    }
  }

  // Marks the snapshots whose chain of parents is valid.
  void snapshots() {
    std::unordered_map<std::int32_t, std::size_t> locals;
    for (std::size_t i = 0; i < graph_.snapshots.size(); ++i) {
      const Snapshot& snapshot = graph_.snapshots[i];
      if (!is_frame(snapshot.frame)) {
        problem_of("snapshot", i, "there is no frame {}", snapshot.frame);
        continue;
      }
      if (snapshot.instruction < 0) {
        problem_of("snapshot", i, "instruction {}", snapshot.instruction);
      }
      const Consuming& consuming = snapshot.consuming;
      const bool is_whole =
          consuming.pops >= 0 && consuming.results >= 0 && consuming.values > (consuming.has_item ? 1 : 0);
      if (consuming && (!is_whole || std::cmp_less(snapshot.stack.size(), consuming.values + consuming.pops))) {
        problem_of("snapshot", i, "the stack has {} values, {} of them of a consumer with {} operands",
                   snapshot.stack.size(), consuming.values, consuming.pops);
      }
      const auto [known, is_first] = locals.try_emplace(snapshot.frame, snapshot.locals.size());
      if (!is_first && known->second != snapshot.locals.size()) {
        problem_of("snapshot", i, "{} locals, another snapshot of frame {} has {}", snapshot.locals.size(),
                   snapshot.frame, known->second);
      }
      whole_[i] = parent(i, snapshot);
    }
  }

  bool parent(std::size_t index, const Snapshot& snapshot) {
    const std::int32_t frame = graph_.frames[static_cast<std::size_t>(snapshot.frame)].parent;
    if (snapshot.parent == kNoSnapshot) {
      if (frame != -1) {
        problem_of("snapshot", index, "frame {} needs a snapshot of its parent", snapshot.frame);
      }
      return true;
    }
    if (snapshot.parent < 0 || static_cast<std::size_t>(snapshot.parent) >= index) {
      problem_of("snapshot", index, "parent {} is not an earlier snapshot", snapshot.parent);
      return false;
    }
    const auto place = static_cast<std::size_t>(snapshot.parent);
    if (graph_.snapshots[place].frame != frame) {
      problem_of("snapshot", index, "parent {} is of frame {}, the parent of frame {} is {}", snapshot.parent,
                 graph_.snapshots[place].frame, snapshot.frame, frame);
    }
    return whole_[place];
  }

  void node(const Node& node) {
    counts(node);
    immediates(node);
    exception(node);
    for (const Value operand : node.operands) {
      use(operand, "operand");
    }
    snapshot(node);
    if (node.info().is_terminator() && static_cast<std::size_t>(place_) + 1 != graph_.nodes.size()) {
      problem("a terminator before the end");
    }
    if (node.op == Op::drop) {
      drop(node);
    }
    if (node.op == Op::loop) {
      loop(node);
    } else if (node.op == Op::jump_back) {
      jump_back(node);
    }
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      define(node.first_result + i);
    }
  }

  void counts(const Node& node) {
    const OpInfo& row = node.info();
    if (row.operands != kVariadic && std::cmp_not_equal(node.operands.size(), row.operands)) {
      problem("{} operands, {} takes {}", node.operands.size(), row.name, row.operands);
    }
    const std::int64_t results = row.results == kVariadic ? node.immediate : row.results;
    if (node.result_count != results) {
      problem("{} results, {} has {}", node.result_count, row.name, results);
    }
    if ((node.result_count == 0) != (node.first_result == kNoValue)) {
      problem("{} results, the first is {}", node.result_count, node.first_result);
    }
  }

  void immediates(const Node& node) {
    const OpInfo& row = node.info();
    if (row.has_object() != static_cast<bool>(node.object)) {
      problem("{} takes {}", row.name, row.has_object() ? "an object" : "no object");
    }
    if (!row.has_int() && node.immediate != 0) {
      problem("{} takes no integer", row.name);
    }
    if (node.op == Op::param && !params_.try_emplace(node.immediate, place_).second) {
      problem("slot {} is already the param of node {}", node.immediate, params_[node.immediate]);
    }
    if (node.op == Op::leave_frame) {
      if (node.immediate <= 0 || !is_frame(static_cast<std::int32_t>(node.immediate))) {
        problem("there is no inlined frame {}", node.immediate);
      } else if (std::exchange(left_[static_cast<std::size_t>(node.immediate)], place_) != kNowhere) {
        problem("frame {} has returned before", node.immediate);
      }
    }
  }

  void loop(const Node& node) {
    loops_.push_back(place_);
    if (std::cmp_not_equal(node.operands.size(), node.result_count)) {
      problem("{} operands, {} results", node.operands.size(), node.result_count);
    }
    const char* letters = node.object && PyUnicode_Check(node.object.get()) ? PyUnicode_AsUTF8(node.object.get()) : "";
    if (std::string_view(letters).size() != node.operands.size() ||
        std::string_view(letters).find_first_not_of("ifbld?o") != std::string_view::npos) {
      problem("not a letter of i, f, b, l, d, ?, o for each operand");
    }
  }

  // A value from before the loop must live until the loop ends.
  void jump_back(const Node& node) {
    if (node.immediate < 1 || std::cmp_greater(node.immediate, loops_.size())) {
      problem("there is no loop number {}", node.immediate);
      return;
    }
    const std::int32_t header = loops_[static_cast<std::size_t>(node.immediate - 1)];
    const Node& loop = graph_.nodes[static_cast<std::size_t>(header)];
    if (std::cmp_not_equal(node.operands.size(), loop.result_count)) {
      problem("{} operands, the loop has {} results", node.operands.size(), loop.result_count);
    }
    for (std::size_t value = 0; value < dropped_.size(); ++value) {
      // Values that die with the header itself are dropped right behind it.
      if (dropped_[value] > header + 1 && defined_[value] < header && defined_[value] != kNowhere) {
        problem("%{} is from before the loop and dropped in it, at node {}", value, dropped_[value]);
      }
    }
    for (std::int32_t place = header + 1; place < place_; ++place) {
      const Node& each = graph_.nodes[static_cast<std::size_t>(place)];
      if (each.op == Op::take_stack || each.op == Op::param) {
        problem("node {} is of the entry, and in the loop", place);
      }
    }
  }

  // Between the node that raises and the handler, or the end of the graph, only certain nodes are allowed.
  void exception(const Node& node) {
    if (node.op == Op::guard_raised && !(place_ > 0 && can_have_raised())) {
      problem("nothing before it may raise");
    }
    const OpInfo& row = node.info();
    if (is_raising_ && !row.has(trait::kNeedsRaise | trait::kAmidRaise)) {
      problem("an exception is under way");
    } else if (!is_raising_ && row.has(trait::kNeedsRaise)) {
      problem("no exception is under way");
    }
    if (row.begins_raise()) {
      is_raising_ = true;
    } else if (row.has(trait::kEndsRaise)) {
      is_raising_ = false;
    }
  }

  [[nodiscard]] bool can_have_raised() const {
    for (std::int32_t place = place_ - 1; place >= 0; --place) {
      if (is_expected_to_raise(graph_.nodes, static_cast<std::size_t>(place))) {
        return true;
      }
      const Node& before = graph_.nodes[static_cast<std::size_t>(place)];
      if (before.info().may_raise() ||
          !(before.info().is_guard() || before.op == Op::drop || before.info().is_pure())) {
        return false;
      }
    }
    return false;
  }

  void use(Value value, const char* what) {
    if (!is_value(value)) {
      problem("{}: there is no value {}", what, value);
      return;
    }
    const auto index = static_cast<std::size_t>(value);
    if (defined_[index] == kNowhere) {
      problem("{} %{} is not defined yet", what, value);
    } else if (dropped_[index] != kNowhere) {
      problem("{} %{} was dropped at node {}", what, value, dropped_[index]);
    }
  }

  void snapshot(const Node& node) {
    if (node.snapshot == kNoSnapshot) {
      if (node.info().needs_snapshot()) {
        problem("{} needs a snapshot", node.info().name);
      }
      return;
    }
    if (!is_snapshot(node.snapshot)) {
      problem("there is no snapshot {}", node.snapshot);
      return;
    }
    if (!whole_[static_cast<std::size_t>(node.snapshot)]) {
      return;  // already reported for the snapshot
    }
    for (SnapshotId id = node.snapshot; id != kNoSnapshot;) {
      const Snapshot& snapshot = graph_.snapshots[static_cast<std::size_t>(id)];
      const FrameInfo& frame = graph_.frames[static_cast<std::size_t>(snapshot.frame)];
      const std::string what = fmt::format("snapshot {} with", id);
      for (const auto* values : {&snapshot.locals, &snapshot.stack}) {
        for (const Value value : *values) {
          if (value != kNoValue) {
            use(value, what.c_str());
          }
        }
      }
      for (const Value value : {frame.function, frame.instance}) {
        if (value != kNoValue && is_value(value)) {
          use(value, what.c_str());
        }
      }
      const std::int32_t left = left_[static_cast<std::size_t>(snapshot.frame)];
      if (left != kNowhere && left != place_) {
        problem("snapshot {} is of frame {}, which returned at node {}", id, snapshot.frame, left);
      }
      id = snapshot.parent;
    }
  }

  void drop(const Node& node) {
    for (const Value value : node.operands) {
      if (!is_value(value)) {
        continue;
      }
      std::int32_t& place = dropped_[static_cast<std::size_t>(value)];
      if (place == place_) {
        problem("%{} is dropped twice", value);
      }
      place = place == kNowhere ? place_ : place;
    }
  }

  void define(Value value) {
    if (!is_value(value)) {
      problem("result %{} is not below the number of values, {}", value, graph_.value_count);
      return;
    }
    std::int32_t& place = defined_[static_cast<std::size_t>(value)];
    if (place != kNowhere) {
      problem("%{} is defined at node {} already", value, place);
    }
    place = place_;
  }

  const Graph& graph_;
  std::vector<std::int32_t> defined_;  // node that defines a value
  std::vector<std::int32_t> dropped_;  // node that drops it
  std::vector<std::int32_t> left_;     // node at which an inlined frame has returned
  std::vector<bool> whole_;            // snapshots with valid parents
  std::unordered_map<std::int64_t, std::int32_t> params_;
  std::int32_t place_ = 0;
  bool is_raising_ = false;
  std::vector<std::int32_t> loops_;  // their loop nodes
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph) { return Verifier(graph).verify(); }

}  // namespace tagalong::replay
