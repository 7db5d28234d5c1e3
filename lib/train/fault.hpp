// `debug.fault`, read: what goes wrong on purpose, and when.
#pragma once

#include <cstdint>
#include <string>

namespace spillway {

enum class FaultKind : std::uint8_t {
  none,
  storage_read,
  storage_write,
  storage_read_all,  // all from the n-th on
  storage_write_all,
  storage_random,
  kill_rank,
};

struct FaultPlan {
  FaultKind kind = FaultKind::none;
  std::int64_t at = 0;  // the n-th read or write of a rank, or the step; from 1; or the seed
};

// "none" or "<kind>:<number>" as lib/config checked it.
inline FaultPlan parse_fault(std::string const& text) {
  auto const colon = text.find(':');
  if (colon == std::string::npos) return {};
  auto const name = text.substr(0, colon);
  auto const kind = name == "storage-read"        ? FaultKind::storage_read
                    : name == "storage-write"     ? FaultKind::storage_write
                    : name == "storage-read-all"  ? FaultKind::storage_read_all
                    : name == "storage-write-all" ? FaultKind::storage_write_all
                    : name == "storage-random"    ? FaultKind::storage_random
                                                  : FaultKind::kill_rank;
  return {kind, std::stoll(text.substr(colon + 1))};
}

}  // namespace spillway
