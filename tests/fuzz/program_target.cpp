#include "program_target.hpp"

#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "plan/listing/listing.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kBytes = 64;  // of every buffer

void add_op(Program& program, Attributes const& attributes, TensorId input, TensorId output) {
  Op op;
  op.id = op.origin = static_cast<int>(program.ops.size());
  op.kind = static_cast<OpKind>(op.id);
  op.name = "op";
  op.inputs = {whole(program.tensors[input])};
  op.outputs = {whole(program.tensors[output])};
  op.in_place = {0};
  op.attributes = attributes;
  op.flops = 1e6;
  program.ops.push_back(op);
}

void make_op(Item& item, int op) {
  item.kind = ItemKind::op;
  item.op = op;
  item.operands = {item.reads[0].buffer, item.writes[0].buffer};
}

void add_chunk(Program& program, BufferId state, BufferId gradient) {
  program.chunks.push_back({.id = 0,
                            .name = "h.0",
                            .block = 0,
                            .parameters = {{"w", whole(program.tensors[state]), {}, true}},
                            .elements = kBytes / size_bytes(DType::f64),
                            .parameter = state,
                            .gradient = gradient,
                            .states = {{"m", state}},
                            .norm = 0});
}

void set_offsets(Program& program) {
  for (Buffer& buffer : program.buffers) {
    auto& peak = program.peak_bytes[buffer.tier];
    buffer.offset = peak;
    peak += buffer.bytes;
  }
}

// What is read, spilled, brought back and computed with in each of three micro-batches changes
// state in the end. Every list of a Program has something in it, and every kind of attributes.
Program small_program() {
  HandMade made(3);
  Program& program = made.program;
  auto const batch = made.buffer(Tier::device, kBytes);
  auto const gradient = made.buffer(Tier::device, kBytes);
  auto const state = made.buffer(Tier::host, kBytes);
  program.buffers[gradient].spanning = true;
  program.buffers[state].persistent = true;
  program.known.batch = {{BatchField::tokens, 0, batch}};
  [&]<std::size_t... kind>(std::index_sequence<kind...>) {
    (add_op(program, Attributes(std::in_place_index<kind>), batch, gradient), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Attributes>>());
  add_chunk(program, state, gradient);
  for (auto const* const segment : {"first", "middle", "last"}) {
    made.segment(segment);
    auto const away = made.buffer(Tier::nvme, kBytes), back = made.buffer(Tier::device, kBytes);
    made.item(Lane::h2d, {}, {batch});
    made.item(Lane::nvme_write, {batch}, {away});
    made.item(Lane::nvme_read, {away}, {back});
    make_op(program.items[made.item(Lane::compute, {back}, {gradient})], 3);
  }
  made.segment("update");
  make_op(program.items[made.item(Lane::host, {gradient}, {state})], 9);
  set_offsets(program);
  link(program);
  derive_waits(program);
  return std::move(program);
}

void require_same_again(Program const& program) {
  try {
    if (program_from_json(to_json(program), "written.json") == program) return;
  } catch (Error const&) {
  }
  throw std::logic_error("a Program that is believed is written as another");
}

}  // namespace

// A Program that is believed can be walked, written, proved and timed.
FuzzTarget program_target() {
  return {"program", {to_json(small_program())}, [](std::string const& bytes) {
            auto const program = program_from_json(bytes, "program.json");
            require_same_again(program);
            items_text(program);
            if (!verify(program)) simulate(program, small_machine_with_drive(1));
          }};
}

}  // namespace spillway::test
