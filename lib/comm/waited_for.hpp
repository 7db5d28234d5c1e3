// Makes the text of the error if a rank has waited for others in vain, and the names of ranks in
// it.
#pragma once

#include <span>
#include <string>

namespace spillway {

struct WaitedFor {
  std::string name;
  double silent_s = 0;       // the seconds since any message of the peer came
  bool has_message = false;  // true if a message to or from the peer is under way
};

// Returns a text that names the peers of which nothing was heard during the last half of `waited_s`
// or, if there are none, the peers whose messages are under way.
std::string describe_wait(double waited_s, std::span<WaitedFor const> peers);

// Returns a name such as "rank 3", with the rank's host behind it if the ranks are on several
// hosts.
std::string rank_name(std::span<std::string const> hosts, int rank);

}  // namespace spillway
