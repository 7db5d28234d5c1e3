// A BlockShape is the Shape (see tell_step.hpp) of a BlockModel under one Plan. It has only the few
// pieces that an estimate needs.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "plan/data/reach.hpp"
#include "plan/schedule/streaming.hpp"
#include "plan/schedule/tell_step.hpp"
#include "plan/search/block_model.hpp"

namespace spillway {

// Estimates of time divide passes and updates into pieces (`fine`), sums of bytes or work do not.
enum class Grain : std::uint8_t { fine, whole };

// An AwayPart is what leaves the device after one piece of a block's forward pass: all activations
// that leave, or half of them if the pass has two pieces.
struct AwayPart {
  int block, part;
  Tier to;
  std::int64_t bytes;
};

// The update of a chunk needs these three operands.
enum class Operand : std::uint8_t { gradient, parameters, state };

// A ChunkUpdate says what the update of one chunk brings and takes back, and how it is divided.
struct ChunkUpdate {
  Lane lane = Lane::compute;
  Tier workplace = Tier::device;                        // the tier that operands are brought to
  TierBytes brought_bytes{}, back_bytes{};              // bytes brought from, and taken to, tiers
  EnumArray<Operand, std::int64_t, 3> operand_bytes{};  // bytes brought of each operand
  bool uses_slots = false;                              // true if any operand is brought
  // The schedule cuts an update that uses slots into slices. An estimate of time divides it into
  // `parts` parts instead, each of one slice or, if there are many slices, of several.
  std::int64_t slice_elements = 0, slices = 0, parts = 1;
  int ahead = kSlicesAhead, slots = kUpdateSlots;  // number of parts brought ahead, and of slots
};

// Lists the chunks that belong to each place in a micro-batch. A place is a station or a group.
class ChunksByPlace {
 public:
  void add(int place, int chunk) { m_added.push_back({place, chunk}); }
  // Sorts the added chunks by place, after the last `add`. Chunks of one place keep their order.
  void close(int places);
  std::span<int const> at(int place) const {
    if (m_chunks.empty()) return {};
    return std::span(m_chunks).subspan(m_first[place], m_first[place + 1] - m_first[place]);
  }
  std::vector<int> const& all() const { return m_chunks; }

 private:
  std::vector<std::pair<int, int>> m_added;
  std::vector<int> m_chunks;
  std::vector<std::size_t> m_first;  // the index in m_chunks of each place's first chunk
};

class BlockShape {
 public:
  // The model and the plan must outlive this object. `several` says whether a step has several
  // micro-batches.
  BlockShape(BlockModel const& model, Plan const& plan, bool several, Grain grain);

  BlockModel const& model() const { return m_model; }
  Plan const& plan() const { return m_plan; }
  bool several() const { return m_several; }
  BlockCost const& block(int number) const { return m_model.blocks[number]; }
  PolicyCost const& policy_cost(int block) const {
    return this->block(block).policies[m_plan.blocks[block].policy];
  }
  ChunkCost const& chunk(int number) const { return m_shared[m_plan.chunks[number].shard][number]; }
  ChunkPlan const& places(int chunk) const { return m_plan.chunks[chunk]; }
  GradientCost const& gradient(GradientId id) const {
    if (id.part < 0) return chunk(id.chunk).gradient;
    return chunk(id.chunk).parts[id.part];
  }
  ChunkUpdate const& update(int chunk) const { return m_updates[chunk]; }
  bool is_fetched(int chunk) const {
    return places(chunk).parameters != Tier::device || this->chunk(chunk).fetch_sent_bytes > 0;
  }
  // Returns where ranks exchange bytes whose home is `tier`: there, or where the comm lane works.
  Tier exchanged_in(Tier tier) const {
    bool const there = reaches(Lane::comm, tier, m_plan.unified);
    return there ? tier : workplace(Lane::comm, m_plan.unified);
  }
  // Returns where the slice of a chunk's parameters lies that a rank updates, and its size.
  Tier slice_tier(int c) const { return slice_tier(chunk(c), places(c)); }
  std::int64_t slice_bytes(int c) const {
    auto const beside = chunk(c).parameters_beside_bytes;
    return beside > 0 ? beside : chunk(c).home_bytes;
  }
  // Says whether ranks exchange a copy of the chunk's gradient, because the comm lane cannot reach
  // it.
  bool leaves_for_exchange(int chunk) const {
    return exchanges() && !reaches(Lane::comm, summed_in(chunk), m_plan.unified);
  }
  // Returns where a chunk's gradients are summed: in their home, or on the device before they go to
  // the drive.
  Tier summed_in(int chunk) const {
    return sums_on_drive(chunk) ? Tier::device : places(chunk).gradients;
  }
  // Returns where the whole sum lies when its norm is taken, which comes before it goes to the
  // drive.
  Tier whole_in(int chunk) const {
    return leaves_for_exchange(chunk) && sums_on_drive(chunk) ? Tier::host : summed_in(chunk);
  }
  // Says whether a sum that goes home is one over ranks, of which each rank keeps its part.
  bool goes_home_reduced(int chunk, MicroBatch const& now) const {
    return exchanges() && now.last && sums_on_drive(chunk);
  }
  // Returns how many bytes of a block's activations leave the device until its backward pass.
  std::int64_t away_bytes(int block) const { return m_away_bytes[block]; }

