#include "replay/executor/emergency.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/objects/ints.h"

namespace tagalong::replay {
namespace {

// Objects of one kind, each with the only reference to it. Fixed in place: filling it asks for no memory of its own.
template <std::size_t kMost>
class Shelf {
 public:
  template <class Make>
  void fill(std::size_t wanted, const Make& make) {
    wanted = std::min(wanted, kMost);
    while (count_ < wanted) {
      PyObject* made = make();
      if (made == nullptr) {
        PyErr_Clear();
        return;
      }
      objects_[count_++] = made;
    }
  }
  PyObject* take(std::size_t but = 0) { return count_ <= but ? nullptr : objects_[--count_]; }

 private:
  std::array<PyObject*, kMost> objects_{};
  std::size_t count_ = 0;
};

constexpr std::size_t kMostNumbers = 512;
constexpr std::size_t kFewest = 16;
constexpr std::size_t kPairs = 4;
constexpr std::size_t kCells = 64;
constexpr std::size_t kMemory = std::size_t{256} << 10U;

struct Reserve {
  Shelf<kMostNumbers> ints, floats, numpy_ints, numpy_floats;
  Shelf<kPairs> pairs;
  Shelf<kCells> cells;
  std::size_t numbers = 0;
  bool is_used = false;
};

Reserve& reserve() {
  static Reserve one;
  return one;
}

// Not under the GIL: any thread may run out of memory.
std::atomic<void*> g_memory = nullptr;
std::new_handler g_handler_before = nullptr;

void give_memory() {
  if (void* kept = g_memory.exchange(nullptr)) {
    std::free(kept);
  } else if (g_handler_before != nullptr) {
    g_handler_before();
  } else {
    throw std::bad_alloc();
  }
}

// The collector must not show them to the program.
PyObject* untracked(PyObject* object) {
  if (object != nullptr) {
    PyObject_GC_UnTrack(object);
  }
  return object;
}

PyObject* scalar_of(Unboxed kind) {
  PyTypeObject* type = type_of(kind);
  return type->tp_alloc(type, 0);
}

}  // namespace

void prepare_emergencies() {
  static bool is_prepared = false;
  if (!is_prepared) {
    is_prepared = true;
    g_handler_before = std::set_new_handler(give_memory);
  }
  keep_for_emergencies(kFewest);
}

void keep_for_emergencies(std::size_t numbers) {
  const PendingError pending;
  Reserve& kept = reserve();
  kept.numbers = std::max(kept.numbers, std::min(numbers, kMostNumbers / 2));
  kept.is_used = false;
  kept.ints.fill(2 * kept.numbers, [] { return cpython::make_wide_int(); });
  kept.floats.fill(2 * kept.numbers, [] { return PyFloat_FromDouble(0.0); });
  kept.pairs.fill(kPairs, [] { return untracked(PyTuple_New(2)); });
  kept.cells.fill(kCells, [] { return untracked(PyCell_New(nullptr)); });
  if (array::met_numpy() != nullptr && type_of(Unboxed::kNumpyFloat) != nullptr) {
    kept.numpy_ints.fill(2 * kept.numbers, [] { return scalar_of(Unboxed::kNumpyInt); });
    kept.numpy_floats.fill(2 * kept.numbers, [] { return scalar_of(Unboxed::kNumpyFloat); });
  }
  if (g_memory == nullptr) {
    std::free(g_memory.exchange(std::malloc(kMemory)));
  }
}

bool is_reserve_used() { return reserve().is_used || g_memory == nullptr; }

PyObject* number_from_reserve(Unboxed kind, UnboxedNumber number, bool leaves) {
  Reserve& kept = reserve();
  const std::size_t rest = leaves ? 0 : kept.numbers;
  kept.is_used = true;
  PyObject* object = nullptr;
  switch (kind) {
    case Unboxed::kInt:
      object = kept.ints.take(rest);
      if (object != nullptr) {
        cpython::set_wide_int(object, number.i);
      }
      return object;
    case Unboxed::kFloat:
      object = kept.floats.take(rest);
      if (object != nullptr) {
        reinterpret_cast<PyFloatObject*>(object)->ob_fval = number.d;
      }
      return object;
    case Unboxed::kNumpyInt:
    case Unboxed::kNumpyFloat:
      object = kind == Unboxed::kNumpyInt ? kept.numpy_ints.take(rest) : kept.numpy_floats.take(rest);
      if (object != nullptr) {
        store_item(const_cast<char*>(array::scalar_value(object)), kind, number);
      }
      return object;
    default:
      return nullptr;
  }
}

PyObject* pair_from_reserve(UnboxedNumber first, UnboxedNumber second, bool leaves) {
  Reserve& kept = reserve();
  kept.is_used = true;
  PyObject* row = number_from_reserve(Unboxed::kInt, first, leaves);
  PyObject* column = number_from_reserve(Unboxed::kInt, second, leaves);
  PyObject* pair = row != nullptr && column != nullptr ? kept.pairs.take() : nullptr;
  if (pair == nullptr) {
    Py_XDECREF(row);
    Py_XDECREF(column);
    return nullptr;
  }
  PyTuple_SET_ITEM(pair, 0, row);
  PyTuple_SET_ITEM(pair, 1, column);
  PyObject_GC_Track(pair);
  return pair;
}

PyObject* cell_from_reserve(PyObject* content) {
  Reserve& kept = reserve();
  kept.is_used = true;
  PyObject* cell = kept.cells.take();
  if (cell != nullptr) {
    PyCell_SET(cell, Py_XNewRef(content));
    PyObject_GC_Track(cell);
  }
  return cell;
}

}  // namespace tagalong::replay
