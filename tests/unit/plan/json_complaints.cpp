// What is said of each number of a Program's JSON that refers to nothing or cannot be, and of the
// numbers just inside.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "plan/listing/listing.hpp"
#include "plan/listing/references.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::json_complaints_test {
namespace {

Program sound() {
  HandMade made;
  auto& program = made.program;
  made.segment("last");
  program.peak_bytes = {128, 128, 0};
  for (Tier const tier : {Tier::device, Tier::host}) {
    auto const id = made.buffer(tier, 64);
    program.buffers[id].offset = 0;
  }
  auto const view = whole(program.tensors[0]);
  auto& op = program.ops.emplace_back();
  op.inputs = op.outputs = {view, View{}};
  auto& chunk = program.chunks.emplace_back();
  chunk.parameters = {{"p", view, {}}};
  chunk.states = {{"m", 1}};
  program.known.batch = {{BatchField::tokens, 0, 1}};
  made.item(Lane::comm, {}, {0});
  made.item(Lane::comm, {0}, {1});
  program.items[1].reads[0].writers = {0};
  return program;
}

// What check_references says of the Program with a damage: the place and the reason.
std::string said(std::function<void(Program&)> const& damage) {
  auto program = sound();
  damage(program);
  try {
    check_references(program);
  } catch (Flaw const& flaw) {
    return flaw.where + ": " + flaw.why;
  }
  return "";
}

TEST(JsonComplaints, are_none_of_what_is_sound) {
  EXPECT_EQ(said([](Program&) {}), "");
}

TEST(JsonComplaints, of_counts_beyond_their_bounds) {
  EXPECT_EQ(said([](Program& p) { p.micro_batches = 0; }), ".micro_batches: must be 1 to 1048576");
  EXPECT_EQ(said([](Program& p) { p.micro_batches = 1048577; }),
            ".micro_batches: must be 1 to 1048576");
  EXPECT_EQ(said([](Program& p) { p.micro_batches = 1048576; }), "");
  EXPECT_EQ(said([](Program& p) { p.ranks = 16777217; }), ".ranks: must be 1 to 16777216");
  EXPECT_EQ(said([](Program& p) { p.ranks = 16777216; }), "");
}

TEST(JsonComplaints, of_segments) {
  EXPECT_EQ(said([](Program& p) {
              p.segments = {{"middle", 0, 1, 1}, {"middle", 1, 2, 1}};
            }),
            ".segments: more than one is called middle");
  EXPECT_EQ(said([](Program& p) {
              p.segments = {{"first", 0, 2, 1}, {"last", 2, 2, 1}};
            }),
            ".segments: 'last' has no items");
}

TEST(JsonComplaints, of_tensors_that_do_not_exist) {
  auto const none = [](char const* where, int id) {
    return fmt::format("{}: names tensor {}, which does not exist", where, id);
  };
  EXPECT_EQ(said([](Program& p) { p.known.logits = 2; }), none(".known", 2));
  EXPECT_EQ(said([](Program& p) { p.known.loss = 3; }), none(".known", 3));
  EXPECT_EQ(said([](Program& p) { p.known.norms = 4; }), none(".known", 4));
  EXPECT_EQ(said([](Program& p) { p.known.control = -2; }), none(".known", -2));
  EXPECT_EQ(said([](Program& p) { p.known.batch[0].tensor = -1; }), none(".known", -1));
  EXPECT_EQ(said([](Program& p) { p.chunks[0].parameter = 2; }), none(".chunks[0]", 2));
  EXPECT_EQ(said([](Program& p) { p.chunks[0].gradient = 2; }), none(".chunks[0]", 2));
  EXPECT_EQ(said([](Program& p) { p.chunks[0].states[0].tensor = 2; }), none(".chunks[0]", 2));
  EXPECT_EQ(said([](Program& p) { p.chunks[0].parameters[0].view.tensor = -1; }),
            none(".chunks[0]", -1));
  EXPECT_EQ(said([](Program& p) { p.buffers[1].tensor = -1; }), none(".buffers[1]", -1));
  EXPECT_EQ(said([](Program& p) {
              p.buffers[1].tensor = -1;
              p.once = true;
            }),
            "");
  EXPECT_EQ(said([](Program& p) { p.ops[0].inputs[0].tensor = 2; }), none(".ops[0]", 2));
  EXPECT_EQ(said([](Program& p) { p.ops[0].outputs[0].tensor = 5; }), none(".ops[0]", 5));
}

TEST(JsonComplaints, of_tensors_that_cannot_be) {
  EXPECT_EQ(said([](Program& p) { p.tensors[1].id = 0; }),
            ".tensors[1]: has another id than its place");
  EXPECT_EQ(said([](Program& p) { p.tensors[1].versions = 0; }),
            ".tensors[1]: must have 1 or 2 versions");
  EXPECT_EQ(said([](Program& p) { p.tensors[1].versions = 3; }),
            ".tensors[1]: must have 1 or 2 versions");
  EXPECT_EQ(said([](Program& p) { p.tensors[1].versions = 2; }), "");
  constexpr auto impossible = ".tensors[1]: has an impossible shape";
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = {2, 0}; }), impossible);
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = Shape(9, 1); }), impossible);
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = Shape(8, 1); }), "");
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = {kMostBytes / 8 + 1}; }), impossible);
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = {kMostBytes / 8}; }), "");
  EXPECT_EQ(said([](Program& p) { p.tensors[1].shape = {}; }), "") << "one number";
}

