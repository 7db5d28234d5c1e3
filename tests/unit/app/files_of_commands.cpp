// What a command reads that is given an input file, and must not write over; and how outputs are
// known.
#include <gtest/gtest.h>

#include <fstream>

#include "app/output_kinds.hpp"

namespace spillway::files_of_commands_test {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

TEST(FilesOfCommands, are_the_input_and_all_that_it_names) {
  fs::path const dir = fs::path(::testing::TempDir()) / "files_of_commands";
  fs::create_directories(dir);
  for (auto const* name : {"a.h5", "b.h5", "v.h5"}) std::ofstream(dir / name) << "some";
  Config config;
  EXPECT_EQ(files_read("in.yaml", config), Paths{"in.yaml"});
  config.plan.file = "p.yaml";
  config.debug.machine = "m.yaml";
  config.data.train = {(dir / "b.h5").string(), (dir / "a*.h5").string()};
  config.data.valid = {(dir / "v.h5").string()};
  EXPECT_EQ(files_read("in.yaml", config),
            (Paths{"in.yaml", "p.yaml", "m.yaml", dir / "b.h5", dir / "a.h5", dir / "v.h5"}));
  config.plan.file.clear();
  config.data.train = {(dir / "none*.h5").string()};
  EXPECT_EQ(files_read("in.yaml", config), (Paths{"in.yaml", "m.yaml", dir / "v.h5"}));
  fs::remove_all(dir);
}

TEST(FilesOfCommands, of_each_kind_are_known_by_how_they_begin) {
  auto const plan = std::string(kPlanHead) + "activations:\n";
  auto const machine = std::string(kMeasuredHead) + "about:\n";
  auto const curve = rok_csv({});
  auto const chart = std::string("<?xml version=\"1.0\"?>\n<title>spillway_rok</title>\n");
  auto const page = page_html(page_data({}));
  std::string const texts[] = {plan, machine, curve, chart, page};
  OutputKind const kinds[] = {kPlanOutput, kMachineOutput, kCurveOutput, kChartOutput, kPageOutput};
  for (std::size_t text = 0; text < std::size(texts); ++text)
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind)
      EXPECT_EQ(kinds[kind].is_ours(texts[text]), kind == text) << kind << texts[text];
}

}  // namespace
}  // namespace spillway::files_of_commands_test
