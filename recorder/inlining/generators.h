// A generator or coroutine with known code is resumed by a `for`, by `yield from`, `await` or send(): its body up to
// the next yield goes into the consumer's graph, as the frame of a callee. The frame is the generator's own: it is
// resumed and suspended, not made and removed.
//
//   if (try_inline_generator(callee, instruction)) ...   // the callee's frame is on top now
//   release_generator(generator);                        // it yields or ends: its own frame holds the values
#pragma once

#include <vector>

#include "recorder/inlining/operands.h"

namespace tagalong::recorder {

class Generators : public Operands {
 protected:
  using Operands::Operands;

  // How the current instruction resumes a generator.
  struct Resumption {
    replay::ReturnKind kind = replay::ReturnKind::kPlain;
    int place = 0;  // the generator's position on the caller's stack, from the top; 0: none is resumed
    int pops = 0;   // number of operands that die when the generator has yielded or returned
    Value generator = replay::kNoValue;     // for kConsumer: a generator that has been guarded already,
    SnapshotId here = replay::kNoSnapshot;  // in this state of the caller
  };

  bool try_inline_generator(cpython::Frame* callee, int instruction);
  // The entry of its code at which a generator of this home continues, or -1 if it cannot be followed.
  int find_entry(cpython::Frame* callee, const HomeRef& home);
  void guard_generator(cpython::Frame* callee, const Home& home, Value generator, SnapshotId here);
  void enter_generator(cpython::Frame* callee, const Home& home, int entry, const Resumption& resumption);
  void release_generator(const ShadowFrame& generator);
  // In front of the yield that a SEND leads to: the generator in the graph has yielded.
  void finish_delegation();

 private:
  Resumption find_resumption(cpython::Frame* callee, int instruction);
  // Emits the guards that a resumption needs; returns the value that the generator is sent.
  Value guard_resumption(const Resumption& resumption, int entry, SnapshotId here);
  Ref guard_object(const Home& home, cpython::Frame* frame);

  std::vector<Ref> generator_guards_;
};

}  // namespace tagalong::recorder
