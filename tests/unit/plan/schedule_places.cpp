// What `schedule` promises about values that live elsewhere than where they are used: parameters,
// gradients and optimizer state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/gpt_graph.hpp"

namespace spillway::test::schedule_places_test {
namespace {

Graph const& graph() {
  static Graph const small =
      gpt_training_graph({.layers = 6, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64});
  return small;
}

Plan plan_with(ChunkPlan const& places, int prefetch = 1) {
  Plan plan;
  plan.blocks.resize(graph().blocks.size());
  plan.chunks.assign(graph().chunks.size(), places);
  plan.prefetch = prefetch;
  plan.update_slice = 32 << 10;
  plan.unified = false;
  return plan;
}

Program scheduled(Plan const& plan, int micro_batches = 1) {
  return schedule(graph(), plan, micro_batches, 1);
}

Buffer const& buffer(Program const& program, BufferId id) {
  return program.buffers[static_cast<std::size_t>(id)];
}
Role role(Program const& program, BufferId id) {
  return program.tensors[static_cast<std::size_t>(buffer(program, id).tensor)].role;
}
bool runs(Program const& program, Item const& item, OpKind kind) {
  return item.kind == ItemKind::op && program.ops[static_cast<std::size_t>(item.op)].kind == kind;
}

// Per item: its station, the one of the next compute op for what comes before that.
std::vector<int> stations(Program const& program) {
  std::vector<int> result(program.items.size(), -1);
  int station = -1;
  std::pair<Phase, int> at = {Phase::update, -1};
  std::size_t first_without = 0;
  for (Item const& item : program.items) {
    if (item.lane != Lane::compute || item.kind != ItemKind::op) continue;
    Op const& op = program.ops[static_cast<std::size_t>(item.op)];
    if (std::pair now{op.phase, op.block}; now != at) {
      at = now;
      ++station;
    }
    for (; first_without <= static_cast<std::size_t>(item.number); ++first_without)
      result[first_without] = station;
  }
  return result;
}

struct Visit {  // of a chunk's parameters on the device
  int fetched = -1;
  std::set<int> used;  // stations
};

// Per chunk, in order of time; only compute ops before the update count as users.
std::map<int, std::vector<Visit>> visits(Program const& program) {
  auto const station = stations(program);
  std::map<BufferId, Visit> by_buffer;
  for (Item const& item : program.items) {
    auto const now = station[static_cast<std::size_t>(item.number)];
    for (Access const& write : item.writes) {
      if (item.kind == ItemKind::copy && role(program, write.buffer) == Role::parameter)
        by_buffer[write.buffer].fetched = now;
    }
    if (item.kind != ItemKind::op) continue;
    for (Access const& read : item.reads) {
      if (role(program, read.buffer) == Role::parameter) by_buffer[read.buffer].used.insert(now);
    }
  }
  std::map<int, std::vector<Visit>> result;
  for (auto const& [id, visit] : by_buffer) {
    Buffer const& b = buffer(program, id);
    if (visit.used.empty()) continue;
    result[program.tensors[static_cast<std::size_t>(b.tensor)].chunk].push_back(visit);
  }
  return result;
}

TEST(Places, parameters_are_fetched_as_many_stations_ahead_as_prefetch_says) {
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    for (int prefetch = 0; prefetch < 4; ++prefetch) {
      auto const all = visits(scheduled(plan_with({.parameters = tier}, prefetch)));
      ASSERT_EQ(all.size(), graph().chunks.size());
      for (auto const& [chunk, list] : all) {
        int free_from = 0;  // the station after the last use
        for (Visit const& visit : list) {
          EXPECT_EQ(visit.fetched, std::max(free_from, *visit.used.begin() - prefetch))
              << "chunk " << chunk << ", prefetch " << prefetch;
          free_from = *visit.used.rbegin() + 1;
        }
      }
    }
  }
}

// Returns how often a step brings parameters to the device.
std::int64_t fetches(Program const& program) {
  std::int64_t count = 0;
  for (Segment const& segment : program.segments) {
    for (auto item = segment.first; item < segment.last; ++item) {
      Item const& copy = program.items[static_cast<std::size_t>(item)];
      bool const fetches = copy.kind == ItemKind::copy && copy.lane == Lane::nvme_read &&
                           role(program, copy.operands[1]) == Role::parameter;
      if (fetches) count += times_a_step(program, segment);
    }
  }
  return count;
}

TEST(Places, parameters_are_fetched_once_for_micro_batches_that_walk_together) {
  auto plan = plan_with({.parameters = Tier::nvme});
  plan.unified = true;  // so that each fetch is one copy
  auto const once = fetches(scheduled(plan));
  EXPECT_GT(once, std::ssize(graph().chunks));
  for (int const micro_batches : {1, 2, 7}) {
    for (int const group : {1, 2, 3, 7, 9}) {
      plan.group = group;
      auto const program = scheduled(plan, micro_batches);
      EXPECT_EQ(fetches(program), (micro_batches + group - 1) / group * once)
          << micro_batches << " in groups of " << group;
      std::int64_t all = 0;
      for (Segment const& segment : program.segments)
        all += times_a_step(program, segment) * segment.micro_batches;
      EXPECT_EQ(all, micro_batches);
    }
  }
}

TEST(Places, parameters_stay_on_the_device_between_uses_that_are_close_and_leave_it_otherwise) {
  for (int prefetch = 0; prefetch < 4; ++prefetch) {
    auto const all = visits(scheduled(plan_with({.parameters = Tier::nvme}, prefetch)));
    int stayed = 0, left = 0;
    for (auto const& [chunk, list] : all) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        auto const& used = list[i].used;
        for (auto next = std::next(used.begin()); next != used.end(); ++next, ++stayed)
          EXPECT_LE(*next - *std::prev(next), prefetch + 1) << "chunk " << chunk;
        if (i == 0) continue;
        EXPECT_GT(*used.begin() - *list[i - 1].used.rbegin(), prefetch + 1) << "chunk " << chunk;
        ++left;
      }
    }
    EXPECT_GT(stayed, 0);
    EXPECT_GT(left, 2);
  }
}

