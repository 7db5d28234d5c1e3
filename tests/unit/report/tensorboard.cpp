// Bytes are those that TensorBoard 2's own RecordWriter writes of the same Events.
#include "report/tensorboard.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/input_file.hpp"
#include "report/reporter.hpp"

namespace spillway::tensorboard_test {
namespace {

namespace fs = std::filesystem;

std::string hex_digits(std::string_view bytes) {
  std::string text;
  for (char const byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

StepMetrics row() {
  StepMetrics it;
  it.step = 200;
  it.tokens = 4096;
  it.loss = {6, 4};
  it.grad_norm = 0.5;
  it.lr = 0.001;
  it.step_s = 4;
  it.tokens_per_s = 1024;
  it.mfu = 0.25;
  it.peak_bytes = {11, 12, 0};
  it.lanes.use[index(Lane::compute)].stall_s = 0.125;
  it.valid = LossSums{9, 4};
  return it;
}

TEST(TensorBoard, reads_the_first_record) {
  EXPECT_EQ(hex_digits(event_record(first_event(1.5))),
            "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
}

TEST(TensorBoard, is_told_where_steps_begin_again) {
  EXPECT_EQ(hex_digits(event_record(start_event(300, 2.5))),
            "100000000000000095fbfe1809000000000000044010ac023a0208017d05b37d");
}

TEST(TensorBoard, reads_scalars_by_the_names_of_metrics) {
  EXPECT_EQ(
      hex_digits(event_record(scalars_event(row(), 1764400000.25))),
      "e500000000000000e878a28c09000010e0a64ada4110c8012ad6010a0b0a046c6f7373150000c03f0a110a0a"
      "76616c69645f6c6f737315000010400a100a09677261645f6e6f726d150000003f0a090a026c72156f12833a"
      "0a0d0a06737465705f7315000080400a130a0c746f6b656e735f7065725f7315000080440a0d0a06746f6b65"
      "6e7315000080450a0a0a036d6675150000803e0a0e0a077374616c6c5f73150000003e0a180a117065616b5f"
      "62797465732f64657669636515000030410a160a0f7065616b5f62797465732f686f737415000040410a160a"
      "0f7065616b5f62797465732f6e766d651500000000e0600bfb");
}

// A step without targets has no loss.
TEST(TensorBoard, is_told_nothing_that_is_not_known) {
  auto some = row();
  some.loss = {};
  some.mfu.reset();
  auto const event = scalars_event(some, 1);
  EXPECT_EQ(event.find("\x04loss"), event.npos);
  EXPECT_EQ(event.find("mfu"), event.npos);
  EXPECT_NE(event.find("valid_loss"), event.npos);
}

class EventFiles : public ::testing::Test {
 protected:
  EventFiles() {
    fs::remove_all(m_path);
    m_config.run.steps = 1000;
  }
  ~EventFiles() override { fs::remove_all(m_path); }

  // Reports step 200, which a job begins with that goes on from step 199.
  void report_one_step() const {
    RunDir const dir(m_path);
    Machine const machine;
    Reporter reporter(m_config, machine, 1e9, &dir);
    testing::internal::CaptureStderr();
    reporter.event({"resume", 199});
    StepResult result;
    result.loss_sum = result.weight_sum = result.step_s = 1;
    reporter.step({200, 0, 0, result, {}, {}});
    testing::internal::GetCapturedStderr();
  }

  std::string events() const {
    for (auto const& entry : fs::directory_iterator(m_path)) {
      if (entry.path().filename().string().starts_with("events.out.tfevents."))
        return read_input(entry.path(), 1 << 20);
    }
    return "none";
  }

  fs::path const m_path = fs::path(testing::TempDir()) / "spillway-events";
  Config m_config;
};

TEST_F(EventFiles, hold_what_is_logged) {
  m_config.run.log_tensorboard = true;
  report_one_step();
  auto const text = events();
  auto const first = event_record(first_event(0)).size();
  auto const start = event_record(start_event(200, 0));
  EXPECT_NE(text.find("brain.Event:2"), text.npos);
  // Times lie in bytes 13 to 20 of a record.
  EXPECT_EQ(text.substr(first + 21, 6), start.substr(21, 6));
  EXPECT_NE(text.find("grad_norm"), text.npos);
}

TEST_F(EventFiles, are_made_only_if_they_are_asked_for) {
  report_one_step();
  EXPECT_EQ(events(), "none");
}

}  // namespace
}  // namespace spillway::tensorboard_test
