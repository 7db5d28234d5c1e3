// A model's blocks and chunks under one Plan, in the few pieces that an estimate looks at: a Shape
// for tell_step.hpp.
#pragma once

#include <algorithm>
#include <ranges>
#include <vector>

#include "plan/schedule/streaming.hpp"
#include "plan/schedule/tell_step.hpp"
#include "plan/search/block_model.hpp"

namespace spillway {

// What leaves the device of a block's activations, and stays away until its backward pass.
std::int64_t away_bytes(BlockModel const& model, Plan const& plan, std::size_t block);

// Of a chunk's gradient, parameters and state, what its update must have brought, and taken back,
// by the tier where that lies.
struct Brought {
  Tier workplace = Tier::device;  // where to
  TierBytes bytes{}, back_bytes{};
  std::array<std::int64_t, 3> operand_bytes{};  // gradient, parameters, state
  std::int64_t all_bytes() const;
};
Brought brought(ChunkCost const& chunk, ChunkPlan const& places, bool unified);

// Of the host, for the slots through which bytes go between the device and the drive; 0 where none
// do.
std::int64_t staging_bytes(BlockModel const& model, Plan const& plan);

// Elements of a slice of its update, at least one: see streaming.hpp.
std::int64_t slice_elements(ChunkCost const& chunk, Plan const& plan);

// Into what passes and updates are divided: for a timeline, or not at all for what only sums up.
enum class Grain : std::uint8_t { fine, whole };

// What leaves the device of a block's activations: of a pass in two pieces, each half.
struct AwayPart {
  int block = -1, part = 0;
  std::int64_t bytes = 0;
};

class BlockShape {
  struct At {  // a station or a group
    int at, chunk;
  };
  static auto within(std::vector<At> const& sorted, int at) {
    return std::ranges::equal_range(sorted, at, {}, &At::at) | std::views::transform(&At::chunk);
  }

 public:
  // Both outlive it. `several`: the step has more than one micro-batch.
  BlockShape(BlockModel const& model, Plan const& plan, bool several, Grain grain);

  int blocks() const { return m_blocks; }
  int groups() const { return m_blocks; }
  int block_of(int group) const { return m_blocks - 1 - group; }
  int station_of(int group) const { return m_blocks + group; }

  auto fetches(int station) const { return within(m_fetches, station); }
  auto drops(int station) const { return within(m_drops, station); }

  std::int64_t away_bytes(int block) const { return m_away[block]; }
  int forward_pieces(int block) const { return away_bytes(block) > 0 ? m_halves : 1; }
  int backward_pieces(int group) const { return forward_pieces(block_of(group)); }
  template <class Visit>
  void leaving(int block, int piece, Visit visit) const {
    if (auto const bytes = away_bytes(block)) visit(AwayPart{block, piece, bytes / m_halves});
  }
  // As far ahead as the Plan says.
  template <class Visit>
  void coming(int group, int piece, Visit visit) const {
    if (piece > 0) return;
    int const last = std::min(group + m_plan.prefetch, m_blocks - 1);
    for (int g = group == 0 ? 0 : group + m_plan.prefetch; g <= last; ++g) {
      auto const bytes = away_bytes(block_of(g));
      for (int part = 0; bytes > 0 && part < m_halves; ++part)
        visit(AwayPart{block_of(g), part, bytes / m_halves});
    }
  }
  template <class Visit>
  void gradients(int group, int piece, Visit visit) const {
    int const block = block_of(group);
    if (piece + 1 < backward_pieces(group)) return;
    for (int const chunk : m_model.blocks[block].chunks) {
      auto const& cost = this->chunk(chunk);
      if (!cost.trainable) continue;
      if ((m_several ? cost.own_block : cost.first_block) == block) visit(GradientId{chunk});
      for (int part = 0; part < parts(chunk); ++part) {
        if (cost.parts[part].block == block) visit(GradientId{chunk, part});
      }
    }
  }
  int parts(int chunk) const {
    return m_several ? static_cast<int>(this->chunk(chunk).parts.size()) : 0;
  }
  bool exchanges() const { return m_model.ranks > 1; }
  bool reduces_each(int chunk) const { return this->chunk(chunk).reduces_each; }

  std::vector<int> const& chunks() const { return m_model.trained; }
  // As soon as the gradient is whole, and over ranks some groups later: groups_until_updated.
  auto updated_after(int group) const { return within(m_early, group); }
  int loss_group() const { return 0; }  // the last block tells it

  // How a chunk's update is divided: into parts of one slice each or, where slices are many, of
  // several.
  struct Work {
    Brought needs;
    std::int64_t parts = 1;
    int ahead = kSlicesAhead, slots = kUpdateSlots;  // of parts
    bool uses_slots() const { return needs.all_bytes() > 0; }
  };
  Work const& work(int chunk) const { return m_work[chunk]; }
  int pieces() const { return static_cast<int>(m_pieces.size()); }
  int chunk_of(int piece) const { return m_pieces[piece].chunk; }
  // Counted through the step; -1: all is within reach.
  int slot_of(int piece) const { return m_pieces[piece].slot; }
  int ahead(int piece) const { return work(chunk_of(piece)).ahead; }
  int slots() const { return m_slots; }  // taken in a step

  bool is_fetched(int chunk) const {
    return places(chunk).parameters != Tier::device || this->chunk(chunk).fetch_sent_bytes > 0;
  }
  ChunkCost const& chunk(int number) const { return m_model.chunks[number]; }
  GradientCost const& gradient(GradientId id) const {
    if (id.part < 0) return chunk(id.chunk).gradient;
    return chunk(id.chunk).parts[id.part];
  }
  ChunkPlan const& places(int chunk) const { return m_plan.chunks[chunk]; }

 private:
  struct Piece {
    int chunk, slot;
  };
  void note_visits();
  void note_early();
  void divide_updates();
  void add_pieces(int chunk);

  BlockModel const& m_model;
  Plan const& m_plan;
  bool m_several;
  int m_blocks, m_halves;
  std::vector<std::int64_t> m_away;             // per block
  std::vector<At> m_fetches, m_drops, m_early;  // sorted
  std::vector<Work> m_work;                     // per chunk; of grain `fine`
  std::vector<Piece> m_pieces;
  int m_slots = 0;
};

}  // namespace spillway
