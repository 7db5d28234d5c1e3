#include <unistd.h>

#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "monitor/run_directory.hpp"
#include "monitor/run_follower.hpp"
#include "monitor/screen.hpp"

namespace spillway {
namespace {

constexpr double kRedrawnEvery_s = 1;

void print_frame(RunFollower& run) {
  run.look();
  Window window;
  window.unicode = shows_unicode();
  for (auto const& line : top_frame(run.run(), run.silent_s(), window)) print_result(line + "\n");
}

}  // namespace

Status run_top(std::string const& run_dir) {
  require_run_directory(run_dir);
  RunFollower run(run_dir);
  if (::isatty(STDOUT_FILENO) == 0) {
    print_frame(run);
    return Status::done;
  }
  Screen screen;
  do {
    run.look();
    screen.draw(top_frame(run.run(), run.silent_s(), screen.window()));
  } while (screen.wait(kRedrawnEvery_s));
  return Status::done;
}

}  // namespace spillway
