// Reads `debug.fault`, which says what goes wrong on purpose, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/check.hpp"

namespace spillway {

enum class FaultKind : std::uint8_t {
  none,
  storage_read,
  storage_write,
  storage_read_all,  // all reads from read `number` on
  storage_write_all,
  storage_random,
  storage_slow,     // all transfers from transfer `number` on
  drive_told_slow,  // from step `number` on, the re-planner is told that the drive is slow
  rank_told_slow,   // from step `number` to twice that, the reporter is told that a rank is slow
  kill_rank,
};

struct FaultPlan {
  FaultKind kind = FaultKind::none;
  // The number, from 1, of a transfer of each rank or of a step, or the seed of storage_random.
  std::int64_t number = 0;
};

struct FaultName {
  std::string_view name;
  FaultKind kind;
};
inline constexpr FaultName kFaultNames[] = {
    {"storage-read", FaultKind::storage_read},
    {"storage-write", FaultKind::storage_write},
    {"storage-read-all", FaultKind::storage_read_all},
    {"storage-write-all", FaultKind::storage_write_all},
    {"storage-random", FaultKind::storage_random},
    {"storage-slow", FaultKind::storage_slow},
    {"drive-told-slow", FaultKind::drive_told_slow},
    {"rank-told-slow", FaultKind::rank_told_slow},
    {"kill-rank", FaultKind::kill_rank},
};

// Makes a FaultPlan from "none" or "<kind>:<number>", which lib/config has checked.
inline FaultPlan parse_fault(std::string const& text) {
  auto const colon = text.find(':');
  if (colon == std::string::npos) return {};
  auto const name = std::string_view(text).substr(0, colon);
  auto const* const found = std::ranges::find(kFaultNames, name, &FaultName::name);
  check(found != std::end(kFaultNames), name, "is no fault that lib/config lets through");
  return {found->kind, std::stoll(text.substr(colon + 1))};
}

}  // namespace spillway