  int blocks() const { return m_blocks; }
  int groups() const { return m_blocks; }
  int block_of(int group) const { return m_blocks - 1 - group; }
  std::span<int const> fetches(int station) const { return m_fetches.at(station); }
  std::span<int const> drops(int station) const { return m_drops.at(station); }
  int forward_pieces(int block) const { return away_bytes(block) > 0 ? m_halves : 1; }
  int backward_pieces(int group) const { return forward_pieces(block_of(group)); }
  template <class Visit>
  void leaving(int block, int piece, Visit visit) const {
    if (away_bytes(block) > 0) visit(away_part(block, piece));
  }
  // Calls `visit` with each part of spilled activations whose reload begins before this piece. They
  // are those of the group that comes `prefetch` groups later, and at group 0 of all until then.
  template <class Visit>
  void coming(Station const& at, int piece, Visit visit) const {
    if (piece > 0) return;
    int const station = at.group * at.members + at.batch.member;
    int const last = std::min(station + m_plan.prefetch, m_blocks * at.members - 1);
    for (int s = station == 0 ? 0 : station + m_plan.prefetch; s <= last; ++s) {
      int const b = block_of(s / at.members);
      for (int part = 0; away_bytes(b) > 0 && part < m_halves; ++part)
        visit(away_part(b, part), s % at.members);
    }
  }
  template <class Visit>
  void gradients(int group, int piece, Visit visit) const {
    int const b = block_of(group);
    if (piece + 1 < backward_pieces(group)) return;
    for (int const c : block(b).chunks) {
      if (!chunk(c).trainable) continue;
      if ((m_several ? chunk(c).own_block : chunk(c).first_block) == b) visit(GradientId{c});
      for (int part = 0; part < parts(c); ++part) {
        if (chunk(c).parts[part].block == b) visit(GradientId{c, part});
      }
    }
  }
  int parts(int chunk) const {
    return m_several ? static_cast<int>(this->chunk(chunk).parts.size()) : 0;
  }
  bool exchanges() const { return m_model.ranks > 1; }
  // Says whether the host updates the chunk after the backward pass, beside the next forward pass.
  bool is_late(int chunk) const { return m_late[chunk]; }
  bool sums_visit(int number) const {
    return may_visit(m_plan, number) && chunk(number).parts.empty() &&
           !(exchanges() && reduces_each(number));
  }
  bool sums_on_drive(int number) const { return places(number).gradients == Tier::nvme; }
  bool reduces_each(int) const { return m_model.reduces_each; }
  bool is_shared_out(int number) const { return chunk(number).sharing.sharers > 1; }
  bool has_copies(int number) const { return chunk(number).sharing.copies() > 1; }
  std::vector<int> const& chunks() const { return m_model.trained; }
  std::span<int const> updated_after(int group) const { return m_early.at(group); }
  int loss_group() const { return 0; }  // the group of the last block, which computes the loss
  int pieces() const { return static_cast<int>(m_pieces.size()); }
  int chunk_of(int piece) const { return m_pieces[piece].chunk; }
  int ahead(int piece) const { return update(chunk_of(piece)).ahead; }
  // Returns the number of a piece among all pieces of a step that use slots, or -1 if it uses none.
  int slot_of(int piece) const { return m_pieces[piece].slot; }
  int slots() const { return m_slots; }

 private:
  struct Piece {
    int chunk, slot;
  };
  AwayPart away_part(int block, int part) const {
    return {block, part, *away_tier(m_plan.blocks[block].policy), away_bytes(block) / m_halves};
  }
  static Tier slice_tier(ChunkCost const& chunk, ChunkPlan const& places) {
    return chunk.parameters_beside_bytes > 0 ? places.optimizer : places.parameters;
  }
  void note_visits();
  void note_late(Grain grain);
  void note_update(ChunkCost const& chunk, ChunkPlan const& places, ChunkUpdate& update) const;
  void divide_updates();

  BlockModel const& m_model;
  Plan const& m_plan;
  PerShard const& m_shared;
  bool m_several;
  int m_blocks, m_halves;
  IdVector<std::int64_t> m_away_bytes;        // bytes of each block that leave the device
  ChunksByPlace m_fetches, m_drops, m_early;  // m_early lists by group, the others by station
  IdVector<bool> m_late;                      // which chunks are updated after the backward pass
  IdVector<ChunkUpdate> m_updates;            // the update of each chunk
  IdVector<Piece> m_pieces;                   // the pieces of all updates if the grain is `fine`
  int m_slots = 0;
};

}  // namespace spillway
