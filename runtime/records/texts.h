// Sentences about executors, for explain() and the logs.
#pragma once

#include <string>
#include <vector>

#include "recorder/base/stop.h"
#include "replay/executor/executor.h"

namespace tagalong::runtime {

std::string step_text(const replay::Executor& executor, const replay::Step& step);
std::vector<std::string> guard_texts(const replay::Executor& executor);    // all guards, those of the entry check first
std::vector<std::string> failure_texts(const replay::Executor& executor);  // misses and side exits, and how often
std::vector<std::string> fusion_texts(
    const replay::Executor& executor);  // fusion groups, and why operations are in none

// What an executor is made of, as text.
struct Dumps {
  std::string graph;
  std::vector<std::string> guards;
  std::string steps;
  std::string loop;               // empty: no loop
  std::string kernels;            // empty: no fusion group was planned
  std::vector<std::string> code;  // that runs have needed until now
};
// `disassembles`: with a disassembly of each piece of code, if a disassembler is installed; each starts a process.
Dumps dumps_of(const replay::Executor& executor, bool disassembles);
// Logs a new executor of a function: the topics `record`, `graph`, `guards`, and log_lowered().
void log_recorded(const replay::Executor& executor, const std::string& function, recorder::Stop stop);
// Logs an executor's steps and loops, if these topics are on.
void log_lowered(const replay::Executor& executor);

}  // namespace tagalong::runtime
