// What is said of a Program that is wrong, to the letter, and which items are named.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::violations_test {
namespace {

// On two memories: a is computed (item 0), written to the drive by way of b (1, 2) and read (3).
class Violations : public testing::Test {
 protected:
  Violations() {
    auto& program = m_made.program;
    program.ranks = 2;
    program.unified = false;
    program.peak_bytes = {8192, 1024, 512};
    m_made.segment("first");
    for (auto const& [tier, offset] :
         {std::pair(Tier::device, 4096), {Tier::host, 256}, {Tier::nvme, 128}, {Tier::device, 0}}) {
      auto const id = m_made.buffer(tier, 64);
      program.buffers[id].offset = offset;
    }
    program.buffers[3].persistent = true;
    program.ops.resize(2);
    program.ops[1].name = "fc";
    program.ops[1].kind = OpKind::matmul;
    program.ops[1].outputs.resize(1);
    add(Lane::compute, ItemKind::op, {}, {0}, {0});
    program.items[0].op = 1;
    program.items[0].micro_batch = -1;
    add(Lane::d2h, ItemKind::copy, {0}, {1}, {0, 1});
    add(Lane::nvme_write, ItemKind::copy, {1}, {2}, {1, 2});
    m_made.segment("last");
    program.segments.back().micro_batches = 2;
    add(Lane::comm, ItemKind::load_batch, {1}, {}, {});
    program.buffers[1].spanning = program.buffers[2].spanning = true;
    link(program);
    derive_waits(program);
  }
  void add(Lane lane, ItemKind kind, std::vector<BufferId> const& reads,
           std::vector<BufferId> const& writes, std::vector<BufferId> operands) {
    auto& item = m_made.program.items[m_made.item(lane, reads, writes)];
    item.kind = kind;
    item.operands = std::move(operands);
  }
  // Expects the violation of the Program with a damage.
  void expect(std::string const& why, ItemNumber earlier, ItemNumber later,
              std::function<void(Program&)> const& damage) const {
    auto program = m_made.program;
    damage(program);
    auto const violation = verify(program).value_or(Violation{-2, -2, "sound"});
    EXPECT_EQ(violation.why, why);
    EXPECT_EQ(violation.earlier, earlier) << why;
    EXPECT_EQ(violation.later, later) << why;
  }
  void expect_shape(std::string const& why, std::function<void(Program&)> const& damage) const {
    expect(why, -1, -1, damage);
  }
  void expect_item(int item, std::string const& why,
                   std::function<void(Program&)> const& damage) const {
    constexpr char const* lanes[] = {"compute", "d2h", "nvme_write", "comm"};
    expect(fmt::format("item {} {}: {}", item, lanes[item], why), -1, item, damage);
  }

