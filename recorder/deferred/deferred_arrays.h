// What waits in a frame to be computed: operations of large arrays (deferred_expression.h), whose results are on its
// stack, and are bound to its names, as proxies. Nobody sees these: whoever might look at the frame finds it settled.
// While it is, since others may run then, its names are what they were in front of the first operation; so they are
// when an operation is done alone, up to that operation.
//
//   Waiting& waiting = Waiting::begin(frame, shape);   waiting.add(op, operands, unit, proxy);
//   waiting.bind(slot);                                // in front of a STORE_FAST
//   if (!force_deferred(frame, end_of_stack)) ...      // an exception is set, where that was raised
#pragma once

#include <Python.h>

#include <boost/container/static_vector.hpp>
#include <memory>
#include <span>
#include <vector>

#include "recorder/deferred/deferred_expression.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

inline constexpr std::size_t kMostAxes = 8;  // of what waits
using DeferredShape = boost::container::static_vector<Py_ssize_t, kMostAxes>;

class DeferredArrays {
 public:
  // What waits in this frame, of this thread; null: nothing does.
  static DeferredArrays* of(const cpython::Frame* frame);
  // Null: something waits in another frame.
  static DeferredArrays* begin(cpython::Frame* frame, DeferredShape shape);
  // Nothing waits any more.
  static std::unique_ptr<DeferredArrays> take(const cpython::Frame* frame);

  DeferredArrays(cpython::Frame* frame, DeferredShape shape);
  DeferredArrays(const DeferredArrays&) = delete;
  DeferredArrays& operator=(const DeferredArrays&) = delete;
  ~DeferredArrays();

  // As long as it lives nobody finds what waits in this frame: names are what they were in front of the first
  // operation. For what we ask NumPy meanwhile, which may run Python code.
  class Aside {
   public:
    explicit Aside(const cpython::Frame* frame);
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside();

   private:
    std::unique_ptr<DeferredArrays> deferred_;
  };

  [[nodiscard]] cpython::Frame* frame() const { return frame_; }
  // Of all results: they are computed together.
  [[nodiscard]] const DeferredShape& shape() const { return shape_; }
  [[nodiscard]] bool is_full() const { return expression_.size() >= Expression::kMost; }

  // `proxy` is its result, borrowed until that tells that it dies.
  void add(ArrayOperator op, Expression::Operands operands, int unit, PyObject* proxy);
  [[nodiscard]] int node_of(PyObject* proxy) const;
  // Of the array that it stands for; negative: that is not known.
  [[nodiscard]] int type_of(PyObject* proxy) { return expression_.type_of(static_cast<std::size_t>(node_of(proxy))); }
  void forget(PyObject* proxy);
  // In front of an instruction that binds a name. False: what it is bound to may not live longer than it does.
  bool bind(int slot);
  // Whether somebody will see more than this one result.
  [[nodiscard]] bool is_seen_besides(PyObject* proxy, PyObject** end) const;

  // kReturned: the frame ends, only what is on its stack will be seen. Its names wait on, for somebody who does look.
  enum class Scope : std::uint8_t { kAll, kReturned };
  // `end` of the stack; null: not known. Proxies beyond it have become what they stand for.
  bool force(PyObject** end, Scope scope);
  [[nodiscard]] bool is_returned() const { return is_returned_; }
  // The frame ends at once.
  void give_up();
  // The last result straight into an array, or a part of one, no other being seen. False: it has to be settled.
  bool store(PyObject* target);

 private:
  struct Binding {
    int slot;
    std::size_t before;  // so many operations come before it
    Ref old;             // what the name is bound to otherwise
    Ref value;
  };
  struct Place {
    PyObject** place;
    std::size_t node;
  };

  // `others`: those whose proxies are beyond its end.
  [[nodiscard]] std::vector<Place> on_stack(PyObject** end, std::vector<std::size_t>* others) const;
  // Which operations' results names are bound to in the end, or ever.
  [[nodiscard]] std::vector<std::size_t> bound(bool is_ever) const;
  void rewind();
  // What is bound in front of this operation. With their results; what has none stays what it is.
  void bind_up_to(std::size_t node);
  void bind_again();
  bool compute(std::vector<std::size_t> seen, Scope scope);
  bool compute_rest(const std::vector<std::size_t>& seen, bool tries_groups);
  void resolve();
  // What may be computed into an operand depends on who has it.
  void forget_likes();
  void hold_collector();
  void release_collector();

  cpython::Frame* frame_ = nullptr;
  DeferredShape shape_;
  Expression expression_;
  std::vector<PyObject*> proxies_;  // by operation; null: gone
  std::vector<Binding> bindings_;
  std::vector<Ref> results_;  // by operation; empty: none yet
  bool is_returned_ = false;
  bool is_held_back_ = false;  // the collector: it calls finalisers and callbacks
  std::size_t rewound_ = 0;    // of the bindings, those before this one are what names are bound to
};

// Computes what waits in the frame, which is the current one. False: an exception is set; all that waited is dropped,
// which eager execution would not have reached.
// Who starts another frame meanwhile is somebody who might look (session.cpp's handle_frame).
bool force_deferred(const cpython::Frame* frame, PyObject** end,
                    DeferredArrays::Scope scope = DeferredArrays::Scope::kAll);

// Behind the last hook of a frame that has returned.
void give_up_returned(const cpython::Frame* frame);

// array_proxy.cpp: what the proxy is like is no operand's other reference any more.
void forget_like(PyObject* proxy);
// The proxy has become what it stands for; empty: nothing.
void resolve_proxy(PyObject* proxy, Ref array);

}  // namespace tagalong::recorder
