// What items take and ask for, each number by hand.
#include <gtest/gtest.h>

#include <limits>

#include "graph/operands.hpp"
#include "plan/time/item_cost.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::item_costs_test {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr std::int64_t kGigabyte = 1'000'000'000;

// Rates that divide the amounts below without a rest.
Machine machine() {
  return {.matmul_gflops_bf16 = 8,
          .matmul_gflops_f32 = 4,
          .memory_gbps = 2,
          .nvme_write_gbps = 5,
          .nvme_read_gbps = 10,
          .network_gbps = 1,
          .item_overhead_s = 0.5,
          .nvme_both_gbps = 12,
          .h2d_gbps = 20,
          .d2h_gbps = 25,
          .cores = 16,
          .compute_cores = 8,
          .nvme_core_s_per_gb = 0.05,
          .node_gbps = 4,
          .host_cores = 3};
}

void expect_cost(ItemCost const& cost, double seconds, Shares const& demand) {
  EXPECT_DOUBLE_EQ(cost.seconds, seconds);
  for (Resource const resource : kResourcesInOrder)
    EXPECT_DOUBLE_EQ(cost.demand[resource], demand[resource]) << static_cast<int>(resource);
}

TEST(Capacities, are_what_the_machine_has_and_unlimited_where_that_is_unknown) {
  EXPECT_EQ(capacities(machine()), (Shares{16, 2, 12}));
  EXPECT_EQ(capacities({}), (Shares{kUnlimited, kUnlimited, kUnlimited}));
}

TEST(CopyCosts, are_by_the_link_or_the_drive_and_ask_for_cores_and_traffic) {
  auto const cost = [](Lane lane, Machine const& on) {
    return copy_cost(10 * kGigabyte, on, lane);
  };
  auto const cpu = machine();
  expect_cost(cost(Lane::nvme_read, cpu), 1.5, {0.5, 10, 10});
  expect_cost(cost(Lane::nvme_write, cpu), 2.5, {0.25, 5, 5});
  expect_cost(cost(Lane::h2d, cpu), 1, {1, 20, 0});
  expect_cost(cost(Lane::d2h, cpu), 0.9, {1, 25, 0});
  auto device = machine();
  device.device_bytes = 1;
  expect_cost(cost(Lane::nvme_read, device), 1.5, {0.5, 0, 10});
  expect_cost(cost(Lane::h2d, device), 1, {0, 0, 0});
  auto unknown = machine();
  unknown.nvme_read_gbps = unknown.d2h_gbps = 0;
  expect_cost(cost(Lane::nvme_read, unknown), 0.5, {0, 0, 0});
  expect_cost(cost(Lane::d2h, unknown), 5.5, {1, 2, 0});  // at the rate of memory
}

TEST(CopyCosts, ask_for_nothing_where_nothing_moves_or_nobody_knows_of_cores) {
  for (Lane const lane : {Lane::nvme_read, Lane::h2d})
    expect_cost(copy_cost(0, machine(), lane), 0.5, {0, 0, 0});
  auto unknown = machine();
  unknown.compute_cores = 0;
  expect_cost(copy_cost(10 * kGigabyte, unknown, Lane::h2d), 1, {0, 0, 0});
}

// Four of the five ranks are on one node.
TEST(SendCosts, are_by_the_links_to_all_peers) {
  auto on = machine();
  on.node_ranks = 4;
  auto const gbps = 1 / (0.75 / 4 + 0.25 / 1);
  expect_cost(send_cost(7 * kGigabyte, on, all_ranks(5)), 7 / gbps + 0.5, {1, gbps, 0});
}

