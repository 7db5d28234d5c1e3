// A Program as JSON and back: equal in every field, so that it is proved and timed alike; and what
// of other texts is said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "graph/build.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/plan.hpp"
#include "plan/listing/listing.hpp"
#include "plan/proof/verify.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::program_json_test {
namespace {

using Json = nlohmann::ordered_json;

// Activations and optimizer state on NVMe and host, parameters that come and go, updates in slices
// that take turns, on two ranks.
Program with_everything(std::int64_t micro_batches, std::int64_t layers = 3) {
  auto const graph = gpt_training_graph(
      {.layers = layers, .hidden = 64, .heads = 2, .vocab = 300, .sequence = 64, .micro = 1});
  Plan plan;
  for (Block const& block : graph.blocks) {
    auto const policy = plan.blocks.size() % 2 == 0 ? BlockPolicy::nvme : BlockPolicy::light_host;
    plan.blocks.push_back(block.layer ? BlockPlan{policy, 1} : BlockPlan{});
  }
  plan.chunks.assign(graph.chunks.size(), {Tier::nvme, Tier::host, Tier::nvme, Tier::host});
  plan.chunks.front() = {Tier::host, Tier::device, Tier::host, Tier::device};
  plan.update_slice = 4096;
  plan.unified = false;
  normalise(graph, plan);
  return compile(graph, nullptr, plan, micro_batches, 2).train;
}

Program read_back(Program const& program) {
  return program_from_json(to_json(program), "program.json");
}

std::string refusal(std::string const& text) {
  return refused_with([&] { program_from_json(text, "p.json"); });
}

// The lists one by one: a Program that differs is too long to be printed.
void expect_equal(Program const& program, Program const& again) {
  EXPECT_TRUE(program.tensors == again.tensors);
  EXPECT_TRUE(program.ops == again.ops);
  EXPECT_TRUE(program.chunks == again.chunks);
  EXPECT_TRUE(program.known == again.known);
  EXPECT_TRUE(program.buffers == again.buffers);
  EXPECT_TRUE(program.items == again.items);
  EXPECT_TRUE(program.segments == again.segments);
  EXPECT_TRUE(program == again);
}

TEST(ProgramJson, is_read_back_equal_and_proved_and_takes_the_same_seconds) {
  auto const machine = small_machine_with_drive(1);
  for (std::int64_t const micro_batches : {1, 2, 5}) {
    auto const program = with_everything(micro_batches);
    auto const again = read_back(program);
    expect_equal(program, again);
    EXPECT_FALSE(verify(again));
    auto const before = simulate(program, machine), now = simulate(again, machine);
    EXPECT_GT(before.step_s, 0);
    EXPECT_EQ(now.step_s, before.step_s);
    EXPECT_EQ(now.busy_s, before.busy_s);
    EXPECT_EQ(now.bytes, before.bytes);
  }
}

// The test above is of little use without them.
TEST(ProgramJson, of_the_test_uses_every_lane_tier_and_kind_of_item) {
  auto const program = with_everything(5);
  std::set<Lane> lanes;
  std::set<ItemKind> kinds;
  for (Item const& item : program.items) {
    lanes.insert(item.lane);
    kinds.insert(item.kind);
  }
  EXPECT_EQ(lanes.size(), static_cast<std::size_t>(kLanes));
  EXPECT_EQ(kinds.size(), 6u);  // `report` stands where `redo` is false
  for (auto const bytes : program.peak_bytes) EXPECT_GT(bytes, 0);
}

TEST(ProgramJson, of_random_plans_and_programs_is_read_back_equal) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random draws(seed);
    auto shape = random_shape(draws);
    shape.layers = 1 + shape.layers % 3;
    auto const graph = gpt_training_graph(shape);
    auto const plan = random_plan(graph, draws);
    auto const program =
        compile(graph, nullptr, plan, 1 + below(draws, 4), 1 + below(draws, 3)).train;
    expect_equal(program, read_back(program));
    auto const made = random_step(draws);
    expect_equal(made, read_back(made));
  }
}

