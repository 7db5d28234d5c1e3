// What all ranks plan with: the slowest of what each of them knows, whoever comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "plan/data/machine.hpp"

namespace spillway::test::slowest_machine_test {
namespace {

// 0, which says that a value is unknown, as often as each of three others.
double drawn(std::minstd_rand& random) {
  return static_cast<double>(random() % 4);
}

Machine random_machine(std::minstd_rand& random) {
  Machine machine;
  for (auto const& field : machine_fields()) machine.*field.at = drawn(random);
  for (char const* key : {"a", "b", "c"}) {
    if (random() % 4 > 0) machine.op_s[key] = drawn(random);
    if (random() % 4 > 0) machine.kind_giga_per_s[key] = drawn(random);
  }
  return machine;
}

// The lowest known rate, the highest cost.
double expected(std::vector<Machine> const& all, MachineField const& field) {
  double result = 0;
  for (Machine const& machine : all) {
    double const value = machine.*field.at;
    bool const lower = field.more_is_better && value > 0 && (result == 0 || value < result);
    if (lower || (!field.more_is_better && value > result)) result = value;
  }
  return result;
}

Numbers expected(std::vector<Machine> const& all, Numbers Machine::*at, bool highest) {
  Numbers result;
  for (auto const& [key, first] : all.front().*at) {
    auto value = first;
    for (Machine const& machine : all) {
      auto const other = number_or(machine.*at, key, 0);
      bool const known = value > 0 && other > 0;
      value = !known ? 0 : highest ? std::max(value, other) : std::min(value, other);
    }
    if (value > 0) result[key] = value;
  }
  return result;
}

TEST(SlowestMachine, has_the_lowest_known_rates_and_the_highest_costs) {
  std::minstd_rand random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<Machine> all(2 + random() % 3);
    for (auto& machine : all) machine = random_machine(random);
    auto const result = slowest(all);
    for (auto const& field : machine_fields()) {
      auto value = expected(all, field);
      if (field.at == &Machine::compute_cores) value = std::min(value, result.cores);
      if (field.at == &Machine::nvme_both_gbps)
        value = std::min(value, result.nvme_read_gbps + result.nvme_write_gbps);
      EXPECT_EQ(result.*field.at, value) << i << " " << field.key;
    }
    EXPECT_EQ(result.op_s, expected(all, &Machine::op_s, true)) << i;
    EXPECT_EQ(result.kind_giga_per_s, expected(all, &Machine::kind_giga_per_s, false)) << i;
  }
}

// What a rank has measured joins what is known; what it has not measured takes nothing away.
TEST(SlowestMachine, learns_what_is_known_and_forgets_nothing) {
  std::minstd_rand random(2);
  for (int i = 0; i < 300; ++i) {
    auto const before = random_machine(random), newer = random_machine(random);
    auto machine = before;
    learn(machine, newer);
    for (auto const& field : machine_fields())
      EXPECT_EQ(machine.*field.at, newer.*field.at > 0 ? newer.*field.at : before.*field.at)
          << field.key;
    EXPECT_EQ(machine.kind_giga_per_s, before.kind_giga_per_s);
    for (auto const& [key, seconds] : machine.op_s)
      EXPECT_EQ(seconds, number_or(newer.op_s, key, number_or(before.op_s, key, -1))) << key;
    for (auto const* known : {&before, &newer})
      for (auto const& [key, seconds] : known->op_s) EXPECT_TRUE(machine.op_s.contains(key));
  }
}

}  // namespace
}  // namespace spillway::test::slowest_machine_test
