// Consumers: what C code does with the items of a generator, as nodes of the graph. The C code really runs; each time
// it resumes the generator or comes to its end it has shown what it has done with the item before, and only then that
// is recorded. Where it does something else, the trace ends in front of that item, and the interpreter does the rest
// (replay/ir/consumers.h).
#pragma once

#include "recorder/inlining/generators.h"

namespace tagalong::recorder {

class Consumers : public Generators {
 protected:
  using Generators::Generators;

  // Whether the consumer at work has resumed this frame.
  [[nodiscard]] bool is_consumed(cpython::Frame* callee) const;
  // The first time that an instruction resumes a generator, as far as it is known what for.
  bool try_consume(cpython::Frame* callee, int instruction);
  // The generator is resumed once more for the consumer at work.
  bool consume_more(cpython::Frame* callee);
  // What the consumer has done with its item: it asks for more, or it has its result.
  void settle_item(bool asks_for_more);

  // A generator in the graph yields or returns, to a consumer or to the instruction that has resumed it.
  void yield_to_consumer();
  void return_to_consumer();
  // The exception of a body leaves through the consumer, which lets go of what it has made.
  void abandon_consumer();
  // The instruction that the consumer works for has raised, or nothing is known of what it has done: the trace ends.
  void end_consumption();
  // The state of the frame while its consumer waits for an item, or is about to use one.
  SnapshotId consumer_snapshot();

 private:
  // Which consumer (replay/ir/consumers.h) an instruction has reached.
  struct Form {
    replay::Consumer consumer = replay::Consumer::kNone;
    int operands = 1;   // of the instruction, on the stack
    int generator = 0;  // which operand is the generator; so for container, key and other; -1: there is none
    int results = 1;
    int container = -1;  // that it fills, counted from the top of the stack; -1: a new one
    int key = -1;
    int other = -1;  // start, default or reverse
  };

  [[nodiscard]] Form find_consumer(int number, cpython::Frame* callee) const;
  void guard_consumer(const Form& form, SnapshotId here);
  void begin_consumer(const Form& form, SnapshotId here);
  void have_item(Value value, PyObject* object);
  void add_item(Value& total, Value item, SnapshotId here);
  void decide(Value item, SnapshotId here, bool asks_for_more);
  Value compare_item(Value item, SnapshotId here);
  void end_consumer();
  void sort_items(SnapshotId here);
  void deliver(Value result);
};

}  // namespace tagalong::recorder
