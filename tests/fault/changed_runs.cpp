// Runs that are gone on with by other commands, or with other data, or that one command begins and
// goes on with: what is different is said, and no run becomes another one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "fault_test.hpp"
#include "io/file/seal.hpp"

namespace spillway::test::changed_runs_test {
namespace {

namespace fs = std::filesystem;

// The row of how the last job has begun, before that of its end.
nlohmann::json last_begin(fs::path const& run_dir) {
  auto events = read_events(run_dir);
  std::erase_if(events, [](auto const& row) { return row.at("event") == "end"; });
  return events.back();
}

class ChangedRuns : public FaultTest {
 protected:
  static bool says(Outcome const& outcome, std::string const& text) {
    return outcome.output.find(text) != std::string::npos;
  }
  // The (epoch, window) of every sample of the run, in their order.
  std::vector<std::pair<int, int>> windows(std::string const& run) const {
    std::ifstream file(m_dir / run / "samples-0.txt");
    std::vector<std::pair<int, int>> result;
    for (int step, sample, window, epoch; file >> step >> sample >> window >> epoch;)
      result.emplace_back(epoch, window);
    return result;
  }
  // Text of its own for every `seed`.
  void write_tokens(std::string const& name, int seed, int count) const {
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>('a' + (i * seed + i / 7) % 23);
    write(name + ".txt", text);
    auto const made = run_command(spillway_command(kAlone) + " tokenize --tokenizer byte -o " +
                                  path(name) + " " + path(name + ".txt"));
    ASSERT_EQ(made.status, 0) << made.output;
  }
  // Documents of 2 to 40 tokens, and one of one.
  void write_documents(std::string const& name, int seed, int count) const {
    fs::create_directory(m_dir / "texts");
    std::string files;
    for (int i = 0; i < count; ++i) {
      auto const file = fmt::format("texts/{}-{}", seed, i);
      write(file,
            std::string(static_cast<std::size_t>(i == 9 ? 1 : 2 + i * seed % 39), 'a' + i % 23));
      files += " " + path(file);
    }
    auto const made = run_command(spillway_command(kAlone) + " tokenize --tokenizer byte -o " +
                                  path(name) + files);
    ASSERT_EQ(made.status, 0) << made.output;
  }
};

TEST_F(ChangedRuns, say_each_key_that_differs_and_keep_both_configurations) {
  ASSERT_EQ(train("optim.lr=1e-3 run.steps=2").status, 0);
  EXPECT_FALSE(fs::exists(m_dir / "run/config-0.yaml"));
  auto const outcome = train("optim.lr=5e-4 optim.clip=0.5 batch.sequences=12 run.steps=4");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (auto const* line : {"optim.lr 0.001 -> 0.0005", "optim.clip 1 -> 0.5",
                           "batch.sequences 8 -> 12", "run.steps 2 -> 4"})
    EXPECT_TRUE(says(outcome, std::string("spillway: info: ") + line + "\n")) << outcome.output;
  EXPECT_NE(read("run/config-0.yaml").find("lr: 0.001\n"), std::string::npos);
  EXPECT_NE(read("run/config-2.yaml").find("lr: 0.0005\n"), std::string::npos);
  EXPECT_EQ(read("run/config-2.yaml"), read("run/config.yaml"));

  auto const same = train("optim.lr=5e-4 optim.clip=0.5 batch.sequences=12 run.steps=5");
  EXPECT_TRUE(says(same, "run.steps 4 -> 5")) << same.output;
  EXPECT_FALSE(says(same, "optim.lr")) << same.output;
}

// A job that began another run here, and ended before its first checkpoint, changed nothing of it.
TEST_F(ChangedRuns, keep_what_they_began_with_and_leave_it_to_no_other_run) {
  ASSERT_EQ(train("optim.lr=1e-3 run.steps=2").status, 0);
  write("run/config-mine.yaml", "mine");
  auto const anew = std::string("optim.lr=7e-4 run.checkpoint.resume=never ");
  ASSERT_EQ(train(anew + "debug.fault=kill-rank:1").status, 137);
  ASSERT_NE(read("run/config.yaml").find("lr: 0.0007\n"), std::string::npos);
  ASSERT_EQ(train("optim.lr=5e-4 run.steps=4").status, 0);
  EXPECT_NE(read("run/config-0.yaml").find("lr: 0.001\n"), std::string::npos);

  auto const other = train(anew + "run.steps=1");
  ASSERT_EQ(other.status, 0) << other.output;
  for (auto const* name : {"config-0.yaml", "config-2.yaml"}) {
    EXPECT_FALSE(fs::exists(m_dir / "run" / name)) << name;
    EXPECT_TRUE(fs::exists(m_dir / "run/earlier-1" / name)) << name;
  }
  EXPECT_EQ(read("run/config-mine.yaml"), "mine");

  fs::remove_all(m_dir / "run/step-1");  // by hand, with less than all that belongs to it
  fs::remove(m_dir / "run/latest");
  write("run/config-7.yaml", "of a run that is gone");
  ASSERT_EQ(train("run.steps=1").status, 0);
  EXPECT_FALSE(fs::exists(m_dir / "run/config-7.yaml"));
}

TEST_F(ChangedRuns, do_not_differ_by_where_and_how_long_a_job_works) {
  fs::create_directory(m_dir / "nvme-2");
  fs::create_directory(m_dir / "nvme-3");
  ASSERT_EQ(train(spilling() + "run.steps=4 run.checkpoint.every=2").status, 0);
  write("run/latest", "step-2\n");
  fs::rename(m_dir / "run", m_dir / "moved");
  auto const outcome = train(spilling() + "run.steps=4 run.checkpoint.every=2 run.max_time=5h " +
                             "run.dir=" + path("moved") + " memory.nvme.path=[" + path("nvme-2") +
                             "," + path("nvme-3") + "]");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_FALSE(says(outcome, " -> ")) << outcome.output;
  EXPECT_FALSE(fs::exists(m_dir / "moved/config-0.yaml"));
  EXPECT_FALSE(last_begin(m_dir / "moved").contains("changed"));
}

TEST_F(ChangedRuns, name_a_seed_that_is_another) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto const outcome = train("run.steps=3 run.seed=5");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "warning: run.seed: 1 -> 5\n")) << outcome.output;
  EXPECT_TRUE(says(outcome, "the epoch under way is completed first")) << outcome.output;
}

