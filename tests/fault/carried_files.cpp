// What an imported model carries from checkpoint to checkpoint, and what strangers make of it; whom
// the files of a run, an import and an export are for.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "fault_test.hpp"
#include "preload.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::carried_files_test {
namespace {

namespace fs = std::filesystem;

class CarriedFiles : public FaultTest {
 protected:
  CarriedFiles() {
    write_model_directory(m_dir / "model", directory_cases().front());
    write("in.yaml", model_and_ids(run_command(import() + " 2> " + path("stderr")).output) +
                         fmt::format(kMore, m_dir.string(), machine_file()));
    write_token_file(m_dir / "valid.h5", 3000);
  }

  std::string import() const {
    return fmt::format("{} import {} -o {}", spillway_command(kAlone), path("model"),
                       path("checkpoint"));
  }
  std::string train_imported(std::string const& overrides) const {
    return fmt::format("{} train {} {}", spillway_command(kAlone), path("in.yaml"), overrides);
  }
  Outcome export_from(std::string const& checkpoint) const {
    fs::remove_all(m_dir / "out");
    return run_command(
        fmt::format("{} export {} -o {}", spillway_command(kAlone), path(checkpoint), path("out")));
  }
  static auto count(Outcome const& outcome, std::string const& text) {
    return std::ranges::count_if(outcome.lines(),
                                 [&](auto const& line) { return line.find(text) != line.npos; });
  }
  // Every file and folder below with the permissions that it has beyond, or lacks, the wanted ones.
  std::vector<std::string> with_other_modes(std::string const& directory, mode_t mask) const {
    std::vector<std::string> found;
    for (auto const& entry : fs::recursive_directory_iterator(m_dir / directory)) {
      struct stat info {};
      ::lstat(entry.path().c_str(), &info);
      bool const is_private = entry.path().filename() == "tokenizer.json";
      mode_t const widest = entry.is_directory() ? 0777 : is_private ? 0640 : 0666;
      if ((info.st_mode & 07777) != (widest & ~mask))
        found.push_back(fmt::format("{} {:o}", entry.path().string(), info.st_mode & 07777));
    }
    return found;
  }

  static constexpr auto kMore = R"(  train: {0}/tokens.h5
  valid: {0}/valid.h5
  sequence: 32
batch: {{sequences: 2, micro: 2}}
optim: {{schedule: constant, warmup: 0}}
precision: fp32
memory: {{device: 64MiB}}
debug: {{machine: {1}}}
run: {{steps: 2, threads: 1, dir: {0}/run, init: {0}/checkpoint, eval: {{every: 0}}}}
)";
  std::vector<std::string> const m_carried = {"config.json", "tensor-types.json", "tokenizer.json"};
};

