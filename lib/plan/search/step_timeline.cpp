#include "plan/search/step_timeline.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "plan/data/reach.hpp"

namespace spillway {

StepTimeline::StepTimeline(Machine const& machine, BlockShape const& shape,
                           StationBytes const& bytes)
    : m_machine(machine),
      m_shape(shape),
      m_bytes(bytes),
      m_gradient(shape.model().chunks.size(), -1),
      m_updated(shape.model().chunks.size(), -1),
      m_visiting(shape.model().chunks.size(), -1) {}

// A staged transfer goes in pieces. A piece waits until its part of the ring was emptied; only its
// second half waits for room. More pieces than these would not make the estimate better.
StepTimeline::TransferJobs StepTimeline::transfer(Tier from, Tier to, std::int64_t bytes,
                                                  Waits waits, int room) {
  constexpr std::int64_t most_pieces = 3;
  auto const copy = [&](Tier source, Tier target, std::int64_t part_bytes, Waits const& after) {
    auto const lane = copy_lane(source, target);
    return m_timeline.add(lane, copy_cost(part_bytes, m_machine, lane), after);
  };
  if (!is_staged(from, to, m_shape.plan().unified)) {
    waits.push_back(room);
    int const job = copy(from, to, bytes, waits);
    return {job, job, job};
  }
  auto const most_bytes = m_shape.plan().staging_piece_bytes;
  auto const pieces = std::clamp<std::int64_t>(div_ceil(bytes, most_bytes), 1, most_pieces);
  auto const piece_bytes = bytes / pieces;
  auto const ahead = std::max<std::int64_t>(
      1, kStagingPieces * most_bytes / std::max<std::int64_t>(1, piece_bytes));
  auto& emptied = to == Tier::nvme ? m_to_drive : m_from_drive;
  TransferJobs last{};
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    auto after = waits;
    auto const before = std::ssize(emptied) - ahead;
    after.push_back(before < 0 ? -1 : emptied[before]);
    int const left = copy(from, Tier::host, piece_bytes, after);
    int const there = copy(Tier::host, to, piece_bytes, {left, room});
    last = {left, there, piece == 0 ? there : last.there};
    emptied.push_back(there);
  }
  return last;
}

int StepTimeline::send(std::int64_t bytes, RankRange const& group, int job, Waits waits) {
  if (bytes == 0) return job;
  waits.push_back(job);
  return m_timeline.add(Lane::comm, send_cost(bytes, m_machine, group), waits);
}

void StepTimeline::begin_micro_batches(MicroBatches const& now) {
  m_members = now.count;
  m_last_pass = now.first ? m_reported : -1;
  m_fetched.assign(m_shape.model().chunks.size(), -1);
  m_spilled.assign(m_shape.blocks() * m_members, -1);
  m_reloads.assign(m_shape.blocks() * m_members, {-1, -1});
  m_released.assign(1, {-1, -1, -1});
  m_left.clear();
  m_left_bytes = 0;
}

void StepTimeline::fetch(int c, Station const&) {
  auto const sent_bytes = chunk(c).fetch_sent_bytes;
  m_fetched[c] = sent_bytes > 0 ? gather(c, sent_bytes, Tier::device, m_last_pass)
                                : transfer(places(c).parameters, Tier::device, chunk(c).home_bytes,
                                           {m_updated[c]}, m_last_pass)
                                      .there;
}

int StepTimeline::gather(int c, std::int64_t sent_bytes, Tier to, int room) {
  Tier const home = m_shape.slice_tier(c);
  Tier const from = m_shape.exchanged_in(home), there = m_shape.exchanged_in(to);
  int const there_room = there == to ? room : m_gathered[0];
  int job = m_updated[c];
  if (from != home) job = transfer(home, from, m_shape.slice_bytes(c), {job}, there_room).there;
  job = send(sent_bytes, chunk(c).sharing.sharers_of(0), job, {there_room});
  if (there == to) return job;
  job = transfer(there, to, chunk(c).parameter_bytes, {job}, room).there;
  m_gathered = {m_gathered[1], job};
  return job;
}

