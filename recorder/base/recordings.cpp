#include "recorder/base/recordings.h"

#include <utility>

#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

Recordings& Recordings::all() {
  static auto* const recordings = new Recordings();
  return *recordings;
}

bool Recordings::has_active(PyThreadState* thread) {
  // Called for every Python call; usually there is no recording, or all recordings are paused.
  const auto records = [thread](const Recording& recording, const cpython::StackId& stack) {
    return stack.thread == thread->id && !recording.is_paused();
  };
  const Recordings& recordings = all();
  if (recordings.is_empty() || !recordings.has_any(records)) {
    return false;
  }
  const std::shared_ptr<Recording> recording = recordings.on(cpython::stack_of(thread));
  return recording != nullptr && !recording->is_paused();
}

std::shared_ptr<Recording> Recordings::on(const cpython::StackId& stack) const {
  const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
  return slot == slots_.end() ? nullptr : slot->recording;
}

void Recordings::put(const cpython::StackId& stack, std::shared_ptr<Recording> recording) {
  slot_of(stack).recording = std::move(recording);
  remove_empty_slots();
}

void Recordings::keep_finished(const cpython::StackId& stack, std::shared_ptr<Recording> recording) {
  slot_of(stack).finished = std::move(recording);
}

std::shared_ptr<Recording> Recordings::take_finished(const cpython::StackId& stack) {
  const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
  std::shared_ptr<Recording> finished = slot == slots_.end() ? nullptr : std::move(slot->finished);
  remove_empty_slots();
  return finished;
}

void Recordings::forget_other_threads(PyThreadState* thread) {
  for (Slot& slot : slots_) {
    if (slot.stack.thread != thread->id) {
      for (auto* recording : {&slot.recording, &slot.finished}) {
        // Kept forever: frames that never run again refer to it.
        static_cast<void>(new std::shared_ptr<Recording>(std::move(*recording)));
      }
    }
  }
  remove_empty_slots();
}

Recordings::Slot& Recordings::slot_of(const cpython::StackId& stack) {
  const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
  return slot == slots_.end() ? slots_.emplace_back(Slot{stack, nullptr, nullptr}) : *slot;
}

void Recordings::remove_empty_slots() {
  std::erase_if(slots_, [](const Slot& slot) { return slot.recording == nullptr && slot.finished == nullptr; });
}

Pause::Pause() {
  PyThreadState* thread = cpython::thread_state();
  if (Recordings::has_active(thread)) {
    recording_ = Recordings::all().on(cpython::stack_of(thread));
    recording_->paused_ = true;
    cpython::release_hook();
  }
}

Pause::~Pause() {
  if (recording_ != nullptr) {
    recording_->paused_ = false;
    cpython::acquire_hook();
  }
}

}  // namespace tagalong::recorder
