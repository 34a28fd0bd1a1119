// A region: element-wise operations over one iteration space whose intermediate results nobody can see. They run block
// by block, each on NumPy's own inner loop, and only what is visible becomes an array. A builder is told the operations
// with the operands of one run and makes a plan; the plan serves every later run whose operands are of the same kinds,
// whatever their size, and refuses, with nothing having happened, whatever is not an exact case: then the caller does
// the operations one by one. Floating point errors are such a case unless the errstate ignores them: who reports them,
// and in which order, is best known to the operations themselves.
//
//   RegionBuilder builder(np);
//   const int x = builder.external(first, 0), y = builder.external(second, 1);
//   const int sum = builder.binary(BinaryOperator::kAdd, x, y, 0);           // negative: not in this region
//   const int root = builder.call(sqrt, {sum}, kAnonymous);
//   auto plan = builder.finish({root});
//   PyObject* externals[] = {first, second}; Ref results[1];
//   if (plan->run(np, externals, results) == RegionReason::kNone) ...
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay/array/kernel.h"
#include "replay/array/operators.h"
#include "replay/array/region_reasons.h"

namespace tagalong::array {

inline constexpr unsigned kMaxRegionOperations = 48;
inline constexpr unsigned kMaxRegionSlots = 96;
inline constexpr unsigned kMaxRegionScalars = 16;
inline constexpr unsigned kMaxRegionOutputs = 8;

// 0: operations are run one by one.
extern int regions_enabled;

struct RegionCounts {
  std::uint64_t planned = 0;
  std::uint64_t run = 0;
  std::uint64_t refused = 0;  // floating point errors, or an exception: the operations were done again, one by one
  RegionReasonCounts reasons;
};
extern RegionCounts region_counts;

class RegionPlan {
 public:
  // `externals` by their numbers, as many `outputs` as the builder was told, in that order. Needs the GIL; gives it
  // away while it computes for long.
  // kNone: done; anything else: nothing has happened.
  RegionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] std::size_t operation_count() const { return operations_.size(); }

 private:
  friend class RegionBuilder;
  using Slot = std::uint8_t;  // a place in memory that loops read or write

  struct Input {  // an array
    std::uint16_t external;
    std::uint8_t type;
    Slot slot;
  };
  struct Scalar {
    std::uint16_t external;
    OperandCode code;
    std::uint8_t type;  // of the loop
    Slot slot;
  };
  struct Constant {
    alignas(16) std::array<char, kScalarBytes> bytes;
    Slot slot;
  };
  struct Operation {
    const Kernel* kernel = nullptr;
    std::array<Slot, kMaxInputs + 1> slots{};  // the last one is that of the result
    std::uint8_t elidable = 0;                 // bit i: eager would compute into operand i, if it is large
    bool collects = false;                     // the loop may clear floating point flags: they are taken before
    std::array<std::int16_t, 2> externals{-1, -1};
  };
  struct Output {
    PyObject* descr;
    std::uint8_t item_size;
    Slot slot;
  };
  struct Temporary {
    Slot slot;
    std::uint8_t item_size;
    std::uint16_t buffer;
  };
  struct Frame;

  bool bind(const Numpy& np, PyObject* const* externals, Frame* frame) const;
  bool bind_elision(PyObject* const* externals, Frame* frame) const;
  bool compute(Frame* frame) const;

  std::vector<Input> inputs_;
  std::vector<Scalar> scalars_;
  std::vector<Constant> constants_;
  std::vector<Operation> operations_;
  std::vector<Output> outputs_;
  std::vector<Temporary> temporaries_;
  std::uint16_t buffers_ = 0;
  FloatUnits float_units_ = FloatUnits::kNone;
};

class RegionBuilder {
 public:
  explicit RegionBuilder(const Numpy& np) : np_(np), plan_(std::make_unique<RegionPlan>()) {}

  // Objects have numbers. An external one is what stands there in this run; the plan reads it anew in each.
  int external(PyObject* object, unsigned number);
  // The same in all runs; negative if it is not a Python number.
  int constant(PyObject* object);

  // The number of the result; negative: this operation is not for the region, which ends before it. In-place operators
  // give the number of their left operand. `temporaries` as in ufunc_site.h.
  int binary(BinaryOperator op, int left, int right, unsigned temporaries);
  int unary(UnaryOperator op, int operand, unsigned temporaries);
  int compare(int py_op, int left, int right);
  int call(PyObject* ufunc, std::span<const int> operands);

  // The arrays that somebody can see; each the result of an operation.
  std::unique_ptr<RegionPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const { return plan_->operations_.size(); }
  // Why the last operation was not for the region.
  [[nodiscard]] RegionReason reason() const { return reason_; }
  [[nodiscard]] bool is_made_here(int object) const { return objects_[static_cast<std::size_t>(object)].is_result; }

 private:
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a result
    OperandCode code = kForeign;
    bool is_constant = false;
    bool is_result = false;
    std::int16_t external = -1;
    int slot = -1;  // of an array
  };
  struct Request {
    PyObject* ufunc;
    std::array<int, kMaxInputs> operands;
    unsigned nin;
    unsigned temporaries = 0;
    Elision elision = Elision::kNever;
    bool inplace = false;
  };

  int apply(const Request& request);
  int refuse(RegionReason reason) {
    reason_ = reason;
    return -1;
  }
  [[nodiscard]] RegionReason shape_reason(const Object& object) const;
  bool is_array_object(int object) const;
  int slot_of(int number, unsigned type);
  int new_slot() { return slots_ < static_cast<int>(kMaxRegionSlots) ? slots_++ : -1; }
  void place_temporaries();

  const Numpy& np_;
  std::unique_ptr<RegionPlan> plan_;
  std::vector<Object> objects_;
  std::map<std::pair<int, unsigned>, int> scalar_slots_;  // by object and type of the loop
  const ArrayFields* shape_ = nullptr;
  int slots_ = 0;
  RegionReason reason_ = RegionReason::kNone;
};

}  // namespace tagalong::array
