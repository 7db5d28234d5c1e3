// What has its name is on storage: bytes and folders are synchronised before it is given, the
// directory that holds the name afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "fault_test.hpp"
#include "preload.hpp"
#include "tests/support/model_directory.hpp"

namespace spillway::test::durable_test {
namespace {

namespace fs = std::filesystem;

// Follows calls of fsync and rename, and knows which paths they have made durable.
class Synced {
 public:
  void sync(std::string const& path) {
    m_now.insert(path);
    m_unsafe_names.erase(path);
  }
  // What was synchronised below `from` is so under its new name, too.
  void rename(std::string const& from, std::string const& to) {
    std::set<std::string> moved;
    for (auto const& path : m_now)
      if (path == from || path.starts_with(from + "/")) moved.insert(to + path.substr(from.size()));
    m_before_its_name.insert(moved.begin(), moved.end());
    m_now.merge(moved);
    if (fs::exists(to)) m_unsafe_names.insert(fs::path(to).parent_path());
  }
  bool before_its_name(fs::path const& path) const { return m_before_its_name.contains(path); }
  // Names were given in these directories, which were not synchronised afterwards.
  std::set<std::string> const& unsafe_names() const { return m_unsafe_names; }

 private:
  std::set<std::string> m_now, m_before_its_name, m_unsafe_names;
};

class Durable : public FaultTest {
 protected:
  void SetUp() override {
    if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  }
  Synced synced(std::string const& command) const {
    fs::remove(m_dir / "calls");
    auto const outcome = run_command(
        planted({.calls = "fsync,rename", .path = m_dir.string(), .count_file = path("calls")}) +
        command);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    Synced synced;
    std::istringstream lines(read("calls"));
    for (std::string line; std::getline(lines, line);) {
      auto const arrow = line.find(" -> ");
      if (line.starts_with("fsync "))
        synced.sync(line.substr(6));
      else
        synced.rename(line.substr(7, arrow - 7), line.substr(arrow + 4));
    }
    return synced;
  }
  // Expects it of each of `names` and of all that lies below them.
  void expect_durable(std::string const& command, std::vector<std::string> const& names) const {
    auto const calls = synced(command);
    for (auto const& name : names) {
      ASSERT_TRUE(fs::exists(m_dir / name)) << name;
      EXPECT_TRUE(calls.before_its_name(m_dir / name)) << name << "\n" << read("calls");
      if (!fs::is_directory(m_dir / name)) continue;
      for (auto const& entry : fs::recursive_directory_iterator(m_dir / name))
        EXPECT_TRUE(calls.before_its_name(entry.path())) << entry.path() << "\n" << read("calls");
    }
    for (auto const& folder : calls.unsafe_names()) ADD_FAILURE() << folder << read("calls");
  }
};

TEST_F(Durable, are_checkpoints_and_texts_of_a_run) {
  for (auto const ranks : {kAlone, kTwoRanks}) {
    fs::remove_all(m_dir / "run");
    expect_durable(train_command("run.steps=2 run.checkpoint.every=1", ranks),
                   {"run/step-1", "run/step-2", "run/latest", "run/config.yaml", "run/plan.yaml",
                    "run/plan.json", "run/plan.txt", "run/environment.json", "run/summary.json"});
  }
}

TEST_F(Durable, are_models_that_come_and_go_and_what_else_is_kept) {
  write_model_directory(m_dir / "model", directory_cases().front());
  write("text", "a text");
  auto const program = spillway_command(kAlone);
  auto const command = [&](char const* words, char const* from, char const* to) {
    return fmt::format("{} {} {} -o {}", program, words, path(from), path(to));
  };
  expect_durable(command("import", "model", "imported"), {"imported"});
  expect_durable(command("export", "imported", "exported"), {"exported"});
  expect_durable(command("export", "imported", "exported") + " --force", {"exported"});
  expect_durable(command("tokenize", "text", "tokens"), {"tokens"});
}

}  // namespace
}  // namespace spillway::test::durable_test