// A product of 4 GFLOP with 1.5 GB of traffic, and an op that moves as much and counts nothing.
class OpCosts : public testing::Test {
 protected:
  OpCosts() {
    for (auto const role : {Role::activation, Role::parameter}) {
      Tensor tensor;
      tensor.id = static_cast<TensorId>(m_tensors.size());
      tensor.role = role;
      tensor.dtype = DType::f32;
      tensor.shape = {125'000'000};
      m_tensors.push_back(tensor);
    }
    m_product.kind = OpKind::matmul;
    m_product.inputs = {whole(m_tensors[0]), whole(m_tensors[1])};
    m_product.outputs = {whole(m_tensors[0])};
    m_product.flops = 8e9;
    m_other = m_product;
    m_other.kind = OpKind::adamw;
    m_other.flops = 0;
  }
  double seconds(Op const& op, Lane lane = Lane::compute) {
    return op_cost(op, m_tensors, m_machine, lane).seconds;
  }

  IdVector<Tensor> m_tensors;
  Op m_product, m_other;
  Machine m_machine = machine();
};

TEST_F(OpCosts, are_the_longer_of_arithmetic_and_traffic) {
  expect_cost(op_cost(m_product, m_tensors, m_machine, Lane::compute), 2.5, {8, 0.75, 0});
  expect_cost(op_cost(m_product, m_tensors, m_machine, Lane::host), 1.25, {3, 2, 0});
  expect_cost(op_cost(m_other, m_tensors, m_machine, Lane::compute), 1.25, {8, 2, 0});
  m_machine.memory_gbps = 0.5;
  EXPECT_DOUBLE_EQ(seconds(m_product), 3.5);
  m_tensors[0].dtype = DType::bf16;  // 1 GB of traffic, and products at twice the rate
  EXPECT_DOUBLE_EQ(seconds(m_product), 2.5);
  m_machine.memory_gbps = 100;
  EXPECT_DOUBLE_EQ(seconds(m_product), 1.5);
}

TEST_F(OpCosts, are_by_the_rate_of_their_kind_where_it_is_known) {
  m_machine.kind_giga_per_s = {{"matmul", 2}, {"host matmul", 1}, {"adamw", 3}};
  EXPECT_DOUBLE_EQ(seconds(m_product), 4.5);
  EXPECT_DOUBLE_EQ(seconds(m_product, Lane::host), 8.5);
  EXPECT_DOUBLE_EQ(seconds(m_other), 1);
  EXPECT_DOUBLE_EQ(seconds(m_other, Lane::host), 1.25);
}

// The backward pass makes the first product again, beside two for each of the forward pass.
TEST_F(OpCosts, of_an_mlp_are_those_of_its_tiles) {
  m_machine = {.matmul_gflops_f32 = 1e-6, .memory_gbps = 1e6};
  IdVector<Tensor> tensors;
  auto const add = [&](Shape shape) {
    auto const id = static_cast<TensorId>(tensors.size());
    tensors.push_back({.id = id, .name = "", .dtype = DType::f32, .shape = std::move(shape)});
    return whole(tensors.back());
  };
  auto const x = add({12, 2}), w_in = add({2, 5}), w_out = add({5, 2}), y = add({12, 2});
  Op op;
  set_operands(op, Operands<OpKind::mlp>{.x = x, .w_in = w_in, .w_out = w_out, .y = y});
  op.attributes = MlpAttributes{8, Activation::silu, false, {}};
  op.flops = 1;  // is not asked
  double const product_s = 2e-3 * 12 * 2 * 5;
  EXPECT_NEAR(op_cost(op, tensors, m_machine, Lane::compute).seconds, 2 * product_s, 1e-6);
  set_operands(
      op,
      Operands<OpKind::mlp_backward>{
          .dy = x, .x = x, .w_in = w_in, .w_out = w_out, .dx = y, .dw_in = w_in, .dw_out = w_out});
  EXPECT_NEAR(op_cost(op, tensors, m_machine, Lane::compute).seconds, 5 * product_s, 1e-6);
  m_machine.kind_giga_per_s["activation_backward"] = 1e-9 * 4 * 12 * 5 * 3;  // its traffic a second
  EXPECT_NEAR(op_cost(op, tensors, m_machine, Lane::compute).seconds, 5 * product_s + 1, 1e-6);
}