TEST_F(CarriedFiles, strangers_do_not_keep_a_run_from_saving) {
  fs::create_directory(m_dir / "run");
  write("run/huggingface", "a file");
  auto const folder = path("run/huggingface"), latest = path("run/latest");
  auto const strange = fmt::format(
      "rm {0}; mkdir {0} {0}/folder; ln -s /etc/passwd {0}/tokenizer.json; mkfifo {0}/pipe; "
      "truncate -s 1G {0}/large; cp {1} {2}; ",
      folder, latest, path("before"));
  auto const outcome = run_command(
      train_imported("run.steps=1000000 run.checkpoint.every=2 > ") + path("said") + " 2>&1 & " +
      until("test -s " + latest) + strange +
      until(fmt::format("! cmp -s {} {}", latest, path("before"))) + "kill -USR1 $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output << read("said");
  EXPECT_EQ(read("said").find("cannot"), std::string::npos) << read("said");
  auto name = read("run/latest");
  name.pop_back();
  EXPECT_EQ(names_in(m_dir / "run" / name / "huggingface"), m_carried);
}

TEST_F(CarriedFiles, strangers_in_a_checkpoint_are_named_once_and_passed_over) {
  ASSERT_EQ(run_command(train_imported("")).status, 0);
  fs::create_directory(m_dir / "run/step-2/huggingface/folder");
  write("run/step-2/huggingface/model.safetensors", "a stranger's");
  write("run/step-2/notes.txt", "mine");
  auto const words =
      "step-2: passed over, for the checkpoint does not have them: huggingface/folder, "
      "huggingface/model.safetensors, notes.txt";
  auto const exported = export_from("run/step-2");
  EXPECT_EQ(exported.status, 0) << exported.output;
  EXPECT_EQ(count(exported, words), 1) << exported.output;
  EXPECT_EQ(tensors_in(m_dir / "out").size(), tensors_in(m_dir / "model").size());
  auto const trained = run_command(train_imported("run.steps=4"));
  EXPECT_EQ(trained.status, 0) << trained.output;
  EXPECT_EQ(count(trained, words), 1) << trained.output;
  EXPECT_EQ(names_in(m_dir / "run/step-4/huggingface"), m_carried);
}

TEST_F(CarriedFiles, that_are_damaged_are_the_exports_loss_alone) {
  ASSERT_EQ(run_command(train_imported("")).status, 0);
  write("run/step-2/huggingface/tokenizer.json", "another");
  auto const at = path("run/step-2"), spillway = spillway_command(kAlone);
  for (auto const& command :
       {fmt::format("{} eval {} --checkpoint {}", spillway, path("in.yaml"), at),
        fmt::format("{} generate --checkpoint {} --prompt-ids 1,2 --tokens 2", spillway, at)}) {
    auto const outcome = run_command(command);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  auto const damaged = "step-2/huggingface/tokenizer.json: is not what was written";
  EXPECT_TRUE(fails_with(5, damaged, export_from("run/step-2")));
  EXPECT_TRUE(fails_with(5, ": put it back as it was imported; the weights are unharmed",
                         export_from("run/step-2")));
  auto const trained = run_command(train_imported("run.steps=4"));
  EXPECT_EQ(trained.status, 0) << trained.output;
  EXPECT_EQ(count(trained, damaged), 1) << trained.output;
  EXPECT_EQ(names_in(m_dir / "run/step-4/huggingface"),
            (std::vector<std::string>{"config.json", "tensor-types.json"}));
  EXPECT_EQ(export_from("run/step-4").status, 0);
  write("run/step-4/huggingface/config.json", "{}");
  auto const text = run_command(fmt::format(
      "{} generate --checkpoint {} --prompt-ids 1,2 --tokens 2", spillway, path("run")));
  EXPECT_EQ(text.status, 0) << text.output;
  EXPECT_EQ(count(text, "texts begin and end as the run says"), 1) << text.output;
}

TEST_F(CarriedFiles, that_cannot_be_read_now_are_not_called_damaged) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  auto const file = "huggingface/tokenizer.json";
  auto const fault = planted({.calls = "pread", .path = file, .what = "EIO"});
  auto const outcome = run_command(fmt::format(
      "{}{} export {} -o {}", fault, spillway_command(kAlone), path("checkpoint"), path("out")));
  EXPECT_TRUE(fails_with(4, "tokenizer.json: cannot be read: Input/output error", outcome));
  EXPECT_EQ(export_from("checkpoint").status, 0);
}

TEST_F(CarriedFiles, that_cannot_be_written_leave_a_checkpoint_without_them) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  for (auto const* file : {"huggingface/tokenizer.json", "huggingface"}) {
    fs::remove_all(m_dir / "run");
    Planted const fault{.calls = std::string(file) == "huggingface" ? "mkdir" : "pwrite",
                        .path = file,
                        .what = "EDQUOT",
                        .at = "1"};
    auto const outcome = run_command(planted(fault) + train_imported("run.checkpoint.every=1"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "the checkpoint of step 1 is without the files that export puts"), 1)
        << outcome.output;
    EXPECT_EQ(names_in(m_dir / "run/step-2/huggingface"), m_carried);
    auto const from_1 = run_command(
        train_imported(fmt::format("run.dir={} run.init={}", path("other"), path("run/step-1"))));
    EXPECT_EQ(from_1.status, 0) << from_1.output;
    fs::remove_all(m_dir / "other");
  }
}

TEST_F(CarriedFiles, and_all_others_are_for_whom_the_umask_says) {
  ::chmod(path("model/tokenizer.json").c_str(), 0640);
  ::chmod(path("model/config.json").c_str(), 0666);
  for (mode_t const mask : {0077u, 0022u, 0002u}) {
    for (auto const* directory : {"checkpoint", "run", "out"}) fs::remove_all(m_dir / directory);
    auto const outcome =
        run_command(fmt::format("umask {:03o}; {} && {} && {} export {} -o {}", mask, import(),
                                train_imported("run.checkpoint.every=1 debug.log_samples=true"),
                                spillway_command(kAlone), path("run/step-2"), path("out")));
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    for (auto const* directory : {"checkpoint", "run", "out"})
      EXPECT_EQ(with_other_modes(directory, mask), std::vector<std::string>()) << directory;
    EXPECT_GT(names_in(m_dir / "run").size(), 7u);
  }
}

}  // namespace
}  // namespace spillway::test::carried_files_test
