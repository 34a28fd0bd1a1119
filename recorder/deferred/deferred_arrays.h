// The deferred arrays of a frame: operations of large arrays (deferred_expression.h) whose results are on the frame's
// stack and bound to its names, as proxies. Code of the program never sees a proxy: before it can look at the frame,
// all deferred arrays are forced. Forcing can itself run such code (reports, finalisers). Meanwhile the names are bound
// to what they were bound to in front of the first deferred operation or, while operations are done one by one, in
// front of the current one.
//
//   DeferredArrays* deferred = DeferredArrays::begin(frame, shape);
//   deferred->add(op, operands, unit, proxy);
//   deferred->bind(slot);                              // in front of a STORE_FAST
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

inline constexpr std::size_t kMostAxes = 8;  // of a deferred array
using DeferredShape = boost::container::static_vector<Py_ssize_t, kMostAxes>;

class DeferredArrays {
 public:
  // The deferred arrays of this frame and thread; null: there are none.
  static DeferredArrays* of(const cpython::Frame* frame);
  // As of(), and makes an empty set where the thread has none. Null: another frame has deferred arrays.
  static DeferredArrays* begin(cpython::Frame* frame, DeferredShape shape);
  // Takes the deferred arrays from the frame; of() gives null afterwards.
  static std::unique_ptr<DeferredArrays> take(const cpython::Frame* frame);

  DeferredArrays(cpython::Frame* frame, DeferredShape shape);
  DeferredArrays(const DeferredArrays&) = delete;
  DeferredArrays& operator=(const DeferredArrays&) = delete;
  ~DeferredArrays();

  // While it lives, of() finds nothing, and names are bound to what they were bound to in front of the first operation.
  // For calls into NumPy that may run Python code.
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
  // The shape of all results, which are computed together.
  [[nodiscard]] const DeferredShape& shape() const { return shape_; }
  [[nodiscard]] bool is_full() const { return expression_.size() >= Expression::kMost; }

  // `proxy`, the operation's result, is borrowed until forget().
  void add(ArrayOperator op, Expression::Operands operands, int unit, PyObject* proxy);
  [[nodiscard]] int node_of(PyObject* proxy) const;
  // The type number of the deferred array; negative: that is not known.
  [[nodiscard]] int type_of(PyObject* proxy) { return expression_.type_of(static_cast<std::size_t>(node_of(proxy))); }
  void forget(PyObject* proxy);
  // Called in front of an instruction that binds a name. False: the object that the name is bound to now must not live
  // longer than in eager execution.
  bool bind(int slot);
  // Whether other results than this one will be seen.
  [[nodiscard]] bool has_other_visible_results(PyObject* proxy, PyObject** end) const;

  // kReturned: the frame ends, and only what is on its stack will be seen. Its names stay deferred, in case the frame
  // outlives its end.
  enum class Scope : std::uint8_t { kAll, kReturned };
  // `end` of the stack; null: not known. Proxies beyond it are resolved to their arrays.
  bool force(PyObject** end, Scope scope);
  [[nodiscard]] bool is_returned() const { return is_returned_; }
  // Drops all results, since the frame is gone.
  void drop_all();
  // Computes the last result straight into an array, or a part of one, where no other result is seen. False: the caller
  // has to force.
  bool store(PyObject* target);

 private:
  struct Binding {
    int slot;
    std::size_t before;  // the number of operations in front of it
    Ref old;             // what the name is bound to while the binding is undone
    Ref value;
  };
  struct Place {
    PyObject** place;
    std::size_t node;
  };

  // `beyond_end`: operations whose proxies are beyond the end of the stack.
  [[nodiscard]] std::vector<Place> on_stack(PyObject** end, std::vector<std::size_t>* beyond_end) const;
  // Operations whose results are bound to names at the end, or at any time (`is_ever`).
  [[nodiscard]] std::vector<std::size_t> bound(bool is_ever) const;
  void rewind();
  // Binds names as they are in front of this operation, to the operations' results. A name whose result does not exist
  // stays as it is.
  void bind_up_to(std::size_t node);
  void bind_again();
  bool compute(std::vector<std::size_t> seen, Scope scope);
  bool compute_rest(const std::vector<std::size_t>& seen, bool tries_groups);
  void resolve();
  // Drops the proxies' references to similar arrays: whether NumPy computes into an operand depends on its references.
  void forget_likes();
  void hold_collector();
  void release_collector();

  cpython::Frame* frame_ = nullptr;
  DeferredShape shape_;
  Expression expression_;
  std::vector<PyObject*> proxies_;  // by operation; null: the proxy is dead
  std::vector<Binding> bindings_;
  std::vector<Ref> results_;  // by operation; empty: not computed yet
  bool is_returned_ = false;
  bool is_collector_held_ = false;  // the collector is held back, since it calls finalisers and callbacks
  std::size_t rewound_ = 0;         // bindings before this index are in effect
};

// Forces the deferred arrays of the frame, which is the current one. False: an exception is set; the remaining deferred
// operations are dropped, since eager execution would not have reached them. A frame that starts meanwhile may look at
// this one (session.cpp's handle_frame).
bool force_deferred(const cpython::Frame* frame, PyObject** end,
                    DeferredArrays::Scope scope = DeferredArrays::Scope::kAll);

// Called behind the last hook of a frame that has returned.
void discard_returned(const cpython::Frame* frame);

// In array_proxy.cpp: drops the proxy's reference to a similar array, so that it does not count as another reference to
// an operand.
void forget_like(PyObject* proxy);
// The proxy becomes a proxy of `array`, its computed result; empty: there is none.
void resolve_proxy(PyObject* proxy, Ref array);

}  // namespace tagalong::recorder