void StepTimeline::forward(Station const& at, int piece) {
  int const b = at.block;
  Waits waits = {};
  if (piece == 0) {
    waits.push_back(passed(at) == 0 ? m_last_pass : -1);
    need_room_as_layout_gives_it(at, waits);
    need_parameters(m_shape.block(b).forward_chunks, waits);
    if (at.batch.first) need_memory_as_layout_gives_it(b, waits);
  }
  m_last_pass = m_timeline.add(Lane::compute,
                               divided(m_shape.block(b).forward, m_shape.forward_pieces(b)), waits);
}

// A reload begins with the tensor that was spilled last, which is about the last two pieces. Its
// reads follow the writes, so it waits only for the first of these pieces.
void StepTimeline::leave(Station const& at, AwayPart const& part) {
  auto const spill = transfer(Tier::device, part.to, part.bytes, {m_last_pass});
  m_spilled[passed(at)] = spill.nearly_there;
  int const parts = m_shape.forward_pieces(at.block);
  auto const stop = first_stop(Tier::device, part.to, m_shape.plan().unified);
  if (part.part + 1 == parts) note_left({passed(at), stop, spill.left, part.bytes * parts});
}

void StepTimeline::reload(Station const&, AwayPart const& part, int member) {
  auto const from = of_member(part.block, member);
  m_reloads[from][part.part] =
      transfer(part.to, Tier::device, part.bytes, {m_spilled[from]}, m_last_pass).there;
}

void StepTimeline::backward(Station const& at, int piece) {
  int const b = at.block;
  Waits waits = {};
  if (piece == 0) {
    need_room_as_layout_gives_it(at, waits);
    waits.push_back(gradients_room_as_layout_gives_it(Tier::device, at.group));
    need_parameters(m_shape.block(b).backward_chunks, waits);
  }
  waits.push_back(m_reloads[of_member(b, at.batch.member)][piece]);
  auto const cost = divided(m_shape.policy_cost(b).backward, m_shape.backward_pieces(at.group));
  m_last_pass = m_timeline.add(Lane::compute, cost, waits);
}

void StepTimeline::bring_sum_to_visit(int c, Station const&) {
  m_visiting[c] = transfer(places(c).gradients, Tier::device, chunk(c).gradient.bytes,
                           {m_gradient[c]}, m_last_pass)
                      .there;
}

void StepTimeline::take_sum_home(int c, Station const& at) {
  auto const home = places(c).gradients;
  bool const is_reduced = m_shape.goes_home_reduced(c, at.batch);
  auto const from = is_reduced ? m_shape.whole_in(c) : Tier::device;
  auto const bytes = chunk(c).gradient.bytes / (is_reduced ? chunk(c).sharing.sharers : 1);
  auto& job = m_gradient[c];
  int const room = at.batch.first ? gradients_room_as_layout_gives_it(home, at.group) : -1;
  auto const gone = transfer(from, home, bytes, {job, m_visiting[c]}, room);
  job = gone.there;
  if (from != Tier::device) return;
  auto const stop = first_stop(from, home, m_shape.plan().unified);
  note_left({passed(at) + m_members - 1, stop, gone.left, bytes});
}

// If device memory is main memory, the host lane also works on gradients that lie on the device.
void StepTimeline::collect(GradientId gradient, Station const& at) {
  int const c = gradient.chunk;
  auto& job = m_gradient[c];
  job = m_last_pass;
  if (m_shape.sums_visit(c)) {
    if (at.batch.first) m_visiting[c] = -1;
    return;
  }
  if (!sums_on_host(c) || (!at.batch.first && m_shape.plan().unified)) return;
  auto const bytes = m_shape.gradient(gradient).bytes;
  int const room =
      at.batch.first ? gradients_room_as_layout_gives_it(Tier::host, at.group) : m_summed_before[0];
  job = transfer(Tier::device, Tier::host, bytes, {job, room}).there;
  note_left({passed(at), Tier::host, job, bytes});
}

int StepTimeline::add_for(int c, LaneCosts const& costs, Waits const& waits) {
  auto const lane = op_lane(places(c).gradients);
  return m_timeline.add(lane, costs.on(lane), waits);
}

void StepTimeline::accumulate(GradientId gradient, MicroBatch const&) {
  auto& job = m_gradient[gradient.chunk];
  auto const& cost = m_shape.gradient(gradient).accumulate;
  if (m_shape.sums_visit(gradient.chunk)) {
    auto& visiting = m_visiting[gradient.chunk];
    job = visiting = m_timeline.add(Lane::compute, cost.compute, Waits{job, visiting});
    return;
  }
  job = add_for(gradient.chunk, cost, {job});
  if (sums_on_host(gradient.chunk)) m_summed_before = {m_summed_before[1], job};
}

