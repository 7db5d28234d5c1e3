// A run whose every call below its directory may be its last, or may fail.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test {

class CrashTest : public FaultTest {
 protected:
  CrashTest();
  void SetUp() override;

  // What is in `run` now is where every point begins.
  void keep_start() const;
  void begin_anew() const;

  // An undisturbed run of `overrides` from the start, kept as `whole`.
  void keep_whole(std::string const& overrides, int ranks);

  // The counted calls of a run from the start, "fsync /path".
  std::vector<std::string> points(Planted fault, std::string const& overrides, int ranks) const;

  // For every so manieth of them: `fault` at that call, in a run from the start.
  using Judge = std::function<void(Outcome const&)>;
  void at_points(Planted const& fault, std::string const& overrides, int ranks, int stride,
                 Judge const& judge);

  // Restarts what a fault has left: it goes on behind what was there, ends with the bits of
  // `whole`, and leaves no file that is unknown to that. The step from
  // which it went on.
  std::int64_t expect_to_go_on(std::string const& overrides, int ranks);

  // Every checkpoint that is not marked as unfinished is complete, and `latest` names one or
  // there is none.
  void expect_sound_checkpoints() const;

  // The step from which a restart must go on at least.
  std::int64_t committed_step() const;
};

// Its job plans for a drive that is faster than any, so that activations go to it until it turns
// out to be slow; plain calls move them.
class FastDriveTest : public CrashTest {
 protected:
  FastDriveTest();
  std::string with(std::string const& overrides) const;  // what such a job needs, and these
};

}  // namespace spillway::test
