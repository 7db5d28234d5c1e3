// A Plan in letters.
#include "plan/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "plan/solve.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {
namespace {

struct Drawn {
  Drawn(std::int64_t layers, PlanRequest const& request) {
    Graph const graph = gpt_training_graph({.layers = layers, .hidden = 128, .heads = 4});
    text = picture(graph, make_plan(graph, request, BlockPolicy::keep));
  }
  bool has(std::string const& part) const { return text.find(part) != text.npos; }
  std::string text;
};

TEST(Picture, HasALetterALayer) {
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

TEST(Picture, ExplainsOnlyTheLettersThatOccur) {
  Drawn const drawn(3, {.activations = {"keep"}});
  EXPECT_TRUE(drawn.has("K 3 layers: ")) << drawn.text;
  EXPECT_TRUE(drawn.has(" stay on the device\n")) << drawn.text;
  EXPECT_TRUE(drawn.has("The rest lies in: D device memory\nUpdated by: D the threads"));
  for (auto const* other : {"\n  N ", "\n  R ", "computed again", "host memory", "NVMe"})
    EXPECT_FALSE(drawn.has(other)) << other << "\n" << drawn.text;
}

TEST(Picture, SumsUpTheBytesOfALetter) {
  // The two in the middle, at half: as many bytes stay as go.
  Drawn const drawn(4, {.activations = {"keep", "nvme:0.5", "nvme:0.5", "keep"}});
  EXPECT_TRUE(drawn.has("  K 2 layers: ")) << drawn.text;
  auto const at = drawn.text.find("  N 2 layers: ");
  ASSERT_NE(at, std::string::npos) << drawn.text;
  std::istringstream words(drawn.text.substr(at + 14));
  double away = 0, kept = 0;
  std::string unit, to;
  words >> away >> unit >> to;
  EXPECT_EQ(to, "go");
  while (words >> to && to != "back,") {
  }
  words >> kept >> unit;
  EXPECT_NEAR(away, kept, 0.05 * away) << drawn.text;
}

TEST(Picture, OfManyLayersIsNoWiderThanAPage) {
  for (std::int64_t const layers : {64, 65, 96, 130}) {
    Drawn const drawn(layers, {.activations = {"light+nvme", "recompute", "keep"}});
    std::istringstream lines(drawn.text);
    std::int64_t drawn_layers = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      if (line.starts_with("  activations "))
        drawn_layers += static_cast<std::int64_t>(line.size()) - 19;
    }
    EXPECT_EQ(drawn_layers, layers) << drawn.text;
  }
}

TEST(Picture, NamesTheChunksOfNoLayer) {
  Drawn const drawn(2, {.activations = {"keep"}, .optimizer = {"nvme", "device"}});
  EXPECT_TRUE(
      drawn.has("  wte              parameters device, gradients device, optimizer state "
                "nvme, updated by host\n"))
      << drawn.text;
  EXPECT_TRUE(drawn.has("  embed, head      parameters device,")) << drawn.text;
}

}  // namespace
}  // namespace spillway::test
