// Plants failing or fatal calls of libc in a command: see preload/planted.hpp.
#pragma once

#include <string>
#include <vector>

namespace spillway::test {

struct Planted {
  std::string calls = {};       // "fsync,rename"
  std::string path = {};        // that contain this; empty: all
  std::string what = {};        // "ENOSPC", "kill", "hang", "stop"; empty: they are only counted
  std::string at = {};          // "3", "3-5", "3-"; empty: all
  std::string kind = {};        // "directory", "file"; empty: both
  std::string rank = {};        // of mpirun; empty: all
  std::string after = {};       // text that was written to stderr; empty: from the start
  std::string count_file = {};  // gets a line a counted call; empty: none
  int stride = 1;               // every so manieth write, pwrite and pread is counted
  bool writes_half = false;
  bool no_exchange = false;  // of names, as on a network file system
};

// What stands before a command for /bin/sh: "LD_PRELOAD=... SPILLWAY_FAULT_CALLS=... ".
std::string planted(Planted const& fault);

// What stands before a command on a machine of such a load, and with room for so many threads.
std::string crowded(std::string const& load, int threads = 1000);

// False where programs cannot be preloaded: sanitizers want to come first.
bool can_preload();

}  // namespace spillway::test