TEST(Places, parameters_are_never_copied_from_the_device) {
  for (auto const policy : {BlockPolicy::nvme, BlockPolicy::light_host, BlockPolicy::recompute}) {
    for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
      auto plan = plan_with({.parameters = tier, .optimizer = tier});
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        plan.blocks[b].policy = policy;
      }
      normalise(graph(), plan);
      Program const program = scheduled(plan, 2);
      for (Item const& item : program.items) {
        if (item.kind != ItemKind::copy) continue;
        Buffer const& from = buffer(program, item.operands[0]);
        EXPECT_FALSE(from.tier == Tier::device && role(program, from.id) == Role::parameter)
            << describe(program, item.number);
      }
    }
  }
}

// Of updates that work in slots: the pieces brought before each begins, and where.
TEST(Places, updates_take_turns_in_five_slots_and_are_brought_two_ahead) {
  for (Tier const update : {Tier::device, Tier::host}) {
    Program const program = scheduled(plan_with({.optimizer = Tier::nvme, .update = update}));
    std::set<BufferId> slots;                         // of the first moment
    std::vector<BufferId> brought, changed, written;  // in order
    std::vector<std::size_t> known;                   // brought before each update
    for (Item const& item : program.items) {
      auto const is_slot = [&](BufferId id) {
        if (id == kAbsent) return false;
        auto const& name = buffer(program, id).name;
        return name.starts_with("update.") && name.ends_with(".m");
      };
      if (item.kind == ItemKind::copy && is_slot(item.operands[1])) {
        brought.push_back(item.operands[1]);
        slots.insert(item.operands[1]);
      } else if (item.kind == ItemKind::copy && is_slot(item.operands[0])) {
        written.push_back(item.operands[0]);
      } else if (runs(program, item, OpKind::adamw)) {
        auto const slot = std::ranges::find_if(item.operands, is_slot);
        ASSERT_NE(slot, item.operands.end());
        changed.push_back(*slot);
        known.push_back(brought.size());
      }
    }
    EXPECT_EQ(slots.size(), 5u);
    ASSERT_GT(changed.size(), 20u);
    EXPECT_EQ(brought, changed);
    EXPECT_EQ(written, changed);
    for (std::size_t i = 0; i < known.size(); ++i)
      EXPECT_EQ(known[i], std::min(i + 3, brought.size()));
    for (std::size_t i = 5; i < brought.size(); ++i) EXPECT_EQ(brought[i], brought[i - 5]);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_NE(brought[i], brought[0]);
  }
}

TEST(Places, gradients_go_to_the_host_as_soon_as_they_are_complete) {
  Program const program = scheduled(plan_with({.gradients = Tier::host, .update = Tier::host}), 3);
  for (Segment const& segment : program.segments) {
    if (segment.name == "update") continue;
    std::map<TensorId, ItemNumber> written, copied;  // per tensor of gradients, the last
    std::map<TensorId, int> copies, sums;
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[static_cast<std::size_t>(i)];
      if (runs(program, item, OpKind::accumulate)) {
        EXPECT_EQ(item.lane, Lane::host);
        Op const& op = program.ops[static_cast<std::size_t>(item.op)];
        if (op.inputs[0].tensor == op.outputs[0].tensor) ++sums[op.inputs[0].tensor];
        continue;
      }
      for (Access const& write : item.writes) {
        if (role(program, write.buffer) != Role::gradient) continue;
        Tensor const& tensor =
            program.tensors[static_cast<std::size_t>(buffer(program, write.buffer).tensor)];
        bool const leaves = item.kind == ItemKind::copy;
        EXPECT_EQ(buffer(program, write.buffer).tier, leaves ? Tier::host : Tier::device);
        (leaves ? copied : written)[tensor.id] = i;
        if (leaves) ++copies[tensor.id];
      }
    }
    for (Tensor const& tensor : graph().tensors) {
      if (tensor.role != Role::gradient) continue;
      EXPECT_EQ(copies[tensor.id], 1) << tensor.name;
      EXPECT_EQ(sums[tensor.id], segment.name == "first" ? 0 : 1);
      ASSERT_GT(copied[tensor.id], written[tensor.id]);
      for (auto i = written[tensor.id] + 1; i < copied[tensor.id]; ++i)
        EXPECT_NE(program.items[static_cast<std::size_t>(i)].lane, Lane::compute) << tensor.name;
    }
  }
}

