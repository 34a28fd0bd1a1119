// Sentences about executors, for explain() and the logs.
#pragma once

#include <string>
#include <vector>

#include "replay/executor/executor.h"

namespace tagalong::runtime {

std::string step_text(const replay::Executor& executor, const replay::Step& step);
std::vector<std::string> guard_texts(const replay::Executor& executor);    // all guards, the entry check's first
std::vector<std::string> failure_texts(const replay::Executor& executor);  // where it missed and left, and how often
std::vector<std::string> fusion_texts(const replay::Executor& executor);   // array operations run as one, and why not

}  // namespace tagalong::runtime
