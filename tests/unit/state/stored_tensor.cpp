#include "state/stored_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "device/host/host_device.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/spill_file.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::stored_tensor_test {
namespace {

constexpr std::int64_t kElements = kWindowElements + 100;  // a window and a part of one
constexpr std::int64_t kOffset_bytes = 3 * kSpillAlignment;

// A tensor of floats in a spill file that can be made to fail, and beside it.
class Stored {
 public:
  explicit Stored(FaultInjector* faults = nullptr)
      : m_spill(::testing::TempDir(), kOffset_bytes + kElements * 4, {.faults = faults}),
        m_tiers(host_device(), {}, &m_spill) {
    m_buffer.tier = Tier::nvme;
    m_buffer.offset = kOffset_bytes;
    m_buffer.bytes = kElements * 4;
    tensor = StoredTensor(m_tiers, m_buffer, DType::f32);
  }

  float& at(std::int64_t element, bool changes) {
    return *reinterpret_cast<float*>(tensor.at(element, changes));
  }
  // As a step would.
  void write_past_it(float value) {
    std::vector<float> const values(static_cast<std::size_t>(kElements), value);
    ASSERT_EQ(m_spill.write(kOffset_bytes, std::as_bytes(std::span(values))), IoResult::ok);
  }

  // By somebody who knows that it is there.
  void find() { tensor = StoredTensor(m_tiers, m_buffer, DType::f32, true); }

  StoredTensor tensor;

 private:
  SpillFile m_spill;
  Tiers m_tiers;
  Buffer m_buffer;
};

TEST(StoredTensor, keeps_what_is_written_and_is_zero_elsewhere) {
  Stored stored;
  stored.at(3, true) = 1.5f;
  stored.at(kWindowElements + 7, true) = 2.5f;
  stored.tensor.complete();
  EXPECT_EQ(stored.at(3, false), 1.5f);
  EXPECT_EQ(stored.at(4, false), 0.0f);
  EXPECT_EQ(stored.at(kWindowElements + 7, false), 2.5f);
}

TEST(StoredTensor, holds_what_a_move_has_brought) {
  Stored stored;
  stored.write_past_it(2.5f);
  stored.find();
  EXPECT_EQ(stored.at(3, false), 2.5f);
  EXPECT_EQ(stored.at(kWindowElements + 7, false), 2.5f);
}

TEST(StoredTensor, sees_after_a_flush_what_steps_have_changed) {
  Stored stored;
  stored.at(3, true) = 1.5f;
  stored.tensor.complete();
  EXPECT_EQ(stored.at(3, false), 1.5f);
  stored.write_past_it(4);
  stored.tensor.flush();
  EXPECT_EQ(stored.at(3, false), 4.0f);
}

TEST(StoredTensor, does_not_take_a_failed_read_for_bytes) {
  FaultOnNth faults(Fault::error, 1, 0, false);
  Stored stored(&faults);
  stored.at(3, true) = 1.5f;
  stored.tensor.complete();
  EXPECT_THROW(stored.at(3, false), Error);
  EXPECT_EQ(stored.at(3, false), 1.5f);
}

// What could not be written is there still, and written when that is tried again.
TEST(StoredTensor, does_not_lose_what_a_failed_write_has_not_stored) {
  FaultOnNth faults(Fault::error, 0, 1, false);
  Stored stored(&faults);
  stored.at(3, true) = 1.5f;
  auto const said =
      test::refused_with([&] { stored.at(kWindowElements + 7, true); }, Status::storage);
  EXPECT_NE(said.find(": write of 4194304 bytes at 196608: Input/output error"), said.npos) << said;
  EXPECT_EQ(stored.at(3, false), 1.5f);
  stored.at(kWindowElements + 7, true) = 2.5f;
  stored.tensor.complete();
  EXPECT_EQ(stored.at(3, false), 1.5f);
  EXPECT_EQ(stored.at(kWindowElements + 7, false), 2.5f);
}

// The last one holds what is left of the tensor, and what is only read is not written.
TEST(StoredTensor, writes_its_windows_once_each) {
  FaultOnNth third(Fault::error, 0, 3, true);
  Stored stored(&third);
  stored.at(3, false);
  stored.at(kWindowElements + 99, true) = 2.5f;
  stored.at(3, true) = 1.5f;
  stored.at(4, true) = 3.5f;
  stored.tensor.complete();
  EXPECT_EQ(stored.at(kWindowElements + 99, false), 2.5f);
  EXPECT_EQ(stored.at(3, false), 1.5f);
  EXPECT_EQ(stored.at(4, false), 3.5f);
}

}  // namespace
}  // namespace spillway::stored_tensor_test
