// Sentences about executors, for explain() and the logs.
#pragma once

#include <string>
#include <vector>

#include "recorder/base/stop.h"
#include "replay/executor/executor.h"

namespace tagalong::runtime {

std::string step_text(const replay::Executor& executor, const replay::Step& step);
std::vector<std::string> guard_texts(const replay::Executor& executor);    // all guards, the entry check's first
std::vector<std::string> failure_texts(const replay::Executor& executor);  // where it missed and left, and how often
std::vector<std::string> fusion_texts(const replay::Executor& executor);   // array operations run as one, and why not

// What an executor is made of, as text, by stage: graph, guards, steps, loops, kernels, code.
struct StageTexts {
  std::string graph;
  std::vector<std::string> guards;
  std::string steps;
  std::string loop;               // empty: nothing goes round
  std::string kernels;            // empty: no fusion group has been tried
  std::vector<std::string> code;  // what runs have asked for by now
};
// `disassembles`: the code, where a disassembler is installed, which starts a process for each piece.
StageTexts stage_texts(const replay::Executor& executor, bool disassembles);
// Logs a new executor of a function: the topics `record`, `graph`, `guards`, and log_lowered().
void log_recorded(const replay::Executor& executor, const std::string& function, recorder::Stop stop);
// Logs an executor's steps and loops, if these topics are on.
void log_lowered(const replay::Executor& executor);

}  // namespace tagalong::runtime
