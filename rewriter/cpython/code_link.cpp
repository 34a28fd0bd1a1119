#include "rewriter/cpython/code_link.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "version/code.h"

namespace tagalong::cpython {
namespace {

constexpr int kUnit = static_cast<int>(sizeof(rewriter::CodeUnit));
// A program can make up an offset that belongs to no unit of derived code. Such offsets are stored with this added.
// (Made-up offsets that are themselves larger than this are not supported.)
constexpr int kForeign = 1 << 30;

// A tuple whose first `count` constants, except code objects, hold no counted reference: the link keeps another tuple
// alive that holds them.
struct SharingTuple {
  PyObject* tuple;
  int count;
};

struct CodeLink {
  CodeRef original;  // empty: the code object is its own original
  CodeRef shown;     // empty: the code object is shown as it is
  UnitMap units;
  Ref constants;  // the tuple it was compiled with, if it has been replaced
  bool makes_original = false;
  int execution_mark = 0;
  Ref made;    // weak reference to the code from which functions are made instead of this original
  Ref former;  // a replaced tuple from which running frames may still load constants
  std::vector<SharingTuple> sharing;  // for the code object's own tuple, or for `former`
};

void for_each_shared(const SharingTuple& sharing, void (*change)(PyObject*& constant)) {
  for (int index = 0; index < sharing.count; ++index) {
    PyObject*& constant = PyTuple_GET_ITEM(sharing.tuple, index);
    if (!PyCode_Check(constant)) {
      change(constant);
    }
  }
}

// Programs can read the reference counts of constants. References from `own` to constants that `others` also holds are
// not counted, so that programs see the original counts. The collector would see fewer references than it visits, so
// `own` is untracked; only a code object refers to it. If memory runs out, the references stay counted.
void share(CodeLink& link, PyObject* own, PyObject* others) {
  if (own == others || Py_REFCNT(own) != 1) {
    return;
  }
  const auto count = static_cast<int>(std::min(PyTuple_GET_SIZE(own), PyTuple_GET_SIZE(others)));
  SharingTuple sharing{own, 0};
  const auto is_shared = [&](int index) {
    PyObject* constant = PyTuple_GET_ITEM(own, index);
    return PyCode_Check(constant) || constant == PyTuple_GET_ITEM(others, index);
  };
  while (sharing.count < count && is_shared(sharing.count)) {
    ++sharing.count;
  }
  try {
    link.sharing.push_back(sharing);
  } catch (const std::bad_alloc&) {
    return;
  }
  PyObject_GC_UnTrack(own);
  for_each_shared(sharing, [](PyObject*& constant) { Py_DECREF(constant); });
}

// The tuples own counted references again.
void stop_sharing(CodeLink& link) {
  for (const SharingTuple& sharing : link.sharing) {
    for_each_shared(sharing, [](PyObject*& constant) { Py_INCREF(constant); });
    PyObject_GC_Track(sharing.tuple);
  }
  link.sharing.clear();
}

// CPython calls this when the code object dies, just before it releases its tuple of constants.
void free_link(void* object) {
  const std::unique_ptr<CodeLink> link(static_cast<CodeLink*>(object));
  if (link == nullptr) {
    return;
  }
  std::erase_if(link->sharing, [](const SharingTuple& sharing) {
    const bool is_last = Py_REFCNT(sharing.tuple) == 1;
    if (is_last) {
      for_each_shared(sharing, [](PyObject*& constant) { constant = nullptr; });
    }
    return is_last;
  });
  stop_sharing(*link);
}

Py_ssize_t link_index() {
  static const Py_ssize_t index = version::request_extra_index(free_link);
  return index;
}

CodeLink* link_of(PyCodeObject* code) {
  if (code->co_extra == nullptr) {
    return nullptr;
  }
  void* link = nullptr;
  if (version::get_extra(code, link_index(), &link) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return static_cast<CodeLink*>(link);
}

// What co_extra points to.
struct CodeExtra {
  Py_ssize_t size;
};

Py_ssize_t extra_size(const PyCodeObject* code) {
  return code->co_extra == nullptr ? 0 : static_cast<const CodeExtra*>(code->co_extra)->size;
}

bool set_link(PyCodeObject* code, CodeLink link) {
  if (CodeLink* old = link_of(code)) {
    stop_sharing(*old);
  }
  std::unique_ptr<CodeLink> owned(new (std::nothrow) CodeLink(std::move(link)));
  if (owned == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  const Py_ssize_t size = extra_size(code);
  if (version::set_extra(code, link_index(), owned.get()) != 0) {
    PyErr_NoMemory();  // the call sets no exception
    return false;
  }
  static_cast<void>(owned.release());
  // CPython now has allocated room for all users of co_extra, and will call the free functions of all users, with null
  // for those that stored nothing. Limiting the size to our own entry avoids this for code objects that only we know.
  static_cast<CodeExtra*>(code->co_extra)->size = std::max(size, link_index() + 1);
  CodeLink& kept = *link_of(code);
  if (kept.shown) {
    share(kept, code->co_consts, kept.shown->co_consts);
  }
  return true;
}

}  // namespace

int UnitMap::original(int unit) const {
  if (unit < 0 || static_cast<std::size_t>(unit) >= entries_.size()) {
    return unit;
  }
  const std::int32_t entry = entries_[static_cast<std::size_t>(unit)];
  return entry < 0 ? -1 - entry : entry;
}

bool UnitMap::is_own(int unit) const {
  return unit < 0 || static_cast<std::size_t>(unit) >= entries_.size() || entries_[static_cast<std::size_t>(unit)] >= 0;
}

int UnitMap::derived(int original) const {
  if (entries_.empty()) {
    return original;
  }
  const auto found = std::ranges::find(entries_, original);
  return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

bool set_original(PyCodeObject* derived, PyCodeObject* original, UnitMap units) {
  return set_link(derived,
                  {CodeRef::create(original), CodeRef::create(shown_of(original)), std::move(units), {}, false, 0});
}

bool set_shown(PyCodeObject* code, PyCodeObject* shown, UnitMap units) {
  return set_link(code, {{}, CodeRef::create(shown), std::move(units), {}, false, 0});
}

PyCodeObject* original_of(PyCodeObject* code) {
  const CodeLink* link = link_of(code);
  return link == nullptr || !link->original ? code : link->original.get();
}

int link_number() {
  static_assert(offsetof(CodeLink, original) == 0 && sizeof(CodeRef) == sizeof(PyCodeObject*));
  return static_cast<int>(link_index());
}

void make_of_original(PyCodeObject* derived, bool is_so) {
  if (CodeLink* link = link_of(derived)) {
    link->makes_original = is_so;
  }
}

bool make_of_derived(PyCodeObject* original, const Ref& derived) {
  if (link_of(original) == nullptr && !set_link(original, {})) {
    return false;
  }
  const Ref old = std::exchange(link_of(original)->made, derived);
  return true;
}

PyObject* code_to_make(PyObject* code) {
  const CodeLink* link = PyCode_Check(code) ? link_of(reinterpret_cast<PyCodeObject*>(code)) : nullptr;
  if (link != nullptr && link->made) {
    PyObject* made = PyWeakref_GET_OBJECT(link->made.get());
    return made == Py_None ? code : code_to_make(made);
  }
  return link != nullptr && link->makes_original ? reinterpret_cast<PyObject*>(link->original.get()) : code;
}

PyCodeObject* shown_of(PyCodeObject* code) {
  const CodeLink* link = link_of(code);
  return link == nullptr || !link->shown ? code : link->shown.get();
}

bool exchange_constants(PyCodeObject* code, Ref constants) {
  CodeLink* link = link_of(code);
  if (link == nullptr) {
    if (!set_link(code, {})) {
      return false;
    }
    link = link_of(code);
  }
  // Takes over the code object's reference: running frames still load their constants from the old tuple.
  Ref& kept = link->constants ? link->former : link->constants;
  if (!kept) {
    kept = Ref::steal(std::exchange(code->co_consts, constants.release()));
    share(*link, code->co_consts, kept.get());
  }
  return true;
}

PyObject* original_constants(PyCodeObject* code) {
  const CodeLink* link = link_of(code);
  if (link != nullptr && link->constants) {
    return link->constants.get();
  }
  return compiled_constants(code);
}

bool set_original_constants(PyCodeObject* code, PyObject* constants) {
  if (link_of(code) == nullptr && !set_link(code, {})) {
    return false;
  }
  link_of(code)->constants = Ref::create(constants);
  return true;
}

Py_ssize_t added_size(PyCodeObject* code) {
  if (link_of(code) == nullptr) {
    return 0;
  }
  constexpr auto kEntry = static_cast<Py_ssize_t>(sizeof(void*));
  for (Py_ssize_t index = 0; index < extra_size(code); ++index) {
    void* extra = nullptr;
    if (index != link_index() && (version::get_extra(code, index, &extra) != 0 || extra != nullptr)) {
      PyErr_Clear();
      return 0;
    }
  }
  return static_cast<Py_ssize_t>(sizeof(CodeExtra)) + extra_size(code) * kEntry;
}

int execution_mark(PyCodeObject* code) {
  const CodeLink* link = link_of(code);
  return link == nullptr ? 0 : link->execution_mark;
}

void set_execution_mark(PyCodeObject* code, int mark) {
  if (link_of(code) == nullptr && !set_link(code, {})) {
    PyErr_Clear();
    return;
  }
  link_of(code)->execution_mark = mark;
}

OriginalConstants::OriginalConstants(PyObject* object) {
  if (!PyCode_Check(object)) {
    return;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  PyObject* original = original_constants(code);
  if (original == nullptr) {
    failed_ = true;
    return;
  }
  as_compiled_.emplace(code);
  if (original != code->co_consts) {
    code_ = CodeRef::create(code);
    exchanged_ = std::exchange(code->co_consts, original);
  }
}

OriginalConstants::~OriginalConstants() {
  if (code_) {
    code_->co_consts = exchanged_;
  }
}

bool is_shown_unit(PyCodeObject* code, int unit) {
  const CodeLink* link = link_of(code);
  return link == nullptr || link->units.is_own(unit);
}

int shown_offset(PyCodeObject* code, int offset) {
  const CodeLink* link = link_of(code);
  if (link == nullptr || offset < 0) {
    return offset;
  }
  return offset >= kForeign ? offset - kForeign : link->units.original(offset / kUnit) * kUnit + offset % kUnit;
}

int real_offset(PyCodeObject* code, int shown) {
  const CodeLink* link = link_of(code);
  if (link == nullptr || shown < 0) {
    return shown;
  }
  const int unit = link->units.derived(shown / kUnit);
  if (unit >= 0) {
    return unit * kUnit + shown % kUnit;
  }
  return shown < kForeign ? shown + kForeign : shown;
}

}  // namespace tagalong::cpython
