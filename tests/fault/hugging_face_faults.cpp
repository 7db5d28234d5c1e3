// Directories of Hugging Face that are not what they must be, and imports and exports that are
// killed or run out of room.
#include <fmt/format.h>
#include <sys/stat.h>

#include "fault_test.hpp"
#include "preload.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::hugging_face_faults_test {
namespace {

namespace fs = std::filesystem;

class BadDirectories : public FaultTest {
 protected:
  BadDirectories() { write_model_directory(m_dir / "model", *model("llama")); }

  static std::vector<DirectoryCase>::const_iterator model(std::string const& name) {
    return std::ranges::find(directory_cases(), name, &DirectoryCase::name);
  }
  std::string import() const { return command("import", "model", "checkpoint"); }
  std::string command(char const* word, char const* from, char const* to) const {
    return fmt::format("{} {} {} -o {}", spillway_command(0), word, path(from), path(to));
  }
  // `import` refuses what is in `model` now, and leaves nothing.
  void expect_refusal(int status, std::string const& words) const {
    EXPECT_TRUE(fails_with(status, words, run_command(import())));
    for (auto const* name : {"checkpoint", "checkpoint.spillway-partial"})
      EXPECT_FALSE(fs::exists(m_dir / name)) << words;
  }
  // The same, of a sound directory with these tensors instead.
  void expect_refusal_of(Tensors const& tensors, std::string const& words) const {
    fs::remove_all(m_dir / "model");
    write_tensors(m_dir / "model", tensors);
    write("model/config.json", model("llama")->config);
    expect_refusal(2, words);
  }
  // The first of several files of weights.
  std::string shard() const {
    for (auto const& name : names_in(m_dir / "model"))
      if (name.starts_with("model-00001-of-")) return "model/" + name;
    return "";
  }
};

TEST_F(BadDirectories, are_refused_by_the_file_and_its_tensor) {
  auto const first = shard(), sound = read(first);
  write(first, sound.substr(0, sound.size() - 1));
  expect_refusal(5, first + ": ");
  write(first, sound + "x");
  expect_refusal(5, first + ": ");
  fs::remove(m_dir / first);
  expect_refusal(2, first + ": is not there, and the index names it");
  write(first, sound);
  write("model/config.json", "{");
  expect_refusal(2, "model/config.json: ");
  fs::remove(m_dir / "model/config.json");
  expect_refusal(2, "model/config.json: cannot be read");
  EXPECT_TRUE(fails_with(2, "nowhere", run_command(command("import", "nowhere", "checkpoint"))));
}

TEST_F(BadDirectories, that_lead_to_files_elsewhere_are_refused_by_name) {
  write("secret", "{}");
  for (auto const& name : {std::string("tokenizer.json"), std::string("config.json"),
                           std::string("generation_config.json"), shard().substr(6)}) {
    auto const file = m_dir / "model" / name;
    bool const was_there = fs::exists(file);
    if (was_there) fs::rename(file, m_dir / "kept");
    fs::create_symlink(was_there ? m_dir / "kept" : m_dir / "secret", file);
    expect_refusal(2, name + ": leads out of its directory, to ");
    fs::remove(file);
    if (was_there) fs::rename(m_dir / "kept", file);
  }
  ASSERT_EQ(::mkfifo(path("model/vocab.txt").c_str(), 0600), 0);
  expect_refusal(2, "model/vocab.txt: is a pipe, not a file");
  fs::remove(m_dir / "model/vocab.txt");
  write("model/merges.txt", std::string("\0\1", 2));
  expect_refusal(2, "model/merges.txt: is no text");
}

TEST_F(BadDirectories, with_other_tensors_are_refused_by_their_names) {
  auto const sound = tensors_in(m_dir / "model");
  std::string const name = "model.layers.1.mlp.up_proj.weight";
  auto tensors = sound;
  tensors.erase(name);
  expect_refusal_of(tensors, name + ": is not there");
  auto const bias = TensorEntry{"model.layers.0.self_attn.o_proj.bias", ElementType::f16, {2}};
  tensors = sound;
  tensors[bias.name] = {bias, "four"};
  expect_refusal_of(tensors, bias.name + ": no tensor of this model has the name");
  tensors = sound;
  std::swap(tensors[name].first.shape[0], tensors[name].first.shape[1]);
  expect_refusal_of(tensors, name + ": is [24, 44] there, and [44, 24] in this model");
  tensors = sound;
  tensors[name].first.type = ElementType::i16;
  expect_refusal_of(tensors, name + ": is of I16, which does not become F32");
}

TEST_F(BadDirectories, places_that_are_taken_are_refused_and_stay) {
  ASSERT_EQ(run_command(import()).status, 0);
  auto const seal = read("checkpoint/seal");
  EXPECT_TRUE(fails_with(2, "checkpoint: is there already", run_command(import())));
  EXPECT_EQ(read("checkpoint/seal"), seal);
  auto const onto_itself = run_command(command("export", "checkpoint", "model"));
  EXPECT_TRUE(fails_with(2, "model: is there already", onto_itself));
  auto const no_checkpoint = run_command(command("export", "model", "out"));
  EXPECT_TRUE(fails_with(2, "model: is a directory of Hugging Face", no_checkpoint));
  auto const step = run_command(command("import", "model", "step-3"));
  EXPECT_TRUE(fails_with(2, "step-3: what is imported is of step 0", step));
  auto const type = run_command(command("export", "checkpoint", "out") + " --dtype f64");
  EXPECT_EQ(type.status, 2);
  EXPECT_NE(type.output.find("--dtype: f64 not in {f32,bf16,f16}"), std::string::npos);
}

TEST_F(BadDirectories, are_replaced_when_forced_if_nothing_else_lies_in_them) {
  auto const forced = [&](char const* word, char const* from, char const* to) {
    return run_command(command(word, from, to) + " --force");
  };
  ASSERT_EQ(run_command(import()).status, 0);
  write("checkpoint/huggingface/tokenizer.json", "another");  // damage, which a new one mends
  EXPECT_EQ(forced("import", "model", "checkpoint").status, 0);
  EXPECT_EQ(read("checkpoint/huggingface/tokenizer.json"), read("model/tokenizer.json"));
  ASSERT_EQ(run_command(command("export", "checkpoint", "out")).status, 0);
  EXPECT_TRUE(fails_with(2, "--force replaces one of the same kind",
                         run_command(command("export", "checkpoint", "out"))));
  write("out/config.json", "{}");
  EXPECT_EQ(forced("export", "checkpoint", "out").status, 0);
  EXPECT_NE(read("out/config.json"), "{}");
  for (auto const& name : names_in(m_dir))
    EXPECT_EQ(name.find("spillway-partial"), std::string::npos) << name;

  auto const else_there = std::string("is there already and holds something else");
  for (auto const* mine :
       {"out/notes.txt", "checkpoint/notes.txt", "checkpoint/huggingface/my.py"}) {
    write(mine, "kept");
    bool const exports = std::string(mine).starts_with("out");
    EXPECT_TRUE(fails_with(
        2, else_there,
        exports ? forced("export", "checkpoint", "out") : forced("import", "model", "checkpoint")))
        << mine;
    EXPECT_EQ(read(mine), "kept");
    fs::remove(m_dir / mine);
  }

  fs::create_directory(m_dir / "out/mine");
  fs::create_directory(m_dir / "work");
  write("work/notes", "kept");
  EXPECT_TRUE(fails_with(2, else_there, forced("export", "checkpoint", "out")));
  EXPECT_TRUE(fails_with(2, else_there, forced("export", "checkpoint", "work")));
  EXPECT_TRUE(fails_with(2, else_there, forced("import", "model", "work")));
  EXPECT_TRUE(fails_with(2, else_there, forced("import", "model", "out")));
  EXPECT_TRUE(fails_with(2, "reads: name another", forced("export", "checkpoint", "checkpoint")));
  EXPECT_TRUE(fails_with(2, "reads: name another", forced("import", "model", "model")));
  EXPECT_TRUE(fails_with(2, "reads: name another", forced("import", "model", ".")));
  EXPECT_EQ(read("work/notes"), "kept");
  EXPECT_TRUE(fs::exists(m_dir / "model/config.json"));
}

// What is there goes aside, what is new takes its name, what was there is removed.
TEST_F(BadDirectories, are_there_whatever_ends_their_replacement_where_names_cannot_be_exchanged) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  ASSERT_EQ(run_command(import()).status, 0);
  auto const carried = "checkpoint/huggingface/tokenizer.json";
  auto const forced = import() + " --force";
  Planted fault{.calls = "rename",
                .path = "checkpoint.spillway-partial",
                .count_file = path("count"),
                .no_exchange = true};
  auto const replace = [&] {
    write(carried, "what was there");
    return run_command(planted(fault) + forced);
  };
  auto const expect_replaced = [&] {
    EXPECT_EQ(read(carried), read("model/tokenizer.json"));
    for (auto const& name : names_in(m_dir))
      EXPECT_EQ(name.find("spillway-partial"), std::string::npos) << name;
  };
  ASSERT_EQ(replace().status, 0);
  expect_replaced();
  auto const calls = read("count");  // of which the last three exchange
  auto const second = std::ranges::count(calls, '\n') - 1;
  ASSERT_GE(second, 2);
  fault.what = "EIO";
  fault.at = std::to_string(second + 1);
  EXPECT_EQ(replace().status, 0);
  EXPECT_EQ(run_command(forced).status, 0);
  expect_replaced();
  for (auto const at : {second - 1, second}) {
    fault.at = std::to_string(at);
    EXPECT_TRUE(fails_with(4, "checkpoint: cannot be given its name", replace()));
    EXPECT_EQ(read(carried), "what was there");
    EXPECT_EQ(run_command(forced).status, 0);
    expect_replaced();
  }
  fault.what = "kill";  // at the second
  EXPECT_EQ(replace().status, 137);
  EXPECT_FALSE(fs::exists(m_dir / "checkpoint"));
  EXPECT_TRUE(fails_with(2, "checkpoint: is there already", run_command(import())));
  EXPECT_EQ(read(carried), "what was there");
  EXPECT_EQ(run_command(forced).status, 0);
  expect_replaced();
}

