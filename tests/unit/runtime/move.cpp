// From one plan to another: every byte of state is where the new plan has it, whatever the two
// plans are.
#include "plan/move/move.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "io/ring/scripted_queue.hpp"
#include "plan/move/move_order.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::move_test {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;
constexpr TierBytes kRoomy = {256 * kMiB, 256 * kMiB, 256 * kMiB};

using Bytes = std::vector<std::byte>;

Bytes pattern(Buffer const& buffer) {
  Bytes bytes(static_cast<std::size_t>(buffer.bytes));
  std::minstd_rand random(static_cast<unsigned>(buffer.tensor) + 1);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
  return bytes;
}

// Storage that ends things late and in any order.
MadeQueue late_queue(unsigned seed) {
  auto const late = [random = std::minstd_rand(seed + 1)](
                        TransferRequest const& rest) mutable -> std::optional<TransferEnding> {
    if (random() % 4 != 0) return {};
    return TransferEnding(std::ssize(rest.memory));
  };
  return {std::make_unique<ScriptedQueue>(8, seed, late), ""};
}

// Memory and storage for a move, with the state of the plan before it.
class Places {
 public:
  Places(Program const& move, MadeQueue queue)
      : m_spill(::testing::TempDir(), move.peak_bytes[2], {}, std::move(queue)),
        m_device(move.unified),
        m_tiers(m_device.device(), move.peak_bytes, &m_spill) {}

  void put(Program const& from) {
    for (auto const& buffer : from.buffers) {
      if (!buffer.persistent) continue;
      auto const bytes = pattern(buffer);
      if (buffer.tier == Tier::nvme) {
        ASSERT_EQ(m_spill.write(buffer.offset, bytes), IoResult::ok);
      } else {
        auto copied = bytes;
        copy(m_tiers.device, nullptr, memory_bytes(m_tiers, buffer, 0), HostBytes(copied));
      }
    }
  }

  // Whether storage held.
  bool run(Program const& move) {
    NoBatches batches;
    auto const comm = make_single_rank_comm();
    Engine engine({move,
                   m_tiers,
                   KernelTable(fake_kernel),
                   *comm,
                   batches,
                   {},
                   nullptr,
                   1,
                   m_device.make_watch()});
    engine.run_step(0);
    engine.finish();
    m_device.expect_sound();
    return !engine.storage_failed();
  }

  // In pieces, as a step reads them.
  Bytes read(Buffer const& buffer) {
    Bytes bytes(static_cast<std::size_t>(buffer.bytes));
    if (buffer.tier != Tier::nvme) {
      copy(m_tiers.device, nullptr, HostBytes(bytes), memory_bytes(m_tiers, buffer, 0));
      return bytes;
    }
    for (std::size_t first = 0; first < bytes.size(); first += kMiB) {
      auto const size = std::min<std::size_t>(kMiB, bytes.size() - first);
      EXPECT_EQ(m_spill.read(buffer.offset + static_cast<std::int64_t>(first),
                             std::span(bytes).subspan(first, size)),
                IoResult::ok);
    }
    return bytes;
  }

 private:
  SpillFile m_spill;
  DeviceUnderTest m_device;
  Tiers m_tiers;
};

void expect_moved(Program const& from, Program const& to, Program const& move, unsigned seed) {
  Places places(move, late_queue(seed));
  places.put(from);
  ASSERT_TRUE(places.run(move));
  for (auto const& buffer : to.buffers) {
    if (buffer.persistent) {
      ASSERT_TRUE(places.read(buffer) == pattern(buffer)) << buffer.name;
    }
  }
}

// Every other one of a family.
Graph graph_to_move(unsigned seed, Random& draws) {
  static auto const families = family_cases();
  if (seed % 2 == 0) return gpt_training_graph(random_shape(draws));
  return tiny_training_graph(families[seed / 2 % families.size()].config);
}

