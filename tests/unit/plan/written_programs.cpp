// How a Program is written, for people and as JSON, to the letter: every field has another value
// than all others and than its default.
#include <gtest/gtest.h>

#include "plan/listing/listing.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::written_programs_test {
namespace {

// A step of five micro-batches, three of them in `middle`, with a copy of a gradient that has gaps.
Program step() {
  HandMade made(5);
  auto& program = made.program;
  program.ranks = 3;
  program.peak_bytes = {70'000, 2048, 131'072};
  program.persistent_bytes = {4096, 512, 65'536};
  auto const batch = made.buffer(Tier::host, 64), state = made.buffer(Tier::device, 8192);
  auto const gradient = made.buffer(Tier::device, 2048), away = made.buffer(Tier::nvme, 2048);
  auto const unused = made.buffer(Tier::host, 16);
  for (std::int64_t offset = 16; Buffer & buffer : program.buffers) buffer.offset = offset *= 2;
  program.buffers[batch].versions = 2;
  program.buffers[batch].stride = 256;
  program.buffers[state].persistent = true;
  program.buffers[gradient].spanning = true;
  program.buffers[unused].name = "never";
  program.ops.resize(1);
  program.ops[0].kind = OpKind::matmul;
  program.ops[0].name = "h.0/fc";
  made.segment("first");
  made.item(Lane::data, {}, {batch});
  made.segment("middle");
  made.item(Lane::compute, {batch, state, batch}, {gradient});
  program.items[1].kind = ItemKind::op;
  program.items[1].op = 0;
  program.items[1].waits = {0};
  made.segment("last");
  made.item(Lane::nvme_write, {}, {away});
  auto& copy = program.items[2];
  copy.kind = ItemKind::copy;
  copy.operands = {gradient, away, state};
  copy.reads = {{gradient, 256, 512, {}}, {gradient, 1024, 1536, {}}, {state, 0, 8192, {}}};
  copy.waits = {0, 1};
  made.item(Lane::host, {away}, {state, gradient});
  program.items[3].kind = ItemKind::commit;
  return program;
}

TEST(WrittenPrograms, have_a_line_for_each_item_and_each_buffer) {
  EXPECT_EQ(items_text(step()), R"(4 items and 5 buffers; micro-batches a step: 5, ranks: 3
device 70000 bytes, of which 4096 are state
host   2048 bytes, of which 512 are state
nvme   131072 bytes, of which 65536 are state

Segment first: items 0 to 0, once a step
  0 data       load_batch    -> #0

Segment middle: items 1 to 1, 3 times a step
  1 compute    matmul h.0/fc #0 #1 -> #2                                             waits 0

Segment last: items 2 to 3, once a step
  2 nvme_write copy c        #2 #1 device[0x180 +1.25 KiB] -> #3 nvme[0x100 +2 KiB]  waits 0, 1
  3 host       commit        #3 -> #1 #2

Buffers: tier, offset, bytes, the items that use it, name
    #0 host           0x20           64       0-1  a, again 0x100 further for odd steps
    #1 device         0x40         8192       1-3  b, state
    #2 device         0x80         2048       1-3  c, spans segments
    #3 nvme          0x100         2048       2-3  d
    #4 host          0x200           16         -  never
)");
}

TEST(WrittenPrograms, that_run_once_do_not_say_how_often) {
  auto program = step();
  program.once = true;
  program.micro_batches = 1;
  program.segments = {{"move", 0, 4, 0}};
  auto const text = items_text(program);
  EXPECT_NE(text.find("\nSegment move: items 0 to 3\n"), text.npos) << text;
}

// A name that is longer than a column may be shifts its own line alone.
TEST(WrittenPrograms, keep_their_columns_beside_a_long_name) {
  auto program = step();
  auto const first_item = [&](std::size_t name_size) {
    program.ops[0].name = std::string(name_size, 'x');
    auto const text = items_text(program);
    auto const begin = text.find("  0 data");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  auto const matmul = std::string("matmul ").size();
  EXPECT_EQ(first_item(48 - matmul), "  0 data       load_batch" + std::string(39, ' ') + "-> #0");
  EXPECT_EQ(first_item(49 - matmul), "  0 data       load_batch -> #0");
}

// The number of the last item decides how wide the column of numbers is.
TEST(WrittenPrograms, have_numbers_as_wide_as_the_last) {
  auto const text = [](int items) {
    HandMade made;
    made.segment("last");
    for (int i = 0; i < items; ++i) made.item(Lane::comm, {}, {});
    return items_text(made.program);
  };
  EXPECT_NE(text(10).find("\n  9 comm "), std::string::npos) << text(10);
  EXPECT_NE(text(11).find("\n   9 comm "), std::string::npos) << text(11);
  EXPECT_NE(text(11).find("\n  10 comm "), std::string::npos) << text(11);
}

Attributes attributes(std::size_t kind) {
  switch (kind) {
    case 1:
      return EmbedAttributes{11};
    case 2:
      return NormAttributes{0.5};
    case 3: {
      AttentionAttributes attention;
      attention.batch = 21;
      attention.queries = 22;
      attention.keys = 23;
      attention.heads = 24;
      attention.kv_heads = 25;
      attention.head_size = 26;
      attention.causal = true;
      attention.window = 27;
      attention.scale = 0.25;
      attention.tile = 28;
      attention.dropout = 0.125;
      attention.seed = 29;
      attention.origin = 30;
      return attention;
    }
    case 4:
      return RelativeBiasAttributes{31, 32, false};
    case 5:
      return RopeAttributes{41, 42, 43, 44.5, RopeScaling::llama3, 45, 46, 47, 48, true};
    case 6:
      return ActivationAttributes{Activation::relu};
    case 7:
      return DropoutAttributes{0.75, 51, 52, 53, 54};
    case 8:
      return MlpAttributes{55, Activation::silu, true, {0.5, 56, 57, 58, 60}};
    case 9:
      return LmHeadAttributes{61, 1.5};
    case 10:
      return ScaleAttributes{2.5};
    case 11:
      return DequantizeAttributes{Quantization::int8};
    case 12:
      return UpdateRange{71};
    case 13:
      return AdamWAttributes{0.5, 0.25, 0.125, 0.75, 1.5, {81}, 82};
    case 14:
      return LionAttributes{0.5, 0.25, 0.75, {83}, 84};
    case 15:
      return SgdAttributes{0.5, 0.25, {85}, 86};
    case 16:
      return AdafactorAttributes{1.5, 0.25, 0.75, {87}};
    case 17:
      return MuonAttributes{
          0.5, 0.25, AdjustLr::original, {0.5, 0.25, 0.125, 0.75, 2.5, {88}, 89}, {90}};
  }
  return {};
}

// It need not be a Program that could run.
Program with_every_field() {
  Program program;
  program.purpose = Purpose::generate;
  program.micro_batches = 2;
  program.ranks = 3;
  program.once = true;
  program.redo = false;
  program.unified = false;
  program.peak_bytes = {4, 5, 6};
  program.persistent_bytes = {7, 8, 9};
  program.segments = {{"last", 1, 2, 3}};
  program.items = {{.number = 1,
                    .lane = Lane::nvme_write,
                    .kind = ItemKind::report,
                    .op = 2,
                    .block = 3,
                    .chunk = 4,
                    .micro_batch = 5,
                    .operands = {6, -1},
                    .reads = {{7, 8, 9, {10, 11}}},
                    .writes = {{12, 13, 14, {}}},
                    .waits = {15, 16},
                    .horizon = 17}};
  program.buffers = {{.id = 1,
                      .name = "b",
                      .tensor = 2,
                      .tier = Tier::nvme,
                      .bytes = 3,
                      .offset = 5,
                      .versions = 6,
                      .stride = 7,
                      .persistent = true,
                      .spanning = false,
                      .reserved = true}};
  program.tensors = {{1, "t", Role::moment, DType::bf16, {2, 3}, 4, 5, true, 6},
                     {7, "u", Role::edge, DType::i64, {}, 8, 9, false, 10}};
  for (std::size_t kind = 0; kind < std::variant_size_v<Attributes>; ++kind)
    program.ops.emplace_back().attributes = attributes(kind);
  program.ops[0] = {1,
                    2,
                    OpKind::adamw,
                    Phase::update,
                    3,
                    4,
                    "o",
                    {{5, 6, {7}, {8}}},
                    {{}, {9, 10, {11, 12}, {13, 14}}},
                    {15, 16},
                    {},
                    17.5,
                    18,
                    true,
                    false};
  Quantized const quantized{Quantization::nf4, {7, 8}, true};
  program.chunks = {
      {.id = 1,
       .name = "c",
       .block = 2,
       .trainable = false,
       .parameters = {{"p", {3, 4, {5}, {6}}, {Init::Kind::normal, 0.5}, true, quantized}},
       .elements = 7,
       .parameter = 8,
       .gradient = 9,
       .states = {{"m", 10}, {"v", 11, {{12, 13}, {14, 15}}}},
       .norm = 12}};
  program.known = {{{BatchField::weights, 1, 2}, {BatchField::samples, 3, 4}}, 5, 6, 7, 8};
  program.arithmetic = {"b", "i", Precision::fp32, Precision::bf16, Precision::fp32, 1, 2, 3, 4, 5,
                        6,   7,   Reduction::each};
  return program;
}

TEST(WrittenPrograms, as_json_name_every_field) {
  expect_frozen("program.json", to_json(with_every_field()));
}

}  // namespace
}  // namespace spillway::test::written_programs_test
