// A generator or coroutine whose code is known is resumed by a `for`, by `yield from`, `await` or send(): what its body
// does up to the next yield goes into the consumer's graph, as the frame of a callee. The frame is the generator's own:
// it is resumed and suspended, not made and removed.
//
//   if (try_inline_generator(callee, instruction)) ...   // the callee's frame is on top now
//   let_go_of_generator(generator);                      // it yields or ends: its own frame has the values
#pragma once

#include <vector>

#include "recorder/inlining/operands.h"

namespace tagalong::recorder {

class Generators : public Operands {
 protected:
  using Operands::Operands;

  // How the instruction under way resumes a generator.
  struct Resumption {
    replay::ReturnKind kind = replay::ReturnKind::kPlain;
    int place = 0;                          // of the generator on the caller's stack, from the top; 0: it resumes none
    int pops = 0;                           // operands that die when the generator has answered
    Value generator = replay::kNoValue;     // kConsumer: it is guarded already,
    SnapshotId here = replay::kNoSnapshot;  // in this state of the caller
  };

  bool try_inline_generator(cpython::Frame* callee, int instruction);
  // Where a generator of this home goes on, if it can be followed from there: one of its code's entries, or -1.
  int find_entry(cpython::Frame* callee, const HomeRef& home);
  void guard_generator(cpython::Frame* callee, const Home& home, Value generator, SnapshotId here);
  void enter_generator(cpython::Frame* callee, const Home& home, int entry, const Resumption& resumption);
  void let_go_of_generator(const ShadowFrame& generator);
  // In front of the yield that a SEND goes on to: the generator in the graph has yielded.
  void finish_delegation();

 private:
  Resumption find_resumption(cpython::Frame* callee, int instruction);
  // What the generator is sent, after what else must hold so that it is resumed.
  Value guard_resumption(const Resumption& resumption, int entry, SnapshotId here);
  Ref guard_object(const Home& home, cpython::Frame* frame);

  std::vector<Ref> generator_guards_;
};

}  // namespace tagalong::recorder
