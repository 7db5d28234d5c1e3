// From what a run starts, with which counts, and what is said of it.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/log.hpp"
#include "comm/comm.hpp"
#include "config/difference.hpp"
#include "config/print.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "state/checkpoints.hpp"
#include "state/resume.hpp"
#include "tests/support/refusals.hpp"
#include "tests/support/two_ranks.hpp"
#include "tests/unit/state/tiny_state.hpp"

namespace spillway::test::start_words_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::optional<Resume>, 3> kStarts = {std::nullopt, Resume::never,
                                                          Resume::weights};

class StartWords : public testing::Test {
 protected:
  StartWords() {
    set_up_log(true);
    fs::remove_all(m_dir);
    m_config.run.dir = (m_dir / "run").string();
    m_config.run.seed = 21;
    m_config.run.steps = 40;
    m_config.model.vocab = kTinyVocab;
  }
  ~StartWords() override { fs::remove_all(m_dir); }

  // A state of which no two numbers are alike.
  RunState state_of(Config const& config, std::int64_t step) const {
    auto arithmetic = tiny_arithmetic(config);
    arithmetic.threads = 5;
    arithmetic.precision = Precision::bf16;
    return {.step = step,
            .updates = step - 1,
            .samples = 300,
            .tokens = 4000,
            .seed = 99,
            .vocab = kTinyVocab,
            .tokenizer = "words",
            .arithmetic = arithmetic,
            .config = to_yaml(config),
            .data = R"({"window":64})"};
  }
  void save(Config const& config, std::int64_t step, CarriedFiles const& carried = {}) {
    SaveSettings settings{.keep = 9, .begins_anew = false, .carried = &carried};
    auto const run = config.run.dir;
    save_checkpoint(run, m_state.model, state_of(config, step), settings, *m_comm);
  }
  // All that a start prints and finds.
  void start(std::string const& what, Config const& config,
             std::string const& tokenizer = "words") {
    testing::internal::CaptureStderr();
    std::string found;
    m_said.add(what, [&] {
      auto const resumption = find_resumption(config, kTinyVocab);
      auto const carried = carried_by(resumption);
      auto arithmetic = tiny_arithmetic(config);
      arithmetic.ranks = 3;
      if (resumption) say_difference(*resumption, arithmetic);
      auto const state = start_model(config, kTinyVocab, {tokenizer, {}}, arithmetic, resumption,
                                     m_state.model, *m_comm)
                             .state;
      for (auto const& file : carried) found += "carries " + file.name + "\n";
      if (resumption && resumption->imported) found += "imported\n";
      if (resumption)
        for (auto const& key : differences(stored_config(*resumption), config)) found += key + "\n";
      found +=
          fmt::format("step {}, {} updates, {} samples, {} tokens, seed {}, vocab {}, {}, {}\n",
                      state.step, state.updates, state.samples, state.tokens, state.seed,
                      state.vocab, state.tokenizer, state.data);
      EXPECT_EQ(state.arithmetic, arithmetic);
      EXPECT_EQ(state.config, to_yaml(config));
    });
    auto const said = testing::internal::GetCapturedStderr();
    m_said.say("  said", said.substr(0, said.size() - 1));
    m_said.say("  found", found.substr(0, found.size() - 1));
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_start_words";
  std::unique_ptr<Comm> const m_comm = make_single_rank_comm();
  Config m_config = tiny_config();
  TinyState m_state{m_config};
  Refusals m_said{m_dir};
};

TEST_F(StartWords, of_a_run_that_is_there_depend_on_what_began_it) {
  auto const with = [&](std::optional<Resume> resume) {
    auto config = m_config;
    config.run.checkpoint.resume = resume;
    return config;
  };
  for (auto const resume : kStarts)
    start(fmt::format("{}, nothing there", word(resume)), with(resume));
  for (auto const began : kStarts) {
    fs::remove_all(m_config.run.dir);
    save(with(began), 12);
    for (auto const resume : kStarts)
      start(fmt::format("{} of {}", word(resume), word(began)), with(resume));
  }
  auto done = with(Resume::weights);
  done.run.steps = 12;
  start("weights of weights that has its steps", done);
  auto from = with(Resume::weights);
  from.run.init = m_config.run.dir;
  start("weights of weights with another start", from);
  auto other = m_config;
  other.optim.lr = 0.5;
  other.run.eval_batches = 3;
  start("other keys", other);
  other.model.heads = 4;
  start("another model", other);
  m_said.expect_frozen("starts");
}

TEST_F(StartWords, of_another_run_s_weights_name_its_tokens_and_files) {
  auto from = m_config;
  from.run.dir = (m_dir / "from").string();
  save(from, 30);
  m_config.run.init = from.run.dir;
  start("a run's", m_config);
  start("bytes", m_config, kByteTokenizer);
  save(from, 31, {{"a", kFileMode, "text"}, {"b", kFileMode, "more"}});
  std::ofstream(m_dir / "from/step-31/huggingface/b") << "other";
  start("what is carried", m_config);
  for (int i = 0; i < 9; ++i)
    std::ofstream(m_dir / fmt::format("from/step-31/stranger-{}", i)) << i;
  start("strangers", m_config);
  m_config.run.init = (m_dir / "none").string();
  start("a missing one", m_config);
  m_said.expect_frozen("starts_elsewhere");
}

TEST_F(StartWords, of_all_ranks_are_said_once) {
  auto from = m_config;
  from.run.dir = (m_dir / "from").string();
  save(from, 30);
  m_config.run.init = from.run.dir;
  auto const says = [&](int rank) {
    TwoRanks comm(rank, TwoRanks::On::one_node, [](std::span<std::byte>) {});
    testing::internal::CaptureStderr();
    start_model(m_config, kTinyVocab, {kByteTokenizer, {}}, tiny_arithmetic(m_config),
                find_resumption(m_config, kTinyVocab), m_state.model, comm);
    return testing::internal::GetCapturedStderr().find("warning: ") != std::string::npos;
  };
  EXPECT_TRUE(says(0));
  EXPECT_FALSE(says(1));
}

// As many as are named.
TEST_F(StartWords, of_strangers_name_eight_and_count_the_others) {
  save(m_config, 30);
  CheckpointReader const checkpoint(m_dir / "run/step-30");
  auto const said = [&] {
    testing::internal::CaptureStderr();
    warn_of_foreign_files(checkpoint);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(), "");
  std::string names;
  for (int i = 0; i < 8; ++i) {
    std::ofstream(m_dir / fmt::format("run/step-30/stranger-{}", i)) << i;
    names += fmt::format("{}stranger-{}", i == 0 ? "" : ", ", i);
  }
  auto const line = "spillway: warning: " + (m_dir / "run/step-30").string() +
                    ": passed over, for the checkpoint does not have them: " + names;
  EXPECT_EQ(said(), line + "\n");
  std::ofstream(m_dir / "run/step-30/stranger-8") << 8;
  std::ofstream(m_dir / "run/step-30/stranger-9") << 9;
  EXPECT_EQ(said(), line + " and 2 more\n");
}

TEST_F(StartWords, of_keys_that_are_not_known_any_more_name_a_way_out) {
  auto state = state_of(m_config, 12);
  state.config = "what: this\n";
  SaveSettings settings{.keep = 9};
  save_checkpoint(m_config.run.dir, m_state.model, state, settings, *m_comm);
  for (auto const resume : kStarts) {
    m_config.run.checkpoint.resume = resume;
    start(std::string(word(resume)), m_config);
  }
  fs::resize_file(m_dir / "run/step-12/seal", 5);
  for (auto const resume : kStarts) {
    m_config.run.checkpoint.resume = resume;
    start(fmt::format("{}, damaged", word(resume)), m_config);
  }
  m_said.expect_frozen("starts_damaged");
}

TEST_F(StartWords, of_a_state_that_is_damaged_name_its_entry) {
  auto const texts = to_texts(state_of(m_config, 12));
  auto const with = [&](char const* key, char const* value) {
    auto changed = texts;
    value == nullptr ? static_cast<void>(changed.erase(key))
                     : static_cast<void>(changed[key] = value);
    m_said.add(fmt::format("{}: {}", key, value == nullptr ? "none" : value),
               [&] { run_state(changed, "/step-12"); });
  };
  for (auto const& [key, text] : texts) with(key.c_str(), nullptr);
  for (auto const* key : {"step", "updates", "samples", "tokens", "seed", "vocab"})
    for (auto const* value : {"", "-1", "0", "1152921504606846976", "1152921504606846977"})
      with(key, value);
  with("updates", "12");
  with("updates", "13");
  with("vocab", "1");
  m_said.expect_frozen("run_state");
}

TEST_F(StartWords, of_a_save_that_begins_anew_say_where_the_others_are) {
  save(m_config, 3);
  std::ofstream(m_dir / "run/config-0.yaml") << "";
  SaveSettings settings{.keep = 1, .begins_anew = true};
  testing::internal::CaptureStderr();
  save_checkpoint(m_config.run.dir, m_state.model, state_of(m_config, 1), settings, *m_comm);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "spillway: info: the checkpoints that were here are in " +
                (m_dir / "run/earlier-1").string() + " now\n");
  EXPECT_FALSE(settings.begins_anew);
  EXPECT_TRUE(fs::exists(m_dir / "run/earlier-1/step-3/seal"));
  EXPECT_TRUE(fs::exists(m_dir / "run/earlier-1/config-0.yaml"));
  EXPECT_TRUE(fs::exists(m_dir / "run/step-1/seal"));
  EXPECT_FALSE(fs::exists(m_dir / "run/step-3"));
}

}  // namespace
}  // namespace spillway::test::start_words_test
