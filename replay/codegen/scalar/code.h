// Machine code for loop programs that have iterated often. It executes the same operations on the same registers in
// memory as LoopInterpreter, but only their fast paths: where an operation needs its slow path, the code ends in
// front of it, and the interpreter continues there. Every number is written to memory at once and machine registers
// hold copies, so leaving the code needs no write-back.
//
//   std::unique_ptr<const Code> code = compile(source);   // null: no code for this machine
//   const LoopOp* next = code->run(frame, code->entry(0));  // null: the run has ended, as `perform` has noted
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/codegen/printer.h"
#include "replay/steps/loop_program.h"

namespace tagalong::replay {

class LoopInterpreter;
struct Step;

namespace native {

// The state of the current run that the code reads and writes.
struct Frame {
  PyObject** objects = nullptr;
  UnboxedNumber* unboxed = nullptr;
  PyThreadState* thread = nullptr;
  const std::uint8_t* requests = nullptr;        // not 0 while the interpreter has requests
  const int* depth = nullptr;                    // number of real frames
  const std::int32_t* runs_user_code = nullptr;  // last step whose attribute read may have run user code
  std::int32_t* synced = nullptr;                // Run::synced_keys of the frame with the loop
  PyObject** root_slots = nullptr;               // locals of the real root frame; null while there is none
  std::int32_t* root_synced = nullptr;
  const std::uint16_t** root_place = nullptr;  // current instruction of the real root frame
  const std::uint16_t* root_code = nullptr;    // first instruction of the real root frame
  std::int64_t gain = 0;                       // gain of the iterations since the interpreter ran
  // Code outside this machine code has run since the last iteration began. Only then frames can have become visible or
  // a tracing tool can have started; other threads and signals set a request.
  std::int32_t is_touched = 1;
  LoopInterpreter* interpreter = nullptr;
  const LoopOp* next = nullptr;  // after kEnded: the interpreter continues there; null: the run has ended
};

// Result of one operation that the interpreter has performed. kEnded: the code ends (Frame::next).
enum class Did : int { kNext, kBranch, kEnded };

struct Source {
  const LoopProgram& program;
  const std::vector<Step>& steps;
  const std::vector<std::int32_t>& used;  // registers of the steps: operands, results and drops
  std::span<PyObject* const> constants;   // the first registers
  std::vector<std::int32_t> entries;      // operations at which traces begin
  std::vector<std::int32_t> places;       // by operation: the code unit that the root frame shows, or -1
  std::vector<std::int64_t*> arrivals;    // by trace: Arrivals::left
  int level = 0;                          // level of the frame with the loop
  Did (*perform)(Frame*, const LoopOp*) = nullptr;
};

class Code {
 public:
  // Copies position-independent code to executable memory. `entries`: offsets by operation, or -1. Null: no memory.
  static std::unique_ptr<const Code> make(std::span<const std::uint8_t> code,
                                          const std::vector<std::ptrdiff_t>& entries);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();
  // Null: no trace begins there.
  [[nodiscard]] const void* entry(std::size_t operation) const { return entries_[operation]; }
  const LoopOp* run(Frame* frame, const void* entry) const { return run_(frame, entry); }
  [[nodiscard]] PlacedCode placed(std::string purpose) const { return {memory_, size_, std::move(purpose)}; }

 private:
  Code() = default;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  const LoopOp* (*run_)(Frame*, const void*) = nullptr;
  std::vector<const void*> entries_;  // by operation
};

// Null: no code for this machine, or no memory.
std::unique_ptr<const Code> compile(const Source& source);

}  // namespace native
}  // namespace tagalong::replay