// What it does not want need not be readable.
TEST_F(ChangedRuns, begin_anew_beside_a_checkpoint_of_a_version_to_come) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto const later = sealed("{\"version\":99}\n");
  write("run/step-2/seal", later);
  EXPECT_TRUE(
      fails_with(2, "step-2/seal: checkpoint format 99 is not known", train("run.steps=3")));
  auto const never = train("run.steps=3 run.checkpoint.resume=never");
  ASSERT_EQ(never.status, 0) << never.output;
  EXPECT_EQ(read("run/latest"), "step-3\n");
  EXPECT_EQ(read("run/earlier-1/step-2/seal"), later);
}

TEST_F(ChangedRuns, of_keys_that_are_not_known_here_are_left_to_another_directory) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto text = unsealed(read("run/step-2/seal"));
  auto const key = text.find("weight_decay:");
  ASSERT_NE(key, text.npos);
  write("run/step-2/seal", sealed(text.insert(key, "later_")));
  auto const weights = train("run.steps=3 run.checkpoint.resume=weights");
  EXPECT_TRUE(fails_with(2, "later_weight_decay: unknown key", weights));
  EXPECT_TRUE(fails_with(2, "; another run.dir begins another run", weights));
  EXPECT_EQ(train("run.steps=3 run.checkpoint.resume=never").status, 0);
}

TEST_F(ChangedRuns, mark_every_start_in_the_metrics) {
  ASSERT_EQ(train("run.steps=4 run.checkpoint.every=2").status, 0);
  write("run/latest", "step-2\n");
  ASSERT_EQ(train("run.steps=4 run.checkpoint.every=2 optim.lr=1e-4").status, 0);
  ASSERT_EQ(train("run.steps=1 run.checkpoint.resume=never").status, 0);
  std::string story;
  for (auto const& row : read_rows(m_dir / "run")) {
    if (row.contains("event")) story += row["event"].get<std::string>() + " ";
    story += row["step"].dump() + " ";
  }
  EXPECT_EQ(story, "start 0 1 2 3 4 end 4 resume 2 3 4 end 4 start 0 1 end 1 ");
  EXPECT_EQ(read_events(m_dir / "run").back().at("exit"), 0);
  auto const resumed = read_events(m_dir / "run").at(2);
  EXPECT_GT(resumed.at("predicted_step_s"), 0);
  EXPECT_EQ(resumed.at("time").get<std::string>().size(), 20u);
  EXPECT_EQ(resumed.at("from"), path("run/step-2"));
  EXPECT_EQ(resumed.at("changed").size(), 1u) << resumed;
}

