// Machine code for the loop programs of executors that have gone round often. It does what Interpreter::interpret does
// with the same registers in the same memory, one operation behind the other, and has nothing of its own to say about
// the unusual: where an operation does not go the usual way, the code ends in front of it, and the interpreter goes on
// there. Numbers are written to memory at once, so there is nothing to bring back; machine registers are copies.
//
//   std::unique_ptr<const Code> code = compile(source);   // null: there is none for this machine
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

class Interpreter;
struct Step;

namespace native {

// What the code needs of the run that it is a part of.
struct Frame {
  PyObject** objects = nullptr;
  UnboxedNumber* unboxed = nullptr;
  PyThreadState* thread = nullptr;
  const int* requests = nullptr;                 // the interpreter's eval breaker
  const int* depth = nullptr;                    // how many frames are real
  const std::int32_t* runs_user_code = nullptr;  // the last step that has read an attribute so that code may have run
  std::int32_t* synced = nullptr;                // Run::synced_keys of the frame that goes round
  PyObject** root_slots = nullptr;  // locals of the real root frame; null: there is none now, but may be later
  std::int32_t* root_synced = nullptr;
  const std::uint16_t** root_place = nullptr;  // of the real root frame: what it is executing
  const std::uint16_t* root_code = nullptr;    // and where its code begins
  std::int64_t gain = 0;                       // of the rounds since the interpreter did something
  // Something was done elsewhere since the last round began. Nothing else shows frames or makes somebody watch: other
  // threads and signals come by a request.
  std::int32_t is_touched = 1;
  Interpreter* interpreter = nullptr;
  const LoopOp* next = nullptr;  // after kEnded: the interpreter goes on there; null: the run has ended
};

// What became of one operation that the interpreter has done. kEnded: the code is left (Frame::next).
enum class Did : int { kNext, kBranch, kEnded };

struct Source {
  const LoopProgram& program;
  const std::vector<Step>& steps;
  const std::vector<std::int32_t>& used;  // registers: operands, results and drops of the steps
  std::span<PyObject* const> constants;   // first registers
  std::vector<std::int32_t> entries;      // operations where traces begin
  std::vector<std::int32_t> places;       // by operation: the code unit that the root frame is shown at, or -1
  std::vector<std::int64_t*> arrivals;    // by trace: Arrivals::left
  int level = 0;                          // of the frame that goes round
  Did (*perform)(Frame*, const LoopOp*) = nullptr;
};

class Code {
 public:
  // Copies position-independent code to where it can be run; `entries`: offsets by operation, -1: none. Null: no
  // memory.
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

// Null: none for this machine, or no memory.
std::unique_ptr<const Code> compile(const Source& source);

}  // namespace native
}  // namespace tagalong::replay