TEST(JsonComplaints, of_ops_that_cannot_be) {
  constexpr auto view = ".ops[0]: has a view of an impossible shape";
  EXPECT_EQ(said([](Program& p) { p.ops[0].outputs[0].shape = {0}; }), view);
  EXPECT_EQ(said([](Program& p) { p.ops[0].inputs[0].strides = {}; }), view);
  EXPECT_EQ(said([](Program& p) { p.ops[0].inputs.resize(65); }), ".ops[0]: has too many operands");
  EXPECT_EQ(said([](Program& p) { p.ops[0].outputs.resize(65); }),
            ".ops[0]: has too many operands");
  EXPECT_EQ(said([](Program& p) {
              p.ops[0].inputs.resize(64);
              p.ops[0].outputs.resize(64);
            }),
            "");
  EXPECT_EQ(said([](Program& p) {
              p.ops[0].in_place = {0, 0, 0};
            }),
            ".ops[0]: has more outputs in place than outputs");
  EXPECT_EQ(said([](Program& p) { p.ops[0].in_place = {0, 0}; }), "");
  EXPECT_EQ(said([](Program& p) { p.ops[0].in_place = {2}; }),
            ".ops[0]: has no output 2 to be in place");
  EXPECT_EQ(said([](Program& p) { p.ops[0].in_place = {1}; }),
            ".ops[0]: has no output 1 to be in place");
  EXPECT_EQ(said([](Program& p) { p.ops[0].flops = 1.1e24; }), ".ops[0]: has impossible flops");
  EXPECT_EQ(said([](Program& p) { p.ops[0].flops = 1e24; }), "");
  constexpr auto first = ".ops[0]: has no first input";
  EXPECT_EQ(said([](Program& p) {
              p.ops[0].inputs = {};
              p.ops[0].flops = 1;
            }),
            first);
  EXPECT_EQ(said([](Program& p) {
              p.ops[0].inputs[0] = View{};
              p.ops[0].kind = OpKind::tree_sum;
            }),
            first);
  EXPECT_EQ(said([](Program& p) { p.ops[0].inputs = {}; }), "");
  EXPECT_EQ(said([](Program& p) {
              p.ops[0].inputs[0].shape = p.ops[0].inputs[0].strides = {};
              p.ops[0].kind = OpKind::tree_sum;
            }),
            ".ops[0]: sums what is one number");
  EXPECT_EQ(said([](Program& p) { p.ops[0].workspace_bytes = -1; }),
            ".ops[0]: has an impossible workspace");
}

TEST(JsonComplaints, of_buffers_and_items) {
  EXPECT_EQ(said([](Program& p) { p.buffers[1].bytes = -1; }),
            ".buffers[1]: has an impossible size");
  EXPECT_EQ(said([](Program& p) { p.buffers[1].stride = -1; }),
            ".buffers[1]: has an impossible size");
  EXPECT_EQ(said([](Program& p) { p.buffers[1].bytes = 0; }), "");
  EXPECT_EQ(said([](Program& p) { p.items[1].horizon = 0; }),
            ".items[1]: has an impossible horizon");
  EXPECT_EQ(said([](Program& p) { p.items[1].horizon = 5; }),
            ".items[1]: has an impossible horizon");
  EXPECT_EQ(said([](Program& p) { p.items[1].horizon = 4; }), "");
  EXPECT_EQ(said([](Program& p) {
              p.items[1].reads[0].writers = {0, 2};
            }),
            ".items[1]: expects bytes of item 2, which does not exist");
}

