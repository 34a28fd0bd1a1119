// Decides which operations of a plan become fused kernels, and puts all operations into an order in which as many as
// possible do. Where no kernel can be made, the plan has no steps, and its operations are computed one after another.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "replay/arrays/fusion/fusion_plan.h"

namespace tagalong::array {

using SlotSet = std::array<bool, kMaxFusionSlots>;

class KernelFusion {
 public:
  KernelFusion(const Numpy& np, FusionPlan* plan) : np_(np), plan_(*plan), operations_(plan->operations) {}

  struct Steps {
    SlotSet in_memory{};          // results that another step reads from memory
    std::vector<std::size_t> of;  // by operation: the index of its step; empty: there are no steps
  };
  // Makes the steps of the plan.
  Steps fuse();

 private:
  using Group = std::vector<std::size_t>;  // numbers of operations that are computed together
  struct Kernel {
    std::vector<VectorOperation> operations;
    std::vector<VectorInput> inputs;
    std::vector<Slot> stored;
    std::shared_ptr<const VectorCode> code;
    std::vector<std::uint16_t> swappable;  // as in PlanStep
    std::shared_ptr<const VectorCode> swapped_code;
    bool is_too_long = false;
  };

  void find_scalars();
  void find_lanes();
  void find_visible();
  [[nodiscard]] int lanes_of(const PlanOperation& operation) const;
  void find_readers();
  void form_groups();
  [[nodiscard]] bool is_widened_otherwise(const PlanOperation& cast) const;
  [[nodiscard]] bool is_read_in(const Group& group, Slot slot) const;
  [[nodiscard]] Kernel kernel_of(const Group& group, bool swaps = false) const;
  void compile_in_order(const Group& group, Kernel* kernel);
  [[nodiscard]] VectorSum sum_of(std::span<const VectorOperation> operations);
  void compile(const Group& group, Kernel* kernel);
  [[nodiscard]] static bool fits_registers(const Kernel& kernel);
  [[nodiscard]] bool is_read_elsewhere(const Group& group, Slot slot, bool is_summed) const;
  void split(std::size_t place);
  void add_step(const Group& group, Kernel kernel);
  bool make_steps();
  void finish_plan();

  const Numpy& np_;
  FusionPlan& plan_;
  const std::vector<PlanOperation>& operations_;
  SlotSet is_scalar_{};
  std::vector<int> lane_bytes_;                    // by operation; 0: it has no vector code
  std::array<int, kMaxFusionSlots> mask_bytes_{};  // of bools that are in registers as lanes; 0: other slots
  SlotSet is_narrowed_{};                          // by a store, so that registers hold something else
  SlotSet is_visible_{};                           // read by other code than operations
  std::vector<std::vector<std::size_t>> readers_;  // by slot: operations that read it
  std::vector<Group> groups_;
  std::vector<PlanStep> steps_;
  SlotSet in_memory_{};
  SlotSet is_row_{};  // read as rows of memory by a kernel
};

}  // namespace tagalong::array