// The section comes once, with the checkpoint.
TEST_F(BadDirectories, an_import_whose_section_reaches_nobody_makes_no_checkpoint) {
  EXPECT_TRUE(
      fails_with(4, "standard output: cannot be written", run_command(import() + " > /dev/full")));
  for (auto const& name : names_in(m_dir)) EXPECT_FALSE(name.starts_with("checkpoint")) << name;
  auto const again = run_command(import());
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_NE(again.output.find("family: llama"), std::string::npos) << again.output;
}

TEST_F(BadDirectories, a_signal_leaves_nothing_of_a_copy) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  ASSERT_EQ(run_command(import()).status, 0);
  Planted const hangs{.calls = "fsync", .path = "new.spillway-partial", .what = "hang", .at = "2-"};
  for (auto const& words :
       {command("import", "model", "new"), command("export", "checkpoint", "new")}) {
    auto const outcome = run_command(
        planted(hangs) + words + " & " +
        until(fmt::format("ls {}/* > {} 2>&1", path("new.spillway-partial"), path("seen"))) +
        "kill -TERM $!; wait $!");
    EXPECT_EQ(outcome.status, 143) << outcome.output;
    for (auto const& name : names_in(m_dir)) EXPECT_FALSE(name.starts_with("new")) << name;
  }
}