TEST_F(ChangedRuns, complete_an_epoch_before_files_that_were_added) {
  for (int seed : {3, 5, 7}) write_tokens(fmt::format("{}.h5", seed), seed, 3000);
  fs::create_directory(m_dir / "data");
  for (auto const* name : {"5.h5", "7.h5"}) fs::copy(m_dir / name, m_dir / "data" / name);
  auto const keys = "debug.log_samples=true data.train=" + path("data") + "/*.h5 ";
  ASSERT_EQ(train(keys + "run.steps=9").status, 0);  // 72 of 93 windows
  fs::copy(m_dir / "3.h5", m_dir / "data/3.h5");     // sorted before the others
  auto const added = train(keys + "run.steps=16");   // 128
  ASSERT_EQ(added.status, 0) << added.output;
  EXPECT_TRUE(says(added, "3.h5 (3000 tokens) is new")) << added.output;
  EXPECT_TRUE(says(added, "begin after sample 139")) << added.output;
  fs::rename(m_dir / "data", m_dir / "moved");
  auto const moved =
      train("debug.log_samples=true run.steps=25 data.train=" + path("moved") + "/*.h5");  // 200
  ASSERT_EQ(moved.status, 0) << moved.output;
  EXPECT_FALSE(says(moved, "warning: data.train: ")) << moved.output;
  auto const all = windows("run");
  ASSERT_EQ(all.size(), 200u);
  // Where a window begins in 5.h5 with 7.h5 behind it, or else in 3.h5: the first job has only the
  // former; for the next ones they lie 3000 tokens further on, 46 windows and some tokens.
  using Text = std::pair<bool, int>;
  auto const text = [](int sample, int window) {
    bool const is_old = sample < 72 || window >= 46;
    return Text(is_old, 64 * (sample >= 72 && is_old ? window - 46 : window));
  };
  std::set<Text> completed, expected;
  for (int sample = 0; sample < 139; ++sample) {
    EXPECT_EQ(all[static_cast<std::size_t>(sample)].first, 0) << sample;
    completed.insert(text(sample, all[static_cast<std::size_t>(sample)].second));
  }
  for (int window = 0; window < 93; ++window) expected.emplace(true, 64 * window);
  for (int window = 0; window < 46; ++window) expected.emplace(false, 64 * window);
  EXPECT_EQ(completed, expected) << "no text twice, and none left out";
  std::set<int> later;
  for (std::size_t sample = 139; sample < all.size(); ++sample) {
    EXPECT_EQ(all[sample].first, 1) << sample;
    later.insert(all[sample].second);
  }
  EXPECT_EQ(later.size(), 61u);
}

TEST_F(ChangedRuns, refuse_other_text_within_an_epoch_unless_asked_to_begin_one) {
  write_tokens("a.h5", 3, 3000);
  write_tokens("b.h5", 5, 3000);
  auto const keys = "data.train=" + path("a.h5") + " ";
  ASSERT_EQ(train(keys + "run.steps=2").status, 0);
  fs::rename(m_dir / "b.h5", m_dir / "a.h5");  // as long as it
  EXPECT_TRUE(fails_with(2, "data.train: " + path("a.h5") + ", 3000 tokens, is there no more, or",
                         train(keys + "run.steps=3", kTwoRanks)));
  auto const anew = train(keys + "run.steps=3 data.changed=anew");
  EXPECT_EQ(anew.status, 0) << anew.output;
  EXPECT_TRUE(says(anew, "begin an epoch here, after sample 16")) << anew.output;
  auto const again = train(keys + "run.steps=4 data.changed=anew");
  EXPECT_EQ(again.status, 0);
  EXPECT_FALSE(says(again, "begin an epoch here")) << again.output;
  EXPECT_EQ(train(keys + "run.steps=4").status, 0) << "nothing to do, whatever the data are";
}