TEST(Move, brings_every_byte_of_state_from_any_plan_to_any_other) {
  int moves = 0, with_slots = 0, of_two_memories = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random draws(seed);
    auto const graph = graph_to_move(seed, draws);
    auto plan = random_plan(graph, draws), other = random_plan(graph, draws);
    other.unified = plan.unified;
    auto const from = compile(graph, nullptr, plan, 1, 1).train;
    auto const to = compile(graph, nullptr, other, 1, 1).train;
    of_two_memories += plan.unified ? 0 : 1;
    auto const move = make_move(from, to);
    if (!move) continue;
    ++moves;
    with_slots += std::ranges::count(move->buffers, "slot", &Buffer::name) > 0 ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(expect_moved(from, to, *move, seed));
  }
  EXPECT_GT(moves, 30);
  EXPECT_GT(with_slots, 5);
  EXPECT_GT(of_two_memories, 10);
}

// One tensor of no whole number of pieces.
Program with_state_at(Spot const& at, std::int64_t bytes = 9 * kMiB + 100) {
  Program program;
  Buffer state;
  state.id = 0;
  state.tensor = 0;
  state.name = "state";
  state.bytes = bytes;
  state.tier = at.tier;
  state.offset = at.offset;
  state.persistent = true;
  program.tensors.resize(1);
  program.buffers = {state};
  program.peak_bytes = kRoomy;
  return program;
}

TEST(Move, over_itself_goes_up_from_its_end_and_down_from_its_beginning) {
  for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
    for (std::int64_t const apart : {64 * kKiB, 5 * kMiB}) {
      auto const low = with_state_at({tier, kMiB}), high = with_state_at({tier, kMiB + apart});
      for (auto const& [from, to] : {std::pair(&low, &high), std::pair(&high, &low)}) {
        auto const move = make_move(*from, *to);
        ASSERT_TRUE(move);
        ASSERT_NO_FATAL_FAILURE(expect_moved(*from, *to, *move, 1));
      }
    }
  }
}

// Storage takes whole pieces, whatever the slices are in which a tensor goes there and back.
TEST(Move, of_a_large_tensor_to_storage_and_back_is_cut_where_pieces_end) {
  constexpr std::int64_t bytes = 70 * kMiB + 4;
  for (Tier const tier : {Tier::device, Tier::host}) {
    auto const here = with_state_at({tier, kMiB}, bytes),
               there = with_state_at({Tier::nvme, 0}, bytes);
    for (auto const& [from, to] : {std::pair(&here, &there), std::pair(&there, &here)}) {
      auto const move = make_move(*from, *to);
      ASSERT_TRUE(move);
      EXPECT_GT(move->items.size(), 2u);
      ASSERT_NO_FATAL_FAILURE(expect_moved(*from, *to, *move, 1));
    }
  }
}

TEST(Move, to_the_same_plan_moves_nothing) {
  auto const graph = gpt_training_graph({.layers = 2, .hidden = 64, .heads = 2, .vocab = 300});
  auto const program = compile(graph, nullptr, make_plan(graph, {}, BlockPolicy::keep), 1, 1).train;
  EXPECT_TRUE(make_move(program, program)->items.empty());
}

// What does not go through in the proof would cost a run its state.
TEST(Move, is_refused_where_state_is_overwritten_before_it_was_moved) {
  auto const graph = gpt_training_graph({.layers = 1, .hidden = 64, .heads = 2, .vocab = 300});
  auto const program = [&](char const* parameters, char const* optimizer) {
    PlanWords request;
    request.parameters = {parameters};
    request.optimizer = {optimizer};
    return compile(graph, nullptr, make_plan(graph, request, BlockPolicy::keep), 1, 1).train;
  };
  auto const move = make_move(program("host", "device"), program("device", "host"));
  ASSERT_TRUE(move);
  int unsound = 0;
  for (std::size_t i = 0; i < move->items.size(); ++i) {
    for (std::size_t w = 0; w < move->items[i].waits.size(); ++w) {
      auto damaged = *move;
      auto& waits = damaged.items[i].waits;
      waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(w));
      unsound += verify(damaged) ? 1 : 0;
    }
  }
  EXPECT_GT(unsound, 0);
  auto late = *move;  // the first of those that wait does not; its turn is before what it waits for
  auto const waits = [](Item const& item) { return !item.waits.empty(); };
  auto const found = std::ranges::find_if(late.items, waits);
  std::rotate(late.items.begin(), found, found + 1);
  for (std::size_t i = 0; i < late.items.size(); ++i)
    late.items[i].number = static_cast<ItemNumber>(i);
  link(late);
  derive_waits(late);
  auto const violation = verify(late);
  ASSERT_TRUE(violation);
  EXPECT_NE(violation->why.find("overwrites state"), violation->why.npos) << violation->why;
}