TEST_F(BadDirectories, what_a_checkpoint_carries_is_proved_before_it_is_exported) {
  ASSERT_EQ(run_command(import()).status, 0);
  write("checkpoint/huggingface/tokenizer.json", "another");
  auto const outcome = run_command(command("export", "checkpoint", "out"));
  EXPECT_TRUE(fails_with(5, "checkpoint/huggingface/tokenizer.json: is not what was", outcome));
  EXPECT_FALSE(fs::exists(m_dir / "out"));
}

// Every call that changes anything below the new directory is once the last, and once fails.
class InterruptedCopies : public BadDirectories {
 protected:
  void SetUp() override {
    if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
    ASSERT_EQ(run_command(import()).status, 0);
    fs::rename(m_dir / "checkpoint", m_dir / "source");
  }

  // What is in `new` is all of `model`, as a checkpoint or as such a directory.
  void expect_whole() const {
    bool const is_checkpoint = fs::exists(m_dir / "new/seal");
    if (is_checkpoint) {
      EXPECT_EQ(run_command(command("export", "new", "proof")).status, 0);
    }
    std::string const back = is_checkpoint ? "proof" : "new";
    EXPECT_TRUE(tensors_in(m_dir / back) == tensors_in(m_dir / "model"));
    EXPECT_EQ(read(back + "/tokenizer.json"), read("model/tokenizer.json"));
    EXPECT_NE(read(back + "/config.json"), "");
    fs::remove_all(m_dir / "proof");
  }

  using Judge = std::function<void(Outcome const&)>;
  void at_every_call(char const* what, std::string const& words, Judge const& judge) {
    Planted fault{.calls = "write,pwrite,fsync,close,rename,mkdir,unlink,rmdir",
                  .path = path("new"),
                  .count_file = path("calls")};
    auto const counted = run_command(planted(fault) + words);
    ASSERT_EQ(counted.status, 0) << counted.output;
    fs::remove_all(m_dir / "new");
    auto const calls = Outcome{0, read("calls")}.lines();
    fs::remove(m_dir / "calls");
    ASSERT_GT(calls.size(), 20u);
    fault.what = what;
    fault.count_file = "";
    constexpr int stride = 4;
    for (std::size_t at = 1; at <= calls.size(); at += stride) {
      fault.at = fmt::format("{}", at);
      judge(run_command(planted(fault) + words));
      if (HasFailure()) FAIL() << what << " at " << calls[at - 1];
      fs::remove_all(m_dir / "new");
    }
  }
};

TEST_F(InterruptedCopies, that_are_killed_leave_nothing_that_looks_complete) {
  for (auto const& words :
       {command("import", "model", "new"), command("export", "source", "new")}) {
    at_every_call("kill", words, [&](Outcome const& outcome) {
      EXPECT_EQ(outcome.status, 137) << outcome.output;
      if (fs::exists(m_dir / "new")) {  // killed behind the last step: all is there
        expect_whole();
        fs::remove_all(m_dir / "new");
      }
      auto const again = run_command(words);
      EXPECT_EQ(again.status, 0) << again.output;
      EXPECT_FALSE(fs::exists(m_dir / "new.spillway-partial"));
    });
  }
}

TEST_F(InterruptedCopies, without_room_end_with_one_line_and_leave_nothing) {
  for (auto const& words :
       {command("import", "model", "new"), command("export", "source", "new")}) {
    at_every_call("ENOSPC", words, [&](Outcome const& outcome) {
      if (outcome.status == 0) return expect_whole();
      EXPECT_TRUE(fails_with(4, "No space left on device", outcome));
      EXPECT_FALSE(fs::exists(m_dir / "new.spillway-partial"));
    });
  }
}

}  // namespace
}  // namespace spillway::test::hugging_face_faults_test
