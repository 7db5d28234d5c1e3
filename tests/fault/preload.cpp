#include "preload.hpp"

#include <utility>

namespace spillway::test {

std::string planted(Planted const& fault) {
  std::string text = "LD_PRELOAD=" SPILLWAY_PLANTED " ";
  auto const set = [&](char const* name, std::string const& value) {
    if (!value.empty()) text += std::string("SPILLWAY_FAULT_") + name + "=" + value + " ";
  };
  set("CALLS", fault.calls);
  set("PATH", fault.path);
  set("DO", fault.what);
  set("AT", fault.at);
  set("KIND", fault.kind);
  set("RANK", fault.rank);
  if (!fault.after.empty()) set("AFTER", '"' + fault.after + '"');
  set("COUNT", fault.count_file);
  set("STRIDE", std::to_string(fault.stride));
  set("SHORT", fault.writes_half ? "1" : "");
  set("NO_EXCHANGE", fault.no_exchange ? "1" : "");
  return text;
}

std::string crowded(std::string const& load, int threads) {
  return "LD_PRELOAD=" SPILLWAY_CROWDED " SPILLWAY_LOAD=" + load +
         " SPILLWAY_THREADS=" + std::to_string(threads) + " ";
}

bool can_preload() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

}  // namespace spillway::test