// Heads of other widths, and ops without heads, go by the rate of the kind.
TEST_F(OpCosts, of_attention_are_by_the_width_of_its_heads) {
  auto attention = m_product;
  attention.kind = OpKind::attention;
  m_machine.kind_giga_per_s = {{"attention", 2}, {"attention 64", 1}, {"matmul 64", 1}};
  for (auto const& [head_size, expected_s] : {std::pair(64, 8.5), std::pair(128, 4.5)}) {
    attention.attributes = AttentionAttributes{.head_size = head_size};
    EXPECT_DOUBLE_EQ(seconds(attention), expected_s) << head_size;
  }
  m_machine.kind_giga_per_s.erase("attention");
  EXPECT_DOUBLE_EQ(seconds(attention), 2.5);
  EXPECT_DOUBLE_EQ(seconds(m_product), 2.5);
}

TEST_F(OpCosts, are_what_was_measured_before_all_rates) {
  m_machine.op_s = {{cost_key(m_product, m_tensors), 7},
                    {"host " + cost_key(m_other, m_tensors), 9}};
  EXPECT_DOUBLE_EQ(seconds(m_product), 7.5);
  EXPECT_DOUBLE_EQ(seconds(m_product, Lane::host), 1.25);
  EXPECT_DOUBLE_EQ(seconds(m_other), 1.25);
  EXPECT_DOUBLE_EQ(seconds(m_other, Lane::host), 9.5);
}

// Three threads make 240 Gflop/s there, whatever the type.
TEST_F(OpCosts, of_products_on_the_host_are_by_the_rate_of_its_threads) {
  m_product.flops = 480e9;
  EXPECT_DOUBLE_EQ(seconds(m_product, Lane::host), 2.5);
}

// An op alone takes its time, so it asks for no more than there is.
TEST_F(OpCosts, ask_for_no_more_than_the_machine_has) {
  m_machine.cores = 2;
  m_machine.memory_gbps = 0.25;
  m_machine.op_s = {{cost_key(m_product, m_tensors), 1}};
  expect_cost(op_cost(m_product, m_tensors, m_machine, Lane::compute), 1.5, {2, 0.25, 0});
  m_machine = {};
  expect_cost(op_cost(m_product, m_tensors, m_machine, Lane::compute), 0, {0, 0, 0});
}

// Of what three ranks exchange each sends two thirds; what ends a step is next to nothing.
TEST_F(OpCosts, of_a_program_are_those_of_its_items) {
  HandMade made;
  auto& program = made.program;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 3 * kGigabyte),
             b = made.buffer(Tier::nvme, 3 * kGigabyte);
  program.ranks = 3;
  program.tensors = m_tensors;
  program.ops = {m_other, m_product};
  constexpr auto op = ItemKind::op, copy = ItemKind::copy;
  struct {
    Lane lane;
    ItemKind kind;
    int op;
    double seconds;
  } const rows[] = {{Lane::compute, op, 0, 1.25},
                    {Lane::compute, op, 1, 2.5},
                    {Lane::host, op, 1, 8.5},
                    {Lane::compute, op, 1, 2.5},
                    {Lane::nvme_write, copy, -1, 1.1},
                    {Lane::h2d, copy, -1, 0.65},
                    {Lane::comm, ItemKind::all_to_all, -1, 2.5},
                    {Lane::comm, ItemKind::all_gather, -1, 2.5},
                    {Lane::comm, ItemKind::commit, -1, 0.5},
                    {Lane::data, ItemKind::load_batch, -1, 0.5}};
  m_machine.kind_giga_per_s = {{"host matmul", 1}};
  m_machine.node_gbps = 0;
  for (auto const& row : rows) {
    auto& item = program.items[made.item(row.lane, {a}, {b})];
    item.kind = row.kind;
    item.op = row.op;
  }
  auto const costs = item_costs(program, m_machine);
  ASSERT_EQ(costs.size(), std::size(rows));
  for (std::size_t i = 0; i < costs.size(); ++i)
    EXPECT_DOUBLE_EQ(costs[i].seconds, rows[i].seconds) << i;
}

}  // namespace
}  // namespace spillway::test::item_costs_test
