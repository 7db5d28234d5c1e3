// The order of steps that keeps `latest` leading to a complete checkpoint, when a run goes back, is
// killed, or stands on a file system that cannot do everything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/names_in.hpp"

namespace {

constexpr int kKilled = 99;  // exit status
int exchange_error = 0;      // what an exchange answers; 0: it works
int moves_left = -1;         // before the process is killed; negative: it is not

void maybe_kill() {
  if (moves_left == 0) _exit(kKilled);
  --moves_left;
}

}  // namespace

// These take the C library's place in this program.
extern "C" int renameat2(int from_dir, char const* from, int to_dir, char const* to,
                         unsigned flags) noexcept {
  maybe_kill();
  if (exchange_error == 0) {
    return static_cast<int>(syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
  }
  errno = exchange_error;
  return -1;
}

extern "C" int rename(char const* from, char const* to) noexcept {
  maybe_kill();
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace spillway::h5_checkpoint_dir_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class CheckpointDir : public testing::Test {
 protected:
  CheckpointDir() {
    fs::remove_all(m_run);
    fs::create_directories(m_run);
  }
  ~CheckpointDir() override {
    exchange_error = 0;
    fs::remove_all(m_run);
  }

  // A checkpoint whose one value is `value`.
  std::optional<std::string> save(std::int64_t step, float value = 0, std::int64_t keep = 3) const {
    auto const layout = spread_evenly({{"model", "w", {1}}}, 1);
    auto const directory = begin_checkpoint(m_run, step);
    ShardWriter writer(directory, 0, layout);
    writer.write("model", "w", 0, std::as_bytes(std::span(&value, 1)));
    writer.close();
    write_manifest(directory, layout, {});
    return commit_checkpoint(m_run, step, keep);
  }

  float latest_value() const {
    CheckpointReader reader(find_latest(m_run).value());
    float value = 0;
    reader.read("model", "w", 0, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  void point_to(std::string const& name) const { std::ofstream(m_run / "latest") << name << '\n'; }

  Names entries() const { return test::names_in(m_run); }

  fs::path const m_run =
      fs::path(testing::TempDir()) /
      (std::string("dir_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(CheckpointDir, what_a_killed_job_left_is_swept_without_a_new_one) {
  save(10);
  std::ofstream(begin_checkpoint(m_run, 20) / "shard-0.h5") << "half";
  abandon_checkpoint(m_run);
  EXPECT_EQ(entries(), (Names{"latest", "step-10"}));
}

TEST_F(CheckpointDir, after_going_back_later_ones_stay_until_their_step_is_passed) {
  for (std::int64_t const step : {50, 90, 100}) save(step);
  point_to("step-50");
  for (std::int64_t const step : {60, 70}) save(step, 0, 2);
  EXPECT_EQ(entries(), (Names{"latest", "step-100", "step-60", "step-70", "step-90"}));
  save(100, 0, 2);
  EXPECT_EQ(entries(), (Names{"latest", "step-100", "step-90"}));
}

// Its number leads to another name, at which there may be another checkpoint, or none.
TEST_F(CheckpointDir, a_name_with_zeros_before_its_step_is_a_strangers) {
  for (std::int64_t const step : {6, 7}) save(step);
  fs::create_directory(m_run / "step-007");
  fs::create_directory(m_run / "step-010");
  EXPECT_EQ(save(8, 0, 2), std::nullopt);
  EXPECT_EQ(entries(), (Names{"latest", "step-007", "step-010", "step-7", "step-8"}));
  EXPECT_EQ(mend_latest(m_run), Names()) << "none is later";
  EXPECT_EQ(save(9, 0, 1), std::nullopt) << "what is not there need not be removed";
  EXPECT_EQ(entries(), (Names{"latest", "step-007", "step-010", "step-9"}));
}

TEST_F(CheckpointDir, an_old_one_that_cannot_be_removed_is_a_warning) {
  save(1);
  fs::permissions(m_run, fs::perms::all);
  fs::permissions(m_run / "step-1", fs::perms::owner_read | fs::perms::owner_exec |
                                        fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(m_run / "latest", fs::perms::all);
  bool const root = geteuid() == 0;  // whom permissions do not stop
  if (root && seteuid(65534) != 0) GTEST_SKIP() << "cannot become an unprivileged user";
  auto const warning = save(2, 2, 1);
  ASSERT_EQ(seteuid(root ? 0 : geteuid()), 0);
  auto const rest = m_run / "step-1.partial";  // does not pass for a checkpoint any more
  EXPECT_EQ(warning, rest.string() + ": cannot be removed: Permission denied");
  EXPECT_EQ(entries(), (Names{"latest", "step-1.partial", "step-2"}));
  EXPECT_EQ(latest_value(), 2);

  fs::permissions(rest, fs::perms::all);
  EXPECT_EQ(save(3, 3, 1), std::nullopt);
  EXPECT_EQ(entries(), (Names{"latest", "step-3"}));
}

// A link to itself stands for every place that cannot be looked at.
TEST_F(CheckpointDir, a_place_that_cannot_be_looked_at_is_named_in_one_line) {
  for (auto const* name : {"latest", "step-5"}) {
    point_to("step-5");
    fs::remove(m_run / name);
    fs::create_symlink(name, m_run / name);
    try {
      find_latest(m_run);
      ADD_FAILURE() << name;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::storage);
      EXPECT_EQ(error.what(), (m_run / name).string() + ": Too many levels of symbolic links");
    }
    fs::remove(m_run / name);
  }
}

TEST_F(CheckpointDir, a_pointer_that_cannot_be_read_is_bad_input_and_an_empty_one_damage) {
  auto const status = [&] {
    try {
      find_latest(m_run);
    } catch (Error const& error) {
      return error.status();
    }
    return Status::done;
  };
  fs::create_directory(m_run / "latest");
  EXPECT_EQ(status(), Status::bad_input);
  fs::remove(m_run / "latest");
  point_to("");
  EXPECT_EQ(status(), Status::damaged);
}

TEST_F(CheckpointDir, where_nothing_can_be_exchanged_a_step_is_still_replaced) {
  for (int const error : {EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP}) {
    exchange_error = 0;
    save(7, 1);
    exchange_error = error;
    EXPECT_EQ(save(7, 2), std::nullopt);
    EXPECT_EQ(latest_value(), 2);
    EXPECT_EQ(entries(), (Names{"latest", "step-7"}));
  }
}

TEST_F(CheckpointDir, an_exchange_that_fails_is_named_and_spares_what_stands_there) {
  save(7, 1);
  exchange_error = EIO;
  EXPECT_THROW(save(7, 2), Error);
  EXPECT_EQ(latest_value(), 1);
}

// Also before there was a `latest`.
TEST_F(CheckpointDir, killed_before_any_move_of_the_first_one_it_is_there_or_nothing_is) {
  for (int before = 0; before < 2; ++before) {
    EXPECT_EXIT((moves_left = before, save(7, 1)), testing::ExitedWithCode(kKilled), "");
    abandon_checkpoint(m_run);
    EXPECT_EQ(mend_latest(m_run).size(), before == 0 ? 0u : 1u);
    if (before == 0) {
      EXPECT_EQ(find_latest(m_run), std::nullopt);
    } else {
      EXPECT_EQ(latest_value(), 1);
    }
  }
}

TEST_F(CheckpointDir, killed_before_any_move_latest_leads_to_the_old_or_the_new_one) {
  for (int const error : {0, EOPNOTSUPP}) {
    // An exchange, or its refusal and two moves; then `latest` is replaced.
    int const moves = error == 0 ? 2 : 4;
    for (int before = 0; before < moves; ++before) {
      SCOPED_TRACE(testing::Message() << error << ", killed before move " << before);
      save(7, 1);
      exchange_error = error;
      EXPECT_EXIT((moves_left = before, save(7, 2)), testing::ExitedWithCode(kKilled), "");
      EXPECT_EQ(latest_value(), before < moves - 1 ? 1 : 2);
      exchange_error = 0;
      abandon_checkpoint(m_run);
      latest_value();
      save(8, 3);
      EXPECT_EQ(entries(), (Names{"latest", "step-7", "step-8"}));
      fs::remove_all(m_run / "step-8");
      point_to("step-7");
    }
  }
}

}  // namespace
}  // namespace spillway::h5_checkpoint_dir_test
