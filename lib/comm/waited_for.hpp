// These pure functions make the text of the error when a rank has waited for others in vain.
#pragma once

#include <span>
#include <string>

namespace spillway {

struct WaitedFor {
  std::string name;
  double silent_s = 0;       // the seconds since anything of the peer was heard
  bool has_message = false;  // true if a message to it or from it is under way
};

// Returns a text that names the peers of which nothing was heard during half of `waited_s` or, if
// there are none, the peers whose messages are under way.
std::string describe_wait(double waited_s, std::span<WaitedFor const> peers);

// Returns a name such as "rank 3", with the rank's host behind it if the ranks are on several
// hosts.
std::string rank_name(std::span<std::string const> hosts, int rank);

}  // namespace spillway
