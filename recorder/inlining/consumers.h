// Consumers: C code that uses the items of a generator, as nodes of the graph. The C code really runs. When it resumes
// the generator again, or returns, it has shown how it used the previous item, and only then this use is recorded. If
// it used the item in an unexpected manner, the trace ends in front of that item, and the interpreter does the rest
// (replay/ir/consumers.h).
#pragma once

#include "recorder/inlining/generators.h"

namespace tagalong::recorder {

class Consumers : public Generators {
 protected:
  using Generators::Generators;

  // Whether the active consumer has resumed this frame.
  [[nodiscard]] bool is_consumed(cpython::Frame* callee) const;
  // Called when an instruction resumes a generator for the first time, if the consumer is known.
  bool try_consume(cpython::Frame* callee, int instruction);
  // Called when the active consumer resumes the generator again.
  bool consume_more(cpython::Frame* callee);
  // Records how the consumer has used its item: it asks for another one, or has its result.
  void finish_item(bool wants_more);

  // A generator in the graph yields or returns, to a consumer or to the instruction that resumed it.
  void yield_to_consumer();
  void return_to_consumer();
  // An exception of the generator's body leaves through the consumer, which releases its state.
  void abandon_consumer();
  // Ends the trace: the consumer's instruction has raised, or the recorder cannot tell how the consumer used the item.
  void end_consumption();
  // The state of the frame while its consumer waits for an item or is about to use one.
  SnapshotId consumer_snapshot();

 private:
  // The consumer (replay/ir/consumers.h) that an instruction has called.
  struct Form {
    replay::Consumer consumer = replay::Consumer::kNone;
    int operands = 1;   // number of the instruction's operands on the stack
    int generator = 0;  // which operand is the generator; the next fields are operands, too; -1: missing
    int results = 1;
    int container = -1;  // the container to fill, counted from the top of the stack; -1: a new one
    int key = -1;
    int other = -1;  // the start, default or reverse argument
  };

  [[nodiscard]] Form find_consumer(int number, cpython::Frame* callee) const;
  void guard_consumer(const Form& form, SnapshotId here);
  void begin_consumer(const Form& form, SnapshotId here);
  void have_item(Value value, PyObject* object);
  void add_item(Value& total, Value item, SnapshotId here);
  void decide(Value item, SnapshotId here, bool wants_more);
  Value compare_item(Value item, SnapshotId here);
  void end_consumer();
  void sort_items(SnapshotId here);
  void end_call_with(Value result);
};

}  // namespace tagalong::recorder
