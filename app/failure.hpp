// Says what an exception means for the user of the program.
#pragma once

#include <exception>
#include <string>

namespace spillway {

struct Failure {
  int exit = 1;          // the exit status of the process
  std::string text;      // "" if another rank tells it
  bool is_ours = false;  // whether it is no mistake of the program
};

Failure failure_of(std::exception const& error);

}  // namespace spillway