// Of a step of 2^20 micro-batches on 2^10 ranks nearly all is moved by `middle`.
TEST(JsonComplaints, of_a_step_that_moves_too_much) {
  auto const with = [](std::int64_t bytes) {
    return said([bytes](Program& p) {
      p.micro_batches = 1 << 20;
      p.ranks = 1 << 10;
      p.segments = {{"first", 0, 1, 1}, {"middle", 1, 2, 1}};
      p.items[1].writes[0].last = bytes;
    });
  };
  EXPECT_EQ(with(std::int64_t{1} << 33), "");
  EXPECT_EQ(with((std::int64_t{1} << 33) + (1 << 15)),
            ".items: move more bytes in a step than 63 bits count");
}

std::string refusal(std::string const& key, nlohmann::json const& value) {
  auto json = nlohmann::json::parse(to_json(sound()));
  json[nlohmann::json::json_pointer(key)] = value;
  return refused_with([&] { program_from_json(json.dump(), "p.json"); });
}

TEST(JsonComplaints, of_values_of_another_type) {
  EXPECT_EQ(refusal("/items", 1), "p.json: items: must be a list");
  EXPECT_EQ(refusal("/items/1", 1), "p.json: items[1]: must be an object");
  EXPECT_EQ(refusal("/items/1/kind", "copying"),
            "p.json: items[1].kind: 'copying' is none of op, load_batch, copy, all_to_all, "
            "all_gather, commit, report");
  EXPECT_EQ(refusal("/items/1/kind", 3),
            "p.json: items[1].kind: must be one of op, load_batch, copy, all_to_all, all_gather, "
            "commit, report");
  EXPECT_EQ(refusal("/items/1/number", -2),
            "p.json: items[1].number: -2 is not between -1 and 2147483647");
  EXPECT_EQ(refusal("/items/1/number", 1ll << 31),
            "p.json: items[1].number: 2147483648 is not between -1 and 2147483647");
  EXPECT_EQ(refusal("/buffers/1/bytes", kMostBytes + 1),
            fmt::format("p.json: buffers[1].bytes: {} is not between -1 and {}", kMostBytes + 1,
                        kMostBytes));
  EXPECT_EQ(refusal("/items/1/number", 1.5), "p.json: items[1].number: must be a whole number");
  EXPECT_EQ(refusal("/ops/0/flops", "1"), "p.json: ops[0].flops: must be a number");
  EXPECT_EQ(refusal("/ops/0/flops", 1), "");
  EXPECT_EQ(refusal("/arithmetic/isa", 1), "p.json: arithmetic.isa: must be a text");
  EXPECT_EQ(refusal("/arithmetic/isa", "a\tb"),
            "p.json: arithmetic.isa: has characters that cannot be shown");
  EXPECT_EQ(refusal("/arithmetic/precision", "fp16"),
            "p.json: arithmetic.precision: 'fp16' is none of bf16, fp32");
  EXPECT_EQ(refusal("/ops/0/attributes", nlohmann::json::object()),
            "p.json: ops[0].attributes: must be an object of one key, their kind");
  EXPECT_EQ(
      refusal("/ops/0/attributes", {{"scale", {{"factor", 2}}}, {"embed", {{"sequence", 1}}}}),
      "p.json: ops[0].attributes: must be an object of one key, their kind");
  EXPECT_EQ(refusal("/ops/0/attributes", {{"scale", {{"factor", "x"}}}}),
            "p.json: ops[0].attributes.scale.factor: must be a number");
  EXPECT_EQ(refusal("/ops/0/attributes", {{"scale", {{"factor", 2}}}}), "");
  EXPECT_EQ(refusal("/ops/0/attributes",
                    {{"dropout", {{"p", 0}, {"sequence", 1}, {"seed", -1}, {"origin", 0}}}}),
            "p.json: ops[0].attributes.dropout.seed: must be a whole number that is not negative");
  EXPECT_EQ(refusal("/items/1/" + std::string(61, 'k'), 1),
            "p.json: items[1]: '" + std::string(60, 'k') + "' is no key of it");
  EXPECT_EQ(refusal("/items/1/" + std::string(59, 'k') + "\u00e9k", 1),
            "p.json: items[1]: '" + std::string(59, 'k') + "' is no key of it")
      << "no half of a character";
}

}  // namespace
}  // namespace spillway::test::json_complaints_test
