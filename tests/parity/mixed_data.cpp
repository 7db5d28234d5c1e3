// Runs over several texts in given proportions: which samples come does not depend on the number of
// ranks, and a run that is interrupted goes on to the bit.
#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::mixed_data_test {
namespace {

Keys const kKeys = {"debug.log_samples=true", "batch.micro=2"};

// Step, sample, window and epoch of all that was trained on.
using Seen = std::set<std::tuple<int, int, int, int>>;
Seen seen(Run const& run) {
  Seen all;
  for (int rank = 0; rank < 2; ++rank) {
    std::ifstream file(run.dir / fmt::format("samples-{}.txt", rank));
    for (int step, sample, window, epoch; file >> step >> sample >> window >> epoch;)
      all.insert({step, sample, window, epoch});
  }
  return all;
}

// Returns the text with its words on one line.
std::string unwrapped(std::string const& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += word + " ";
  return line;
}

class MixedRuns : public testing::Test {
 protected:
  // A second text of 12 sequences beside the first one's 187.
  static Keys mix(Experiment const& experiment, Keys const& more = {}) {
    auto const dir = experiment.directory().string();
    write_token_file(dir + "/more.h5", 800, kDocumentTokens);
    return Keys{fmt::format("data.train=[{{path: {0}/train.h5, weight: 0.75}}, "
                            "{{path: {0}/more.h5, weight: 0.25}}]",
                            dir)} +
           more;
  }
};

TEST_F(MixedRuns, go_on_to_the_bit_and_say_what_is_read_of_each) {
  for (auto const* pack : {"data.pack=false", "data.pack=true"}) {
    Experiment const experiment(fmt::format("mixed_{}", pack + 10), 0, kKeys);
    auto const keys = mix(experiment, {pack});
    auto const whole = experiment.run("whole", keys);
    ASSERT_EQ(whole.rows.size(), 6u);
    // 6 steps of 8 sequences: 36 of the one, 12 of the other.
    auto const said = unwrapped(whole.output);
    EXPECT_NE(said.find("/train.h5: 75 % of the sequences, 0.193 epochs"), said.npos) << said;
    EXPECT_NE(said.find("/more.h5: 25 % of the sequences, 1 epochs"), said.npos) << said;
    auto const resumed = experiment.resume("resumed", whole, 3, keys);
    expect_equal_steps(whole, resumed);
    expect_equal_state(whole, resumed);
    expect_samples_once(whole, 1, 6, 8);
  }
}

TEST_F(MixedRuns, have_the_same_samples_on_any_number_of_ranks) {
  Experiment const one("mixed_on_one", 1, kKeys), two("mixed_on_two", 2, kKeys);
  auto const alone = one.run("run", mix(one)), together = two.run("run", mix(two));
  auto const samples = seen(alone);
  EXPECT_EQ(samples.size(), 48u);
  EXPECT_EQ(seen(together), samples);
}

TEST_F(MixedRuns, with_other_weights_are_refused_unless_data_may_begin_anew) {
  Experiment const experiment("mixed_anew", 0, kKeys);
  auto const keys = mix(experiment);
  auto const before = experiment.run("whole", keys + Keys{"run.steps=3"});
  auto other = keys;
  other[0].replace(other[0].find("0.75"), 4, "0.25");
  auto const again = [&](char const* changed) {
    return run_command(fmt::format("{} train {}/in.yaml run.dir={} {} \"{}\" batch.micro=2",
                                   spillway_command(0), experiment.directory().string(),
                                   before.dir.string(), changed, other[0]));
  };
  auto const refused = again("");
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_NE(refused.output.find("data.train: its weights: 3 : 1 -> 1 : 1"), std::string::npos)
      << refused.output;
  EXPECT_EQ(again("data.changed=anew").status, 0);
}

}  // namespace
}  // namespace spillway::test::mixed_data_test