TEST(ProgramJson, names_what_is_wrong_in_one_line) {
  auto const program = with_everything(2);
  auto const sound = Json::parse(to_json(program));
  EXPECT_EQ(refusal(sound.dump()), "");
  auto const with = [&](char const* pointer, Json const& value) {
    auto json = sound;
    json[Json::json_pointer(pointer)] = value;
    return refusal(json.dump());
  };
  EXPECT_EQ(refusal("{\"a\": ["), "p.json: is no JSON, at byte 8");
  EXPECT_EQ(refusal("{\"a\": 1e999}"), "p.json: is no JSON") << "no double holds the number";
  EXPECT_EQ(refusal("[]"), "p.json: spillway_program: must be 1");
  EXPECT_EQ(with("/spillway_program", 2), "p.json: spillway_program: must be 1");
  EXPECT_EQ(with("/items/3/lane", "train"),
            "p.json: items[3].lane: 'train' is none of compute, h2d, d2h, nvme_read, nvme_write, "
            "comm, host, data");
  EXPECT_EQ(with("/items/3/lane", 1).substr(0, 30), "p.json: items[3].lane: must be");
  EXPECT_EQ(with("/items/3/what", 1), "p.json: items[3]: 'what' is no key of it");
  EXPECT_EQ(with("/items/3/a\nb\t", 1), "p.json: items[3]: 'a b ' is no key of it");
  EXPECT_EQ(with("/items/3/number", 2), "p.json: item 3 says 2");
  EXPECT_EQ(with("/items/3/horizon", 2), "p.json: items[3]: has an impossible horizon");
  EXPECT_EQ(with("/items/3/waits", {{1}}), "p.json: items[3].waits[0]: must be a whole number");
  EXPECT_EQ(with("/ranks", 0), "p.json: ranks: must be 1 to 16777216");
  EXPECT_EQ(with("/ranks", ~0ull).substr(0, 35), "p.json: ranks: 18446744073709551615");
  EXPECT_EQ(with("/once", "no"), "p.json: once: must be true or false");
  EXPECT_EQ(with("/peak_bytes/disk", 1), "p.json: peak_bytes: 'disk' is no key of it");
  EXPECT_EQ(with("/buffers/0/name", "a\nb"),
            "p.json: buffers[0].name: has characters that cannot be shown");
  EXPECT_EQ(with("/buffers/0/tensor", 99999),
            "p.json: buffers[0]: names tensor 99999, which does not exist");
  EXPECT_EQ(with("/ops/0/attributes", {{"embedding", Json::object()}}).substr(0, 42),
            "p.json: ops[0].attributes: 'embedding' is ");
  for (auto const& shape :
       {Json{1ll << 32, 1ll << 32}, Json{1ll << 62, 4, 1}, Json{0, 3}, Json{-1}})
    EXPECT_EQ(with("/tensors/0/shape", shape).substr(0, 18), "p.json: tensors[0]") << shape;
  EXPECT_EQ(with("/ops/0/flops", -1), "p.json: ops[0]: has impossible flops");
  auto json = sound;
  json["items"][3].erase("lane");
  EXPECT_EQ(refusal(json.dump()), "p.json: items[3].lane: is missing");
}

// 2^53 bytes in each of more than 2^10 writes are more than 63 bits count.
TEST(ProgramJson, of_more_bytes_than_can_be_counted_is_refused) {
  auto program = with_everything(2, 30);
  std::int64_t writes = 0;
  for (Item& item : program.items)
    for (Access& write : item.writes) write.last = std::int64_t{1} << 53, ++writes;
  ASSERT_GT(writes, 3 << 10);
  EXPECT_EQ(refusal(to_json(program)),
            "p.json: items: move more bytes in a step than 63 bits count");
}

// Places of values in a JSON text, by its pointers.
void collect(Json const& json, Json::json_pointer const& at, std::vector<Json::json_pointer>& all) {
  all.push_back(at);
  for (auto const& [key, value] : json.items())
    if (json.is_object()) collect(value, at / key, all);
  for (std::size_t i = 0; json.is_array() && i < json.size(); ++i) collect(json[i], at / i, all);
}

// Whatever is not refused can be walked, proved, timed and printed. With sanitizers, this finds
// what reaches beyond an end.
TEST(ProgramJson, with_any_value_replaced_is_refused_in_one_line_or_can_be_walked) {
  auto const machine = small_machine_with_drive(1);
  Json const values[] = {-2,   -1,   0,     1,      2,  1ll << 31, 1ll << 53, ~0ull,
                         1e30, 0.25, "dot", "copy", {}, true,      {1, 2},    Json::object()};
  Random random(7);
  auto const sound = Json::parse(to_json(random_step(random)));
  auto const model = Json::parse(to_json(with_everything(1, 1)));
  int refused = 0, walked = 0;
  for (auto const& [program, draws] : {std::pair(&sound, 1500), std::pair(&model, 500)}) {
    std::vector<Json::json_pointer> places;
    collect(*program, Json::json_pointer(), places);
    for (int i = 0; i < draws; ++i) {
      auto json = *program;
      json[places[random() % places.size()]] = values[random() % std::size(values)];
      try {
        auto const read = program_from_json(json.dump(), "p.json");
        ++walked;
        items_text(read);
        if (!verify(read)) simulate(read, machine);
      } catch (Error const& error) {
        ++refused;
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_GT(refused, 400);
  EXPECT_GT(walked, 100);
}

}  // namespace
}  // namespace spillway::test::program_json_test
