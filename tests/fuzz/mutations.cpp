// Every kind of file, 5,000 times changed: no signal, no endless loop, nothing believed that is not
// so. Old files, for each of which a child process is needed, are changed 500 times here and 5,000
// times with the label `long`: SPILLWAY_MUTATIONS sets the number for all.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.hpp"
#include "mutate.hpp"
#include "targets.hpp"

namespace spillway::test {
namespace {

std::uint64_t wanted_mutations(std::string const& target) {
  auto const* const text = std::getenv("SPILLWAY_MUTATIONS");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return target.starts_with("old_") ? 500 : 5000;
}

// Far more than any of it takes; a SIGALRM ends the test program.
constexpr unsigned kMostSeconds = 20;

class Mutations : public testing::TestWithParam<std::string> {};

TEST_P(Mutations, end_in_one_line_or_change_nothing) {
  auto const& target = fuzz_target(GetParam());
  for (auto const& sound : target.sound) {
    ASSERT_NO_THROW(target.read(sound));
    for (std::uint64_t seed = 0; seed < wanted_mutations(target.name); ++seed) {
      ::alarm(kMostSeconds);
      try {
        fuzz_once(target, mutated(sound, seed));
      } catch (std::exception const& finding) {
        ADD_FAILURE() << "seed " << seed << ": " << finding.what();
      }
    }
    ::alarm(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Mutations,
                         testing::Values("yaml", "machine", "profile", "program", "manifest",
                                         "seal", "shard", "tokens", "llmc_tokens", "old_manifest",
                                         "old_shard", "old_tokens", "index", "head", "safetensors",
                                         "safetensors_header", "weight_index", "config_json"),
                         [](auto const& info) { return info.param; });

TEST(Mutations, name_every_target) {
  EXPECT_EQ(fuzz_targets().size(), 18u);
}

}  // namespace
}  // namespace spillway::test
