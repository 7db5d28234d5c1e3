#include "report/closing_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace spillway::closing_lines_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

Summary summary() {
  Summary result;
  result.predicted_peak_bytes = {5 * kMiB, 3 * kMiB, 7 * kMiB};
  result.measured_peak_bytes = {4 * kMiB, 2 * kMiB, 6 * kMiB};
  result.outside_bytes = 9 * kMiB;
  result.peak_rss_bytes = 16 * kMiB;
  result.train_s = 40;
  return result;
}

Config config() {
  Config result;
  result.run.dir = "runs/a";
  return result;
}

// Returns what is said from the peaks on.
std::string peaks_of(Summary const& summary) {
  auto const text = closing_lines(summary, config());
  auto const at = text.find("peak bytes");
  return at == text.npos ? text : text.substr(at);
}

TEST(ClosingLines, tell_of_peaks_of_the_drive_and_of_waits) {
  auto all = summary();
  all.spill = {"posix", 8 * kMiB, 12 * kMiB, 1.25, 2.5, 0.5, 600'000'000'000'000, 12};
  all.waits = {{1.5, 2, 1}, {7.25, 0, 6.5}, {3, 1, 2}};
  EXPECT_EQ(peaks_of(all),
            "peak bytes                    planned         measured\n"
            "  device memory               5242880          4194304      4 MiB\n"
            "  host memory                 3145728          2097152      2 MiB\n"
            "  NVMe                        7340032          6291456      6 MiB\n"
            "  process                    17825792         16777216     16 MiB\n"
            "  (process: resident; planned: device + host memory + 9 MiB outside; the others:\n"
            "    in use by the items that ran)\n"
            "NVMe: 8 MiB written at 1.25 GB/s a rank, 12 MiB read at 2.5 GB/s a rank\n"
            "  drives rated for 600 TB last 183 days, as spill files use them 12 years\n"
            "rank 1 waited longest: 7.25 s of 40 s, 6.5 s of it for rank 0\n");
}

TEST(ClosingLines, say_that_a_machine_was_measured_while_it_was_busy) {
  auto all = summary();
  all.predicted_step_s = 4.45;
  all.measured_step_s = 0.5;
  EXPECT_EQ(closing_lines(all, config()).find("Steps took"), std::string::npos);
  all.measured_step_s = 0.00562;
  EXPECT_NE(closing_lines(all, config())
                .find("\nSteps took 5.62 ms, not 4.45 s as predicted: this machine is faster than "
                      "the\n  plan took it for, as if other work kept it busy while it was "
                      "measured.\n  spillway profile, with the run's input file and keys, measures "
                      "anew.\npeak bytes "),
            std::string::npos)
      << closing_lines(all, config());
  all.predicted_step_s = 0.001;
  EXPECT_EQ(closing_lines(all, config()).find("Steps took"), std::string::npos)
      << "steps that took longer";
}

TEST(ClosingLines, say_nothing_of_waits_of_less_than_a_hundredth) {
  auto all = summary();
  all.waits = {{0.1, 1, 0.1}, {0.39, 0, 0.3}};
  EXPECT_EQ(peaks_of(all).find("waited"), std::string::npos);
  all.waits[1].waited_s = 0.41;
  EXPECT_TRUE(
      peaks_of(all).ends_with("\nrank 1 waited longest: 410 ms of 40 s, 300 ms of it for "
                              "rank 0\n"));
}

TEST(ClosingLines, leave_out_what_there_was_none_of) {
  auto few = summary();
  few.predicted_peak_bytes[Tier::nvme] = 0;
  few.predicted_peak_bytes[Tier::host] = 0;
  few.waits = {{}, {}};
  auto const peaks = std::string(
      "peak bytes                    planned         measured\n"
      "  device memory               5242880          4194304      4 MiB\n"
      "  process                    14680064         16777216     16 MiB\n"
      "  (process: resident; planned: device + host memory + 9 MiB outside; the others:\n"
      "    in use by the items that ran)\n");
  EXPECT_EQ(peaks_of(few), peaks);
  few.spill.written_bytes = kMiB;
  few.spill.write_gbps = 0.125;
  few.waits = {};  // one rank: its rate is that of all bytes
  EXPECT_EQ(peaks_of(few), peaks + "NVMe: 1 MiB written at 0.125 GB/s, 0 B read at 0 GB/s\n")
      << "how long the drive lasts is not known";
}

TEST(ClosingLines, count_a_device_with_memory_of_its_own_beside_the_process) {
  auto beside = summary();
  beside.device_outside_bytes = 11 * kMiB;
  EXPECT_EQ(peaks_of(beside),
            "peak bytes                    planned         measured\n"
            "  device memory               5242880          4194304      4 MiB\n"
            "  host memory                 3145728          2097152      2 MiB\n"
            "  NVMe                        7340032          6291456      6 MiB\n"
            "  process                    12582912         16777216     16 MiB\n"
            "  (process: resident; planned: host memory + 9 MiB outside; the others: in use\n"
            "    by the items that ran)\n"
            "  the device holds 11 MiB more\n");
}

TEST(ClosingLines, begin_with_what_the_run_came_to_and_end_with_its_warnings) {
  auto all = summary();
  auto& outcome = all.outcome;
  outcome = {.step = 600, .tokens = 2'457'600};
  outcome.loss = {2.25, 2, 590};
  outcome.valid_loss = {2.5, 2.5, 600};
  outcome.duration_s = 200;
  outcome.restart_s = 12;
  outcome.done_again = 1;
  outcome.done_again_s = 0.25;
  all.warnings = {"a thing", "another"};
  auto const text = closing_lines(all, config());
  EXPECT_TRUE(text.starts_with(
      "runs/a: step 600, loss 2.2500 (best 2.0000, step 590), valid 2.5000, 2.46M\n"
      "  tokens\n"
      "  3m20s from start to end, 12 s of them before the first step\n"
      "  250 ms for 1 step once more, which an earlier job had lost\n"))
      << text;
  EXPECT_TRUE(text.ends_with("2 warnings:\n  a thing\n  another\n")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(ClosingLines, name_no_loss_that_there_was_not) {
  EXPECT_TRUE(closing_lines(summary(), config()).starts_with("runs/a: step 0, 0 tokens\n"));
}

}  // namespace
}  // namespace spillway::closing_lines_test