void StepTimeline::add_part(GradientId gradient, MicroBatch const&) {
  auto& job = m_gradient[gradient.chunk];
  job = add_for(gradient.chunk, m_shape.gradient(gradient).accumulate, {job, m_last_pass});
}

void StepTimeline::reduce(GradientId gradient, MicroBatch const&) {
  auto const& cost = m_shape.gradient(gradient);
  auto& job = m_gradient[gradient.chunk];
  int const room = exchange_room_as_layout_gives_it(gradient.chunk);
  if (m_shape.leaves_for_exchange(gradient.chunk))
    job = transfer(Tier::device, Tier::host, cost.bytes, {job}, room).there;
  job = send(cost.scatter_sent_bytes, all_ranks(m_shape.model().ranks), job, {room});
}

// Layout gives the bytes of an exchange to one that begins later: to the third from it, but to the
// second where exchanges do not overlap and no copy of the gradient waits to come back.
int StepTimeline::exchange_room_as_layout_gives_it(int chunk) {
  bool const overlaps = m_shape.plan().exchanges_overlap;
  auto const before = m_exchanges++ - (overlaps || !m_shape.is_shared_out(chunk) ? 3 : 2);
  return before < 0 || before >= std::ssize(m_exchanged) ? -1 : m_exchanged[before];
}

void StepTimeline::sum_slice(GradientId gradient, MicroBatch const&) {
  auto const& cost = m_shape.gradient(gradient);
  auto& job = m_gradient[gradient.chunk];
  job = m_shape.leaves_for_exchange(gradient.chunk)
            ? m_timeline.add(Lane::host, cost.tree_sum.host, Waits{job})
            : add_for(gradient.chunk, cost.tree_sum, {job});
  if (m_shape.has_copies(gradient.chunk)) return;
  bring_sum(gradient);
  m_exchanged.push_back(job);
}

void StepTimeline::gather_gradient(GradientId gradient, MicroBatch const&) {
  auto const& cost = m_shape.gradient(gradient);
  auto& job = m_gradient[gradient.chunk];
  auto const& sharing = chunk(gradient.chunk).sharing;
  job = send(cost.gather_sent_bytes, sharing.keepers_of(0), job);
  bring_sum(gradient);
  m_exchanged.push_back(job);
}

void StepTimeline::bring_sum(GradientId gradient) {
  bool const is_copied = m_shape.leaves_for_exchange(gradient.chunk);
  if (!is_copied || m_shape.sums_on_drive(gradient.chunk)) return;
  auto const bytes = m_shape.gradient(gradient).bytes / chunk(gradient.chunk).sharing.sharers;
  auto& job = m_gradient[gradient.chunk];
  job = transfer(Tier::host, Tier::device, bytes, {job}).there;
}

void StepTimeline::norm(int c) {
  auto const lane = op_lane(m_shape.whole_in(c));
  m_go = m_norms[lane == Lane::host ? 1 : 0] =
      m_timeline.add(lane, chunk(c).norm.on(lane), Waits{m_gradient[c]});
}

// A commit that runs as soon as the loss is known does not know the norms yet. The event `report`
// then comes later and sends them.
void StepTimeline::commit(bool knows_norms) {
  if (knows_norms) report();
}

void StepTimeline::report() {
  m_go = m_reported = m_timeline.add(Lane::comm, {}, Waits{m_norms[0], m_norms[1]});
}

void StepTimeline::bring(int piece, bool late) {
  int const c = m_shape.chunk_of(piece);
  auto const& work = m_shape.update(c);
  auto& waits = m_update_waits[piece % kAtOnce];
  if (!late) waits.clear();
  int const after = late ? m_gradient[c] : m_last_pass;
  for (Tier const tier : kTiersInOrder) {
    // The late call brings the gradient, once it is whole, and the operands at home on the device.
    auto const all = work.brought_bytes[tier];
    auto const gradient = tier == places(c).gradients ? work.operand_bytes[Operand::gradient] : 0;
    auto const late_bytes = tier == Tier::device ? all : gradient;
    auto const bytes = (late ? late_bytes : all - late_bytes) / work.parts;
    if (bytes == 0) continue;
    int const job = transfer(tier, work.workplace, bytes, {after}, slot_free(piece)).there;
    waits.push_back(job);
    if (late && gradient > 0) m_released.back()[tier] = job;
  }
}

