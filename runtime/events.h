// What happened, in order: counters for each function and for the process, and the exact sequence for tests and logs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "recorder/session.h"

namespace tagalong::runtime {

struct Counters {
  std::uint64_t records = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t exits = 0;
  std::uint64_t bridges = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t retired = 0;
  std::uint64_t grown = 0;
  std::array<std::uint64_t, 32> stops{};  // by recorder::Stop
  replay::Reached limits{};               // how often each was reached
  // In the totals only: how many functions were recorded at least once, and replayed at least once.
  std::uint64_t functions_recorded = 0;
  std::uint64_t functions_replayed = 0;
};

Counters& totals();

enum class Event : std::uint8_t { kRecord, kBridge, kHit, kStitch, kMiss, kExit, kRetire, kGrow };
void count(Counters& counters, Event event);
void count_stop(Counters& counters, recorder::Stop stop);
void count_limit(Counters& counters, replay::Limit limit, std::uint64_t times = 1);

void start_events();
std::vector<std::string> stop_events();

enum class Topic : std::uint8_t { kRecord, kGraph, kGuards, kReplay, kExits, kCache };
// Topic names as in TAGALONG_LOG ("all" for each); unknown names are ignored here, the options table refuses them.
void set_log(const std::vector<std::string>& topics);
bool is_logged(Topic topic);
void log(Topic topic, const std::string& text);

}  // namespace tagalong::runtime