  HandMade m_made;
};

TEST_F(Violations, are_none_at_first) {
  EXPECT_EQ(verify(m_made.program).value_or(Violation{}).why, "");
}

TEST_F(Violations, of_buffers) {
  expect_shape("buffer 2 has id 1", [](Program& p) { p.buffers[2].id = 1; });
  expect_shape("'b' has 2 versions 63 bytes apart", [](Program& p) {
    p.buffers[1].versions = 2;
    p.buffers[1].stride = 63;
  });
  expect_shape("'b' has 3 versions 64 bytes apart", [](Program& p) {
    p.buffers[1].versions = 3;
    p.buffers[1].stride = 64;
  });
  expect_shape("'a' ends at byte 8193 of a device tier of 8192",
               [](Program& p) { p.buffers[0].offset = 8192 - 63; });
  expect_shape("'b' ends at byte 1025 of a host tier of 1024", [](Program& p) {
    p.buffers[1].versions = 2;
    p.buffers[1].stride = 1024 - 256 - 63;
  });
  expect("sound", -2, -2, [](Program& p) { p.buffers[0].offset = 8192 - 64; });
  expect_shape("'d' and 'a' are both state and share device bytes", [](Program& p) {
    p.buffers[0].persistent = true;
    p.buffers[0].offset = 63;
  });
}

TEST_F(Violations, of_segments) {
  expect_shape("segment 'last' does not begin where the one before it ends",
               [](Program& p) { p.segments[1].first = 2; });
  expect_shape("1 of 4 items are in no segment", [](Program& p) { p.segments[1].last = 3; });
  expect_shape("item 2 is of micro-batch 1 in segment 'first', which runs 1",
               [](Program& p) { p.items[2].micro_batch = 1; });
  expect_shape("item 3 is of micro-batch -1 in segment 'last', which runs 2",
               [](Program& p) { p.items[3].micro_batch = -1; });
  expect("sound", -2, -2, [](Program& p) { p.items[3].micro_batch = 1; });
}

TEST_F(Violations, of_items) {
  expect("item 3 says 2", -1, 3, [](Program& p) { p.items[3].number = 2; });
  expect_item(0, "runs op 2, which does not exist", [](Program& p) { p.items[0].op = 2; });
  expect_item(0, "has 0 operands, which its kind does not take",
              [](Program& p) { p.items[0].operands = {}; });
  expect_item(0, "has 1 operands, which its kind does not take",
              [](Program& p) { p.ops[1].workspace_bytes = 1; });
  expect_item(1, "has 4 operands, which its kind does not take", [](Program& p) {
    p.items[1].operands = {0, 1, 0, 1};
  });
  expect_item(3, "has 3 operands, which its kind does not take", [](Program& p) {
    p.items[3].kind = ItemKind::all_to_all;
    p.items[3].operands = {1, 1, 1};
  });
  expect("sound", -2, -2, [](Program& p) {
    p.items[3].kind = ItemKind::commit;
    p.items[3].operands = {1, 1, 1};
  });
  expect_item(1, "works on buffer 4, which does not exist",
              [](Program& p) { p.items[1].operands[1] = 4; });
  expect_item(1, "works on buffer -1, which does not exist",
              [](Program& p) { p.items[1].operands[1] = -1; });
  expect_item(1, "copies 'a' from device to nvme directly",
              [](Program& p) { p.items[1].operands[1] = 2; });
  expect_item(0, "cannot reach 'b' on the tier host",
              [](Program& p) { p.items[0].operands[0] = 1; });
  expect_item(3, "cannot reach 'a' on the tier device",
              [](Program& p) { p.items[3].operands = {0}; });
  expect_item(2, "uses buffer 4, which does not exist",
              [](Program& p) { p.items[2].writes[0].buffer = 4; });
  expect_item(2, "uses bytes [0, 65) of 'c', which has 64",
              [](Program& p) { p.items[2].writes[0].last = 65; });
  expect_item(2, "uses bytes [64, 64) of 'b', which has 64",
              [](Program& p) { p.items[2].reads[0].first = 64; });
  expect_item(0, "writes 'a' where it uses 'd'", [](Program& p) {
    p.buffers[0].offset = 32;
    p.items[0].reads = {{3, 63, 64, {}}};
  });
  expect_item(3, "waits for item 4, which does not exist",
              [](Program& p) { p.items[3].waits = {4}; });
}

constexpr auto kCompute = "item 0 compute matmul fc (64 B)", kDown = "item 1 d2h copy a (64 B)",
               kWrite = "item 2 nvme_write copy b (64 B)", kLoad = "item 3 comm load_batch (0 B)";

TEST_F(Violations, of_reads) {
  auto const host = [](char const* later, std::string const& trouble) {
    return fmt::format("{} {}: 'b', host bytes [256, 320)", later, trouble);
  };
  expect(host(kWrite, fmt::format("may start before the end of its writer, {}", kDown)), 1, 2,
         [](Program& p) { p.items[2].waits.clear(); });
  expect(host(kWrite, fmt::format("does not expect the value of {}", kDown)), 1, 2,
         [](Program& p) { p.items[2].reads[0].writers = {0}; });
  expect(host(kLoad, fmt::format("reads what an earlier micro-batch left, written by {}", kDown)),
         1, 3, [](Program& p) { p.buffers[1].spanning = false; });
  expect(fmt::format("{} reads bytes that nothing has written : 'b', host bytes [0, 64)", kLoad),
         -1, 3, [](Program& p) {
           p.buffers.push_back(p.buffers[1]);
           p.buffers[4].id = 4;
           p.buffers[4].offset = 0;
           p.items[3].reads[0].buffer = 4;
         });
  expect(fmt::format("{} finds the bytes of 'e', written by {}: 'b', host bytes [256, 320)", kLoad,
                     kWrite),
         2, 3, [](Program& p) {
           p.buffers.push_back(p.buffers[1]);
           p.buffers[4].id = 4;
           p.buffers[4].name = "e";
           p.items[2].writes[0].buffer = 4;
           p.items[2].reads.clear();
         });
}

TEST_F(Violations, of_writes) {
  auto const first = [](std::string const& trouble) {
    return fmt::format("{} {}: 'a', device bytes [4096, 4160)", kCompute, trouble);
  };
  expect(first(fmt::format("may overwrite bytes still being read by {}", kDown)), 1, 0,
         [](Program& p) { p.items[0].waits.clear(); });
  expect(fmt::format("{} may overwrite bytes still being written by item 0 host load_batch (64 B): "
                     "'a', device bytes [4096, 4160)",
                     kDown),
         0, 1, [](Program& p) {
           p.items[0].lane = Lane::host;
           p.items[0].kind = ItemKind::load_batch;
           p.items[0].micro_batch = 0;
           p.items[0].operands = {};
           p.items[1].reads.clear();
           p.items[1].writes[0].buffer = 0;
           p.items[1].waits.clear();
         });
  expect(fmt::format("{} overwrites state, last written by : 'd', device bytes [0, 64)", kCompute),
         -1, 0, [](Program& p) { p.buffers[0].offset = 0; });
}

TEST_F(Violations, of_results) {
  expect(
      fmt::format("item 3 comm load_batch (64 B) overwrites a result, made by {}: 'c', nvme bytes "
                  "[128, 192)",
                  kWrite),
      2, 3, [](Program& p) {
        p.buffers.push_back(p.buffers[2]);
        p.buffers[4].id = 4;
        p.buffers[4].spanning = false;
        p.items[3].writes = {{4, 0, 64, {}}};
        p.items[3].waits.push_back(2);
      });
}

}  // namespace
}  // namespace spillway::test::violations_test
