// What a rank says that has waited in vain for others. Pure functions.
#pragma once

#include <span>
#include <string>

namespace spillway {

struct WaitedFor {
  std::string name;
  double silent_s = 0;       // since anything of it was heard
  bool has_message = false;  // one to it or from it is under way
};

// Names the peers of which nothing was heard during half of the time or, if there are none, those
// whose messages are under way.
std::string describe_wait(double waited_s, std::span<WaitedFor const> peers);

// "rank 3", with its host where ranks are on several.
std::string rank_name(std::span<std::string const> hosts, int rank);

}  // namespace spillway
