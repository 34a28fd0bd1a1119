#include "replay/executor/written_locals.h"

#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::replay {
namespace {

struct FrameInRun {
  std::uint64_t run;
  const cpython::Frame* frame;
};

// Used under the GIL.
std::vector<FrameInRun>& frames_in_runs() {
  static auto* frames = new std::vector<FrameInRun>();
  return *frames;
}

void forget_written(const cpython::Frame* frame) {
  auto& written = detail::written_locals();
  if (!written.empty()) {
    std::erase_if(written, [frame](const detail::WrittenLocal& local) { return local.frame == frame; });
    if (written.empty()) {
      cpython::reasons_to_leave &= ~cpython::kWrittenLocals;
    }
  }
}

}  // namespace

namespace detail {

std::vector<WrittenLocal>& written_locals() {
  static auto* written = new std::vector<WrittenLocal>();
  return *written;
}

std::uint64_t begin_run(const cpython::Frame* root) {
  static std::uint64_t last = 0;
  ++last;
  if (root != nullptr) {
    add_frame(last, root);
  }
  return last;
}

// Usually the last ones of the list: the runs of other stacks may end in another order.
void end_run(std::uint64_t run) {
  auto& frames = frames_in_runs();
  while (!frames.empty() && frames.back().run == run) {
    forget_written(frames.back().frame);
    frames.pop_back();
  }
  std::erase_if(frames, [run](const FrameInRun& each) {
    if (each.run == run) {
      forget_written(each.frame);
    }
    return each.run == run;
  });
}

void add_frame(std::uint64_t run, const cpython::Frame* frame) { frames_in_runs().push_back({run, frame}); }

void remove_frame(const cpython::Frame* frame) {
  auto& frames = frames_in_runs();
  for (auto place = frames.rbegin(); place != frames.rend(); ++place) {
    if (place->frame == frame) {
      frames.erase(std::next(place).base());
      break;
    }
  }
  forget_written(frame);
}

}  // namespace detail

void note_written_local(const cpython::Frame* frame, int slot) {
  if (std::ranges::find(frames_in_runs(), frame, &FrameInRun::frame) != frames_in_runs().end()) {
    detail::written_locals().push_back({frame, static_cast<std::size_t>(slot)});
    cpython::reasons_to_leave |= cpython::kWrittenLocals;
  }
}

}  // namespace tagalong::replay
