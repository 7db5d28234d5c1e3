// Every kind of file, changed at random: no signal, no endless loop, nothing believed that is not
// so. An ordinary run takes 1,250 of 5,000 changes, and 125 to old files, for each of which a child
// process is needed; and all that a fuzzer once found worth keeping.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "file_targets.hpp"
#include "mutate.hpp"
#include "targets.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

unsigned wanted_mutations(std::string const& target) {
  return target.starts_with("old_") ? 125 : 1250;
}

// Far more than any of it takes; a SIGALRM ends the test program.
constexpr unsigned kMostSeconds = 20;

class Mutations : public testing::TestWithParam<std::string> {};

TEST_P(Mutations, end_in_one_line_or_change_nothing) {
  auto const& target = fuzz_target(GetParam());
  for (auto const& sound : target.sound) {
    ASSERT_NO_THROW(target.read(sound));
    for (auto const seed : sampled_seeds(wanted_mutations(target.name), 5000)) {
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
                                         "safetensors_header", "weight_index", "config_json",
                                         "tokenizer", "jinja", "records"),
                         [](auto const& info) { return info.param; });

TEST(Corpus, is_answered_or_believed_rightly) {
  int files = 0;
  for (auto const& target : fuzz_targets()) {
    auto const corpus =
        std::filesystem::path(SPILLWAY_SOURCE_DIR "/tests/fuzz/libfuzzer/corpus") / target.name;
    if (!std::filesystem::is_directory(corpus)) continue;
    for (auto const& file : std::filesystem::directory_iterator(corpus)) {
      ++files;
      ::alarm(kMostSeconds);
      EXPECT_NO_THROW(fuzz_once(target, read_file(file.path()))) << file.path();
    }
    ::alarm(0);
  }
  EXPECT_GT(files, 400);
}

TEST(Mutations, name_every_target) {
  EXPECT_EQ(fuzz_targets().size(), 21u);
}

}  // namespace
}  // namespace spillway::test