// A run whose order has the validation text in it, as earlier versions trained on it.
TEST_F(ChangedRuns, leave_out_the_validation_text_and_say_so) {
  fs::create_directory(m_dir / "data");
  write_tokens("data/a.h5", 3, 3000);
  write_tokens("data/valid.h5", 5, 3000);
  fs::create_symlink("a.h5", m_dir / "data/latest.h5");
  auto const all = "debug.log_samples=true data.train=" + path("data") + "/*.h5 ";
  auto const valid = all + "data.valid=" + path("data/valid.h5") + " ";
  auto const out = train(valid + "run.steps=12");  // 96 samples, an epoch of 93 windows
  ASSERT_EQ(out.status, 0) << out.output;
  EXPECT_TRUE(
      says(out, "data.train: " + path("data/valid.h5") + " is data.valid's and is not trained on"))
      << out.output;
  EXPECT_TRUE(says(
      out, "data.train: " + path("data/a.h5") + " comes twice (as " + path("data/latest.h5") + ")"))
      << out.output;
  auto const seen = windows("run");
  EXPECT_EQ(std::ranges::max_element(seen, {}, &std::pair<int, int>::second)->second, 92);

  ASSERT_EQ(train(all + "run.steps=2 run.dir=" + path("with")).status, 0);
  auto const within = train(valid + "run.steps=4 run.dir=" + path("with"));
  EXPECT_TRUE(fails_with(2, "valid.h5, 3000 tokens, is there no more", within));
  EXPECT_TRUE(says(within, "valid.h5 is data.valid's and is not trained on")) << within.output;
  EXPECT_EQ(train(all + "run.steps=4 run.dir=" + path("with")).status, 0);

  EXPECT_TRUE(fails_with(2, "valid.h5 is data.valid's too, and nothing else is left",
                         train(valid + "data.train=" + path("data/valid.h5"))));
}

TEST_F(ChangedRuns, refuse_windows_of_another_length_within_an_epoch) {
  auto const llama = std::string("model.family=llama ");
  ASSERT_EQ(train(llama + "run.steps=1").status, 0);
  EXPECT_TRUE(fails_with(2, "data.sequence: windows of 64 tokens have become windows of 32",
                         train(llama + "run.steps=2 data.sequence=32")));
  EXPECT_EQ(train(llama + "run.steps=2 data.sequence=32 data.changed=anew").status, 0);
}

// Windows of packed spans end where rows are full: how many there are is not known by the number of
// tokens, and a window is known by its first one.
TEST_F(ChangedRuns, cut_packed_spans_as_they_did_when_they_began) {
  fs::create_directories(m_dir / "data");
  write_documents("data/m.h5", 3, 100);
  auto const keys =
      "model.family=t5 model.vocab=600 data.pack=true debug.log_samples=true "
      "debug.locked_allocator=true "
      "data.train=" +
      path("data") + "/*.h5 ";
  ASSERT_EQ(train(keys + "run.steps=4 run.dir=" + path("whole")).status, 0);
  ASSERT_EQ(train(keys + "run.steps=2").status, 0);
  ASSERT_EQ(train(keys + "run.steps=4").status, 0);
  EXPECT_EQ(bits("run"), bits("whole"));

  EXPECT_TRUE(fails_with(2, "data.eos_id: windows of up to 70 tokens that end where 64 or 14 rows",
                         train(keys + "run.steps=5 data.target=20")));
  write_documents("data/b.h5", 5, 30);  // sorted before the other
  ASSERT_EQ(train(keys + "run.steps=7").status, 0);
  auto const added = train(keys + "run.steps=20");
  ASSERT_EQ(added.status, 0) << added.output;
  EXPECT_TRUE(says(added, "data.train: 2 of ")) << added.output;  // a document of each file
  std::map<int, std::multiset<int>> firsts;                       // of each epoch
  auto const all = windows("run");
  for (auto sample = 32u; sample < all.size(); ++sample)  // before, files lay otherwise
    firsts[all[sample].first].insert(all[sample].second);
  ASSERT_GE(firsts.size(), 2u);
  for (auto const& [epoch, of_epoch] : firsts)
    EXPECT_EQ(std::set(of_epoch.begin(), of_epoch.end()).size(), of_epoch.size()) << epoch;

  // Another version might cut the text otherwise under the same name.
  auto text = unsealed(read("run/step-20/seal"));
  std::string const key = R"(\"windows\":)";
  auto const number = text.rfind(key);
  ASSERT_NE(number, text.npos);
  write("run/step-20/seal", sealed(text.insert(number + key.size(), "1")));
  EXPECT_TRUE(fails_with(5, " windows of a text that has ", train(keys + "run.steps=21")));
}

TEST_F(ChangedRuns, say_which_threads_auto_takes) {
  ASSERT_EQ(train("run.steps=1 run.threads=3").status, 0);
  auto const outcome = run_command("taskset -c 0 " + train_command("run.steps=2 run.threads=auto"));
  EXPECT_TRUE(says(outcome,
                   "info: run.threads: auto takes the checkpoint's 3, since sums depend on it; a "
                   "rank has 1 core here\n"))
      << outcome.output;
}