// Else the next block would wait for the copy, whose bytes it would be given.
TEST(Places, gradients_that_leave_have_until_the_end_of_the_next_block) {
  for (int const micro_batches : {1, 3}) {
    Program const program =
        scheduled(plan_with({.gradients = Tier::host, .update = Tier::host}), micro_batches);
    auto const alive = lifetimes(program);
    std::size_t beside = 0;
    for (Segment const& segment : program.segments) {
      std::map<int, ItemNumber> block_ends;
      for (auto i = segment.first; i < segment.last; ++i) {
        Item const& item = program.items[static_cast<std::size_t>(i)];
        if (item.lane == Lane::compute) block_ends[item.block] = i;
      }
      for (auto i = segment.first; i < segment.last; ++i) {
        Item const& item = program.items[static_cast<std::size_t>(i)];
        if (item.lane != Lane::d2h || role(program, item.operands[0]) != Role::gradient) continue;
        auto const next = block_ends.find(item.block - 1);
        if (next == block_ends.end()) continue;
        ++beside;
        EXPECT_EQ(item.horizon, next->second) << describe(program, i);
        EXPECT_EQ(alive[static_cast<std::size_t>(item.operands[0])].front().last, next->second);
      }
    }
    auto const layers = graph().blocks.size() - 2;
    EXPECT_GE(beside, layers * static_cast<std::size_t>(micro_batches));
  }
}

// Updates beside the backward pass: parameters that the host lane changes leave the device in
// pieces, by turns in few slots, and the gradient does so whole. In front of it in their lane they
// would make it wait for updates of the chunk before.
TEST(Places, pieces_of_a_chunk_leave_the_device_after_its_gradient) {
  auto plan = plan_with({.gradients = Tier::host, .optimizer = Tier::host, .update = Tier::host});
  plan.redo = false;
  Program const program = scheduled(plan);
  std::set<int> complete, in_pieces;
  for (Item const& item : program.items) {
    if (item.lane != Lane::d2h) continue;
    Buffer const& from = buffer(program, item.operands[0]);
    int const chunk = program.tensors[static_cast<std::size_t>(from.tensor)].chunk;
    if (role(program, from.id) == Role::gradient) {
      complete.insert(chunk);
    } else if (role(program, from.id) == Role::parameter) {
      in_pieces.insert(chunk);
      EXPECT_TRUE(complete.contains(chunk)) << describe(program, item.number);
    }
  }
  EXPECT_EQ(in_pieces.size(), graph().chunks.size());
}

// What reads a chunk's parameters first in a step: the op, or the fetch of what is away.
ItemNumber first_reader(Program const& program, int chunk) {
  auto const reads = [&](Access const& read) {
    Buffer const& b = buffer(program, read.buffer);
    return b.persistent && b.tensor == graph().chunks[static_cast<std::size_t>(chunk)].parameter;
  };
  for (Item const& item : program.items) {
    if (std::ranges::any_of(item.reads, reads)) return item.number;
  }
  return -1;
}

TEST(Places, updates_on_the_host_have_until_the_next_forward_reads_their_parameters) {
  for (Tier const parameters : {Tier::device, Tier::host, Tier::nvme}) {
    for (int const micro_batches : {1, 3}) {
      auto const plan =
          plan_with({.parameters = parameters, .optimizer = Tier::host, .update = Tier::host}, 2);
      Program const program = scheduled(plan, micro_batches);
      auto const items = static_cast<ItemNumber>(program.items.size());
      std::set<ItemNumber> horizons;
      for (Item const& item : program.items) {
        if (!runs(program, item, OpKind::adamw)) continue;
        EXPECT_EQ(item.lane, Lane::host);
        EXPECT_EQ(item.horizon, items + first_reader(program, item.chunk));
        horizons.insert(item.horizon);
      }
      EXPECT_GT(horizons.size(), graph().chunks.size() / 2);
      auto const alive = lifetimes(program);
      for (Item const& item : program.items) {
        if (!runs(program, item, OpKind::adamw)) continue;
        Buffer const& gradient = buffer(program, item.operands[0]);
        auto const& life = alive[static_cast<std::size_t>(gradient.id)];
        auto const until = [&](Stay const& stay) { return stay.first == 0; };
        EXPECT_TRUE(gradient.persistent || item.horizon == items ||
                    std::ranges::any_of(life, until))
            << gradient.name;
      }
    }
  }
}

}  // namespace
}  // namespace spillway::test::schedule_places_test