// It has no commit that would say so.
TEST(Move, that_storage_fails_is_known_to_have_failed) {
  auto const graph = gpt_training_graph({.layers = 1, .hidden = 64, .heads = 2, .vocab = 300});
  auto const program = [&](char const* optimizer) {
    PlanWords request;
    request.optimizer = {optimizer};
    return compile(graph, nullptr, make_plan(graph, request, BlockPolicy::keep), 1, 1).train;
  };
  auto const move = make_move(program("device"), program("nvme"));
  ASSERT_TRUE(move);
  auto const fails = [](TransferRequest const&) { return TransferEnding(-EIO); };
  Places places(*move, {std::make_unique<ScriptedQueue>(8, 1, fails), ""});
  bool held = true;
  try {
    held = places.run(*move);
  } catch (Error const& error) {  // so early that the run itself found out
    held = error.status() != Status::storage;
  }
  EXPECT_FALSE(held);
}

TEST(MoveOrder, parks_one_where_two_want_each_others_places) {
  Spot const device{Tier::device, 0}, host{Tier::host, 0};
  std::vector<Relocation> const swap = {{kMiB, device, host}, {kMiB, host, device}};
  auto const order = move_order(swap, {kMiB, 2 * kMiB, 0}, true);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->hops.size(), 3u);
  EXPECT_EQ(order->hops[0].to, (Spot{Tier::host, kMiB}));
  EXPECT_EQ(order->slot_count, 0);
  auto const in_storage = move_order(swap, {kMiB, kMiB, kMiB}, true);
  ASSERT_TRUE(in_storage);
  EXPECT_EQ(in_storage->hops[0].to.tier, Tier::nvme);
  EXPECT_FALSE(move_order(swap, {kMiB, kMiB, kMiB - 1}, true));
}

TEST(MoveOrder, stays_clear_of_what_stays) {
  Spot const at{Tier::device, 0}, there{Tier::device, 4 * kMiB};
  std::vector<Relocation> const one = {{kMiB, {Tier::host, 0}, at}, {4 * kMiB, there, there}};
  auto const order = move_order(one, kRoomy, true);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->hops.size(), 1u);
}

TEST(MoveOrder, takes_slots_for_what_moves_over_itself_or_within_storage) {
  std::vector<Relocation> const shift = {{3 * kMiB, {Tier::device, 0}, {Tier::device, 64 * kKiB}}};
  auto const order = move_order(shift, kRoomy, true);
  ASSERT_TRUE(order);
  EXPECT_GT(order->slot_bytes, 0);
  EXPECT_GE(order->slots.offset, 3 * kMiB + 64 * kKiB);
  EXPECT_FALSE(move_order(shift, {4 * kMiB, 0, 256 * kMiB}, true));  // no memory for a slot
  auto const elsewhere = move_order(shift, {4 * kMiB, 12 * kMiB, 0}, true);
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->slots.tier, Tier::host);
  EXPECT_EQ(elsewhere->slot_count, 4) << "large slots elsewhere before smaller ones";
  std::vector<Relocation> const within = {{kMiB, {Tier::nvme, 0}, {Tier::nvme, 8 * kMiB}}};
  EXPECT_TRUE(needs_slots(within[0], true));
  EXPECT_FALSE(needs_slots({kMiB, {Tier::host, 0}, {Tier::nvme, 0}}, true));
  EXPECT_FALSE(needs_slots({kMiB, {Tier::host, 0}, {Tier::host, kMiB}}, true));
  Relocation const to_drive = {kMiB, {Tier::device, 0}, {Tier::nvme, 0}};
  EXPECT_FALSE(needs_slots(to_drive, true));
  EXPECT_TRUE(needs_slots(to_drive, false)) << "the drive reaches main memory alone";
  EXPECT_EQ(move_order({to_drive}, kRoomy, false)->slots.tier, Tier::host);
}

}  // namespace
}  // namespace spillway::test::move_test