// As job scripts give it: the same command after every stop.
TEST_F(ChangedRuns, that_one_command_begins_go_on_by_it_until_they_are_done) {
  ASSERT_EQ(train("run.dir=" + path("source")).status, 0);
  for (auto const* how : {"never", "weights"}) {
    fs::remove_all(m_dir / "run");
    ASSERT_EQ(train("").status, 0);  // another run, that is set aside
    auto const keys = fmt::format("run.init={} run.checkpoint.resume={} run.steps=6 ",
                                  path("source/step-4"), how);
    // Killed before its first checkpoint it begins once more.
    EXPECT_EQ(train(keys + "debug.fault=kill-rank:2").status, 137);
    EXPECT_EQ(train(keys + "run.checkpoint.every=2 debug.fault=kill-rank:4").status, 137);
    EXPECT_EQ(read("run/latest"), "step-2\n");
    auto const outcome = train(keys);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, fmt::format("resume={} began this run, and counts once", how)))
        << outcome.output;
    EXPECT_EQ(last_begin(m_dir / "run").at("step"), 2);
    EXPECT_EQ(read("run/latest"), "step-6\n");
    EXPECT_FALSE(fs::exists(m_dir / "run/earlier-2"));
    ASSERT_EQ(train(keys).status, 0);  // what is done is begun anew
    EXPECT_TRUE(fs::exists(m_dir / "run/earlier-2"));
    EXPECT_EQ(last_begin(m_dir / "run").at("step"), 0);
  }
}

TEST_F(ChangedRuns, of_two_inputs_are_in_two_directories) {
  auto text = read("job.yaml");
  auto const at = text.find("dir: " + path("run") + ", ");
  text.erase(at, std::string("dir: " + path("run") + ", ").size());
  write("one.yaml", text);
  write("two.small.yaml", text);
  auto const here = "cd " + m_dir.string() + " && ";
  auto const train = here + spillway_command(kAlone) + " train ";
  ASSERT_EQ(run_command(train + "one.yaml run.steps=1").status, 0);
  ASSERT_EQ(run_command(train + path("two.small.yaml") + " run.steps=1").status, 0);
  ASSERT_EQ(run_command(train + "/dev/stdin run.steps=1 < one.yaml").status, 0);
  for (auto const* name : {"one", "two.small", "stdin"})
    EXPECT_TRUE(fs::exists(m_dir / "runs" / name / "latest")) << name;
}

// As run.dir is; one that an absolute path names may be where a disk is not mounted.
TEST_F(ChangedRuns, make_the_directory_of_the_spill_file_below_where_they_are_started) {
  auto const keys = std::string(" memory.nvme.size=64MiB plan.activations=nvme memory.nvme.path=");
  auto const here = "cd " + m_dir.string() + " && ";
  auto const made = run_command(here + train_command(keys + "spill/here"));
  EXPECT_EQ(made.status, 0) << made.output;
  auto const planned = run_command(here + spillway_command(kAlone) + " plan " + path("job.yaml") +
                                   keys + "for/plan debug.machine=none run.threads=1");
  EXPECT_EQ(planned.status, 0) << planned.output;
  EXPECT_TRUE(fails_with(2, "memory.nvme.path: no spill file in " + path("none"),
                         train(keys + path("none"))));
  EXPECT_FALSE(fs::exists(m_dir / "none"));
}

TEST_F(ChangedRuns, name_the_attempt_that_wrote_their_summary) {
  auto const outcome = run_command("SPILLWAY_JOB=12.head.7 " + train_command("run.steps=1"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_summary(m_dir / "run").at("job"), "12.head.7");
  EXPECT_EQ(read_events(m_dir / "run").at(0).at("job"), "12.head.7");
}

TEST_F(ChangedRuns, count_no_row_that_is_empty) {
  write("machine.yaml", with_tested_memory("matmul_gflops: {fp32: 10}\npeak_gflops: {fp32: 10}\n"
                                           "memory_gbps: 10\n"));
  auto const keys = "debug.machine=" + path("machine.yaml") +
                    " precision=fp32 run.steps=2 batch.sequences=6 batch.micro=";
  auto const all = train(keys + "3"), some = train(keys + "4 run.dir=" + path("other"));
  ASSERT_EQ(some.status, 0) << some.output;
  EXPECT_FALSE(says(all, "are empty"));
  EXPECT_TRUE(says(some, "2 of 8 rows (25 %) of a step are empty")) << some.output;
  auto const flops = [&](char const* run) {  // times what is the same for both
    auto const row = read_metrics(m_dir / run).back();
    return row.at("mfu").get<double>() * row.at("step_s").get<double>();
  };
  EXPECT_NEAR(flops("run") / flops("other"), 1, 0.01);
}

}  // namespace
}  // namespace spillway::test::changed_runs_test