void StepTimeline::update(int piece) {
  int const c = m_shape.chunk_of(piece);
  auto const& work = m_shape.update(c);
  auto& waits = m_update_waits[piece % kAtOnce];
  waits.push_back(m_go);
  auto const cost = divided(chunk(c).update.on(work.lane), work.parts);
  int const changed = m_timeline.add(work.lane, cost, waits);
  int freed = m_updated[c] = changed;
  auto const gradients = places(c).gradients;
  if (work.brought_bytes[gradients] == 0) m_released.back()[gradients] = changed;
  for (Tier const tier : kTiersInOrder) {
    auto const bytes = work.back_bytes[tier] / work.parts;
    if (bytes == 0) continue;
    auto const back = transfer(work.workplace, tier, bytes, {changed});
    freed = back.left;
    if (tier == places(c).parameters) m_updated[c] = back.there;
  }
  if (m_shape.slot_of(piece) >= 0) m_freed.push_back(freed);
}

void StepTimeline::updated(int c) {
  auto const sent_bytes = chunk(c).update_sent_bytes;
  if (sent_bytes > 0) m_updated[c] = gather(c, sent_bytes, places(c).parameters);
}

int StepTimeline::slot_free(int piece) const {
  int const slots = m_shape.update(m_shape.chunk_of(piece)).slots;
  auto const before = m_steps * m_shape.slots() + m_shape.slot_of(piece) - slots;
  auto const last = std::min<std::ptrdiff_t>(before, std::ssize(m_freed) - 1);
  return last < 0 ? -1 : m_freed[last];
}

void StepTimeline::need_parameters(std::vector<int> const& chunks, Waits& waits) {
  for (int const c : chunks) waits.push_back(m_shape.is_fetched(c) ? m_fetched[c] : m_updated[c]);
}

void StepTimeline::note_left(Left const& left) {
  m_left.push_back(left);
  m_left_bytes += left.bytes;
}

// Makes a station wait for transfers that began before the previous station, oldest first, if their
// bytes are needed. Layout uses free bytes first, so waits begin at about this share of the peak.
void StepTimeline::need_room_as_layout_gives_it(Station const& at, Waits& waits) {
  constexpr double share = 0.8;
  auto const most = share * static_cast<double>(m_bytes.most[Tier::device]);
  auto bytes = m_bytes.at(at) + m_left_bytes;
  int const now = passed(at);
  for (auto left = m_left.rbegin(); left != m_left.rend() && left->passed + 1 >= now; ++left)
    bytes -= left->bytes;
  PerTier<int> last = {-1, -1, -1};  // a lane ends its jobs in order, so the last one suffices
  while (!m_left.empty() && m_left.front().passed + 1 < now && static_cast<double>(bytes) > most) {
    bytes -= m_left.front().bytes;
    m_left_bytes -= m_left.front().bytes;
    last[m_left.front().to] = m_left.front().job;
    m_left.pop_front();
  }
  for (int const job : last) waits.push_back(job);
}

// Layout expects an update beside the backward pass to end some groups later, and then gives the
// bytes of its gradient to another gradient. That gradient waits if the update has not ended.
int StepTimeline::gradients_room_as_layout_gives_it(Tier tier, int group) const {
  int const from = group - kGroupsBeside - 1;
  if (m_shape.plan().redo || from < 0 || from >= std::ssize(m_released)) return -1;
  return m_released[from][tier];
}

// If memory is unified and parameters are fetched, a late host update may still read a gradient
// when layout gives its bytes to the block `prefetch` blocks earlier. That block then waits.
void StepTimeline::need_memory_as_layout_gives_it(int b, Waits& waits) {
  if (!m_shape.plan().unified) return;
  int const ahead = std::min(b + m_shape.plan().prefetch, m_shape.blocks() - 1);
  for (int const c : m_shape.block(ahead).forward_chunks) {
    bool const comes = places(c).parameters != Tier::device;
    if (comes && m_shape.is_late(c)) waits.push_back(m_updated[c]);
  }
}

}  // namespace spillway
