// What happened, in order: counters for each function and for the process, and the exact sequence for tests and logs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "recorder/session.h"

namespace tagalong::runtime {

// Why a call ran as written although its function is traced. After a first call without C stack so do all later calls.
enum class LeftOut : std::uint8_t { kWatched, kAllocations, kEvaluation, kStack, kFirstCallStack };
inline constexpr std::array kLeftOutNames = {"watched", "allocations", "evaluation", "stack", "first_call_stack"};
inline constexpr std::array kLeftOutTexts = {
    "a trace or profile function watched (a debugger, a profiler, coverage)",
    "tracemalloc noted where memory was allocated",
    "another evaluation function was installed (PEP 523: torch.compile, a debugger)",
    "too little C stack was left (a thread with a small stack, deep recursion: see threading.stack_size and the limit "
    "`stack`)",
    "too little C stack was left at the first one (a thread with a small stack: see threading.stack_size and "
    "the limit `stack`)"};
static_assert(kLeftOutNames.size() == kLeftOutTexts.size());

struct Counters {
  std::uint64_t records = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t exits = 0;
  std::uint64_t bridges = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t retired = 0;
  std::uint64_t grown = 0;
  std::array<std::uint64_t, 32> stops{};                       // by recorder::Stop
  replay::Reached limits{};                                    // how often each was reached
  std::array<std::uint64_t, kLeftOutNames.size()> left_out{};  // calls, by LeftOut
  // In the totals only: how many functions were recorded at least once, and replayed at least once.
  std::uint64_t functions_recorded = 0;
  std::uint64_t functions_replayed = 0;
  std::uint64_t functions_freed = 0;  // freed since, so explain() cannot describe them
  std::array<std::uint64_t, kLeftOutNames.size()> functions_left_out{};  // by LeftOut, each with at least one such call
};

Counters& totals();

enum class Event : std::uint8_t { kRecord, kBridge, kHit, kTraceLink, kMiss, kExit, kRetire, kGrow };
void count(Counters& counters, Event event);
void count_stop(Counters& counters, recorder::Stop stop);
void count_left_out(Counters& counters, LeftOut reason);
// Counts a function that is not traced because of the C stack that was left when it was first called.
void count_first_call_left_out();
// A sentence for each reason for which calls of the process ran as written.
std::vector<std::string> left_out_texts();
void count_limit(Counters& counters, replay::Limit limit, std::uint64_t times = 1);

void start_events();
std::vector<std::string> stop_events();

enum class Topic : std::uint8_t { kRecord, kGraph, kGuards, kReplay, kExits, kCache, kSteps, kLoops, kKernels, kCode };
// Topic names as in TAGALONG_LOG ("all" for each); unknown names are ignored here, the options table refuses them.
void set_log(const std::vector<std::string>& topics);
bool is_logged(Topic topic);
void log(Topic topic, const std::string& text);
// From now on the log has the last fusion group that a quota lets be formed (replay/ir/stages.h).
void log_last_group();

}  // namespace tagalong::runtime
