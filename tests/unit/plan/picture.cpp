// A Plan in letters.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "plan/explain/explain.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::picture_test {
namespace {

struct Drawn {
  Drawn(std::int64_t layers, PlanWords const& request) {
    Graph const graph = gpt_training_graph({.layers = layers, .hidden = 128, .heads = 4});
    text = picture(graph, make_plan(graph, request, BlockPolicy::keep), 1);
  }
  bool has(std::string const& part) const { return text.find(part) != text.npos; }
  std::string text;
};

TEST(Picture, has_a_letter_a_layer) {
  Drawn const drawn(12,
                    {.activations = {"nvme", "recompute", "light", "light+host", "host", "keep"},
                     .parameters = {"device", "device", "nvme", "device"},
                     .optimizer = {"host"}});
  EXPECT_TRUE(drawn.has("Layer by layer     0         10\n")) << drawn.text;
  EXPECT_TRUE(drawn.has("activations      NRkhHKKKKKKK\n")) << drawn.text;
  EXPECT_TRUE(drawn.has("parameters       NDDDDDDDDDDD\n")) << drawn.text;  // wte, embed, h.0
  EXPECT_TRUE(drawn.has("optimizer state  HHHHHHHHHHHH\n")) << drawn.text;
  EXPECT_TRUE(drawn.has("D device memory, H host memory, N NVMe")) << drawn.text;
}

TEST(Picture, explains_only_the_letters_that_occur) {
  Drawn const drawn(3, {.activations = {"keep"}});
  EXPECT_TRUE(drawn.has("K 3 layers: ")) << drawn.text;
  EXPECT_TRUE(drawn.has(" stay on the device\n")) << drawn.text;
  EXPECT_TRUE(drawn.has("The rest lies in: D device memory\nUpdated by: D the threads"));
  for (auto const* other : {"\n  N ", "\n  R ", "computed again", "host memory", "NVMe"})
    EXPECT_FALSE(drawn.has(other)) << other << "\n" << drawn.text;
}

TEST(Picture, says_who_updates_and_that_the_host_may_go_on) {
  Drawn const device(3, {.update = {"device"}}), host(3, {.update = {"host"}});
  Drawn const first(3, {.update = {"host", "device"}});  // wte's
  EXPECT_FALSE(device.has("the next step")) << device.text;
  for (auto const* late : {&host, &first}) {
    auto const in_one_line = std::regex_replace(late->text, std::regex("\n  "), " ");
    EXPECT_NE(in_one_line.find("H a thread beside them (which may go on into the next step)\n"),
              std::string::npos)
        << late->text;
  }
}

TEST(Picture, says_how_many_threads_update_on_the_host) {
  Graph const graph = gpt_training_graph({.layers = 3, .hidden = 128, .heads = 4});
  auto plan = make_plan(graph, PlanWords{.update = {"host"}}, BlockPolicy::keep);
  EXPECT_NE(picture(graph, plan, 3).find("H 3 threads beside them"), std::string::npos);
  plan.unified = false;
  EXPECT_NE(picture(graph, plan, 12).find("H 12 threads of the host"), std::string::npos);
}

TEST(Picture, sums_up_the_bytes_of_a_letter) {
  // "1.5 MiB" after `before`.
  auto const mebibytes = [](Drawn const& drawn, std::string const& before) {
    auto const at = drawn.text.find(before);
    EXPECT_NE(at, std::string::npos) << before << "\n" << drawn.text;
    std::istringstream words(drawn.text.substr(at + before.size()));
    double number = 0;
    std::string unit;
    words >> number >> unit;
    EXPECT_EQ(unit, "MiB");
    return number;
  };
  Drawn const two(2, {.activations = {"keep"}}), six(6, PlanWords{.activations = {"keep"}});
  double const kept = mebibytes(two, "  K 2 layers: ");
  EXPECT_NEAR(mebibytes(six, "  K 6 layers: "), 3 * kept, 0.03 * kept);
  // Half of the rows: as many bytes stay as go.
  Drawn const half(4, {.activations = {"keep", "nvme:0.5", "nvme:0.5", "keep"}});
  double const away = mebibytes(half, "  N 2 layers: ");
  EXPECT_NEAR(away, kept / 2, 0.05 * kept);
  EXPECT_NEAR(mebibytes(half, "go to NVMe and come back, "), away, 0.05 * kept);
}

TEST(Picture, of_many_layers_is_no_wider_than_a_page) {
  for (std::int64_t const layers : {60, 61, 96, 130}) {
    Drawn const drawn(layers, {.activations = {"light+nvme", "recompute", "keep"}});
    std::istringstream lines(drawn.text);
    std::int64_t drawn_layers = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_TRUE(line.size() <= 80 || !line.starts_with("  activations ")) << line;
      if (line.starts_with("  activations "))
        drawn_layers += static_cast<std::int64_t>(line.size()) - 19;
    }
    EXPECT_EQ(drawn_layers, layers) << drawn.text;
  }
}

TEST(Picture, numbers_the_layers_of_every_row) {
  Drawn const drawn(130, {.activations = {"keep"}});
  std::string const room(19, ' ');
  EXPECT_TRUE(drawn.has("Layer by layer     0         10        20        30        40\n"))
      << drawn.text;
  EXPECT_TRUE(drawn.has("\n" + room + "50        60        70        80        90\n"))
      << drawn.text;
  EXPECT_TRUE(drawn.has("\n" + room + "100       110       120\n")) << drawn.text;
}

// As if h.1's chunk were a second one of h.0.
TEST(Picture, marks_layers_of_chunks_in_several_tiers_and_of_none) {
  auto graph = gpt_training_graph({.layers = 3, .hidden = 128, .heads = 4});
  auto const plan =
      make_plan(graph, PlanWords{.parameters = {"device", "device", "host", "nvme", "device"}});
  graph.chunks[3].block = graph.chunks[2].block;
  auto const text = picture(graph, plan, 1);
  EXPECT_NE(text.find("  parameters       *.D\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  gradients        D.D\n"), std::string::npos) << text;
}

TEST(Picture, says_that_the_host_is_done_with_its_step_where_updates_begin_early) {
  Drawn const drawn(3, {.update = {"host"}, .norm_is_awaited = false});
  EXPECT_TRUE(drawn.has("Updated by: H a thread beside them\n")) << drawn.text;
  EXPECT_FALSE(drawn.has("the next step")) << drawn.text;
}

TEST(Picture, names_the_chunks_of_no_layer) {
  Drawn const drawn(2, {.activations = {"keep"}, .optimizer = {"nvme", "device"}});
  EXPECT_TRUE(
      drawn.has("  wte              parameters device, gradients device, optimizer state "
                "nvme,\n                   updated by host\n"))
      << drawn.text;
  EXPECT_TRUE(drawn.has("  embed, head      parameters device,")) << drawn.text;
}

}  // namespace
}  // namespace spillway::test::picture_test
