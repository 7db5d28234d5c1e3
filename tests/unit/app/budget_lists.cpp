#include <gtest/gtest.h>

#include "app/budget_list.hpp"
#include "base/error.hpp"

namespace spillway::budget_lists_test {
namespace {

std::vector<std::string> texts(std::string const& list) {
  std::vector<std::string> result;
  for (auto const& value : budget_list(list).values) result.push_back(value.text);
  return result;
}

std::string error_of(std::string const& list) {
  try {
    budget_list(list);
    return "";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    std::string_view const what = error.what(), before = "--budgets ";
    EXPECT_TRUE(what.starts_with(before)) << what;
    return std::string(what.substr(before.size()));
  }
}

using Texts = std::vector<std::string>;

TEST(BudgetLists, have_one_unit_for_all_that_have_none) {
  EXPECT_EQ(texts("device=8,12,16GiB"), (Texts{"8GiB", "12GiB", "16GiB"}));
  EXPECT_EQ(texts("host=none,512MiB,1.5,2GB,auto"),
            (Texts{"none", "512MiB", "1.5GB", "2GB", "auto"}));
  EXPECT_EQ(texts("nvme=1, 2 TiB"), (Texts{"1TiB", "2 TiB"}));
  EXPECT_EQ(budget_list("nvme=1, 2 TiB").tier, Tier::nvme);
  auto const values = budget_list("host=none,auto,3KiB").values;
  EXPECT_EQ(values[0].bytes, 0);
  EXPECT_EQ(values[1].bytes, std::nullopt);
  EXPECT_EQ(values[2].bytes, 3072);
}

TEST(BudgetLists, are_refused_with_what_to_change) {
  EXPECT_EQ(error_of("8GiB"), "8GiB: give a memory and its sizes, as in device=8,12,16GiB");
  EXPECT_EQ(error_of("gpu=8GiB"),
            "gpu=8GiB: 'gpu' is no memory; give device, host or nvme, as in device=8,12,16GiB");
  EXPECT_EQ(error_of("host=1,,2GiB"),
            "host=1,,2GiB: a value is missing; give a list such as device=8,12,16GiB");
  EXPECT_EQ(error_of("host=1GiB,2"),
            "host=1GiB,2: a unit is missing after 2; give one such as GiB at the end of the list");
  EXPECT_EQ(error_of("host=1,2G"),
            "host=1,2G: '1G' is no size; give sizes such as 8GiB, or none or auto");
  EXPECT_EQ(error_of("host=1GiB,1024MiB"), "host=1GiB,1024MiB: 1024MiB is there twice");
  EXPECT_EQ(error_of("host=auto,auto"), "host=auto,auto: auto is there twice");
}

}  // namespace
}  // namespace spillway::budget_lists_test
