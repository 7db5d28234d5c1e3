#include "plan/search/estimate_bytes.hpp"

#include <algorithm>
#include <utility>

#include "plan/data/reach.hpp"

namespace spillway {

namespace {

// Returns the bytes of all slots for slices of updates in device and host memory. Every slot has
// room for the largest slice of each operand that any update brings there.
TierBytes slot_bytes(BlockShape const& shape) {
  TierBytes slices{}, elements{}, bytes{};
  PerTier<EnumArray<Operand, double, 3>> bytes_per_element{};
  for (int const c : shape.chunks()) {
    auto const& update = shape.update(c);
    if (!update.uses_slots) continue;
    auto const tier = shape.places(c).update;
    slices[tier] += update.slices;
    elements[tier] = std::max(elements[tier], update.slice_elements);
    for (std::size_t i = 0; i < update.operand_bytes.size(); ++i) {
      auto& most = bytes_per_element[tier][i];
      most = std::max(most, static_cast<double>(update.operand_bytes[i]) /
                                static_cast<double>(shape.chunk(c).elements));
    }
  }
  for (Tier const tier : kTiersInOrder) {
    auto const& each = bytes_per_element[tier];
    auto const slots = std::min<std::int64_t>(kUpdateSlots, slices[tier]);
    bytes[tier] = static_cast<std::int64_t>(static_cast<double>(slots * elements[tier]) *
                                            (each[0] + each[1] + each[2]));
  }
  return bytes;
}

// Returns the bytes of the largest workspace of an update in device and host memory.
TierBytes update_workspace_bytes(BlockShape const& shape) {
  TierBytes bytes{};
  for (int const c : shape.chunks()) {
    auto& most = bytes[shape.places(c).update];
    most = std::max(most, shape.chunk(c).update_workspace_bytes);
  }
  return bytes;
}

// A Ledger is a Sink (see tell_step.hpp) that counts the bytes alive at every station and in the
// update. It is told the micro-batches that walk together once, and they stand for all of them. In
// the first micro-batches of a step updates of the previous step may still hold bytes; in later
// ones sums of gradients do. Each member has stations of its own here, numbered in the order in
// which the members pass them. The last member that it is told of stands for all later ones: it
// keeps as many bytes as they do, and its passes need as much as the pass of any of them.
class Ledger : public StepSink {
 public:
  Ledger(BlockShape const& shape, WalkedGroup const& group, int told)
      : m_shape(shape),
        m_members(told),
        m_alike(group.members - told + 1),
        m_begins_step(group.begins_step),
        m_ends_step(group.ends_step),
        m_slots(slot_bytes(shape)),
        m_workspaces(update_workspace_bytes(shape)),
        m_stations(2 * shape.blocks() * told + 2) {
    m_result.members = told;
    m_result.on_device.reserve(m_stations.size());
    hold_what_late_updates_do();
    hold_slots_of_late_updates();
    if (!m_begins_step) hold_sums();
  }

  StationBytes take() { return std::move(m_result); }

  void enter(Station const& at) { enter(own_station(at)); }
  void fetch(int c, Station const&) {
    auto const bytes = m_shape.chunk(c).parameter_bytes;
    m_comes[Tier::device] += bytes;
    if (m_shape.chunk(c).fetch_sent_bytes > 0 && !m_shape.plan().unified) hold_gathered(c);
    if (m_first_fetched_bytes == 0) m_first_fetched_bytes = bytes;
  }
  void drop(int c, Station const& at) {
    m_stations[own_station(at)].goes[Tier::device] += m_shape.chunk(c).parameter_bytes;
  }
  void forward(Station const& at, int) {
    auto const& cost = m_shape.policy_cost(at.block);
    m_kept_bytes += (alike(at) - 1) * kept_bytes(at.block);
    m_begin_bytes += m_kept_bytes;
    hold(Tier::device, m_station, m_kept_bytes + cost.forward_bytes);
    m_kept_bytes += cost.kept_bytes + cost.away_bytes;
  }
  // Activations that leave the device are expected to be gone when the next block ends.
  void leave(Station const& at, AwayPart const& part) {
    m_kept_bytes -= part.bytes;
    m_comes[part.to] += alike(at) * part.bytes;
    if (own_station(at) + 1 < m_shape.blocks() * m_members) m_leaving_bytes += part.bytes;
  }
  // Activations come back `prefetch` stations before their own, of which each member has one. Of
  // members that are alike the first ones' may come back in passes of others, all but the last
  // one's between passes of these.
  void reload(Station const&, AwayPart const& part, int member) {
    int const prefetch = m_shape.plan().prefetch;
    auto const first = (m_shape.blocks() - 1 - part.block) * all_members() + member - prefetch;
    auto const count = alike(member), before = std::min<std::int64_t>(prefetch, count - 1);
    for (std::int64_t i = 0; i < before; ++i) let_go(part, first + i, 1);
    let_go(part, first + before, count - 1 - before);
    let_go(part, first + count - 1, 1);
  }
  void backward(Station const& at, int) {
    auto const& cost = m_shape.policy_cost(at.block);
    auto const later_bytes = (alike(at) - 1) * kept_bytes(at.block);
    m_kept_bytes -= kept_bytes(at.block) + later_bytes;
    hold(Tier::device, m_station, m_kept_bytes + cost.backward_bytes);
    m_comes[Tier::device] += later_bytes;
    m_stations[m_station].goes_between[Tier::device] += later_bytes;
    for (int const c : m_shape.block(at.block).chunks) {
      if (m_shape.chunk(c).trainable) make_gradient(c, at.block, at.batch.member);
    }
  }
  void bring_sum_to_visit(int c, Station const&) {
    hold(Tier::device, visits_until(c), m_shape.chunk(c).gradient.bytes);
  }
  void take_sum_home(int c, Station const&) {
    bool const is_slice = m_ends_step && m_shape.sums_on_drive(c) && m_shape.is_shared_out(c);
    if (m_begins_step && !is_slice)  // a slice is counted where ranks begin to sum it
      hold(m_shape.places(c).gradients, used_until(c), m_shape.chunk(c).held_gradient_bytes);
  }
  void collect(GradientId id, Station const& at) {
    if (m_shape.sums_visit(id.chunk)) return;
    auto const& chunk = m_shape.chunk(id.chunk);
    auto const gradients = m_shape.places(id.chunk).gradients;
    if (is_first(at.batch.member)) {
      if (id.part < 0 && !is_written_in_place(id.chunk, at.batch.member))
        hold(gradients, used_until(id.chunk), chunk.held_gradient_bytes);
    } else if (gradients == Tier::host && !m_shape.plan().unified) {
      auto const bytes = m_shape.gradient(id).bytes;
      if (takes_turns())
        note_brief(Tier::host, bytes);
      else
        hold(Tier::host, std::min(m_station + 1, update_station() - 1), bytes);
    }
  }
  void add_part(GradientId id, MicroBatch const&) {
    auto const tier = m_shape.places(id.chunk).gradients;
    auto const bytes = m_shape.gradient(id).bytes;
    if (m_begins_step && takes_turns()) {
      m_always[tier] -= bytes;
      m_stations[update_station()].goes[tier] -= bytes;
    } else if (takes_turns()) {
      m_sums[tier] -= bytes;
    } else if (!m_begins_step) {
      m_stations[m_station].sums_go[tier] += bytes;
    }
  }
  // Values that other ranks send need room, after the last member unless ranks sum for each.
  void reduce(GradientId id, MicroBatch const&) {
    auto const before = m_comes;
    hold_reduction(id);
    if (m_alike == 1) return;
    m_comes_between += m_comes - before;
    m_comes = before;
  }
  void sum_slice(GradientId id, MicroBatch const&) {
    if (!m_shape.leaves_for_exchange(id.chunk) || !m_shape.is_shared_out(id.chunk)) return;
    if (m_shape.plan().exchanges_overlap && !m_shape.sums_on_drive(id.chunk))
      hold(Tier::host, exchanged_until(0),
           m_shape.gradient(id).bytes / m_shape.chunk(id.chunk).sharing.sharers);
  }
  // What a rank has summed and the others gather beside the device is copied to it until the next
  // station ends. Where ranks share out nothing, that lies where the gradient was exchanged.
  void gather_gradient(GradientId id, MicroBatch const&) {
    if (!m_shape.leaves_for_exchange(id.chunk) || !m_shape.is_shared_out(id.chunk)) return;
    hold(Tier::host, std::min(m_station + m_members, update_station()),
         m_shape.gradient(id).bytes / m_shape.chunk(id.chunk).sharing.sharers);
  }
  void begin_update() {
    enter(update_station());
    if (m_shape.plan().redo && m_ends_step) hold_slots();
  }
  void end_update() { leave_station(); }

 private:
  struct Changes {
    TierBytes goes{}, sums_go{};  // bytes that are freed after the station's pass
    TierBytes goes_between{};     // bytes freed between the passes of members that are alike
    TierBytes late_goes{};        // bytes freed when the station begins in the first micro-batch
    std::int64_t reserves_bytes = 0;  // bytes that kept activations cannot use from this station on
  };

  // Returns how many members a member that is told of stands for.
  std::int64_t alike(std::int64_t member) const { return member + 1 == m_members ? m_alike : 1; }
  std::int64_t all_members() const { return m_members - 1 + m_alike; }
  std::int64_t alike(Station const& at) const { return alike(at.batch.member); }
  // Returns the bytes of a member's activations that stay on the device after its forward pass.
  std::int64_t kept_bytes(int block) const {
    auto const& cost = m_shape.policy_cost(block);
    return cost.kept_bytes + cost.away_bytes - m_shape.away_bytes(block);
  }
  int own_station(Station const& at) const { return at.number * m_members + at.batch.member; }
  int forward_station(int block) const { return block * m_members; }  // of the first member
  int backward_station(int block, int member) const {
    return (2 * m_shape.blocks() - 1 - block) * m_members + member;
  }
  int update_station() const { return 2 * m_shape.blocks() * m_members; }
  Tier slots_of_host() const { return workplace(Lane::host, m_shape.plan().unified); }

  void enter(int station) {
    leave_station();
    m_station = station;
    m_comes = m_comes_between = {};
    m_begin_bytes = m_reserved_bytes += m_stations[station].reserves_bytes;
    m_first_fetched_bytes = 0;
    hold(Tier::device, station, std::exchange(m_leaving_bytes, 0));
    bool const turns = station == m_shape.blocks() * m_members;
    if (turns && !m_shape.plan().redo && m_ends_step) hold_slots();
  }
  // Counts bytes as in use from the pass of the current station to that of station `last`.
  void hold(Tier tier, int last, std::int64_t bytes) {
    if (last < m_station) return;
    m_comes[tier] += bytes;
    m_stations[last].goes[tier] += bytes;
  }
  // Counts bytes that each of so many more members holds from its pass of the current station to
  // its pass of station `last`.
  void hold_between(std::int64_t members, Tier tier, int last, std::int64_t bytes) {
    m_comes_between[tier] += members * bytes;
    m_stations[last].goes_between[tier] += members * bytes;
  }

  // Frees what so many members have away of a block's activations. The backward pass in which they
  // come back is counted from 0 for all blocks and members.
  void let_go(AwayPart const& part, std::int64_t pass, std::int64_t members) {
    pass = std::max<std::int64_t>(0, pass);
    auto const group = pass / all_members(), member = pass % all_members();
    auto const told = std::min<std::int64_t>(member, m_members - 1);
    auto& at = m_stations[static_cast<int>((m_shape.blocks() + group) * m_members + told)];
    bool const is_between = alike(told) > 1 && member + 1 < all_members();
    (is_between ? at.goes_between : at.goes)[part.to] += members * part.bytes;
  }

  // Says whether what sums and exchanges use behind the last pass is free as soon as each has
  // ended, so that not all of it is in use at a time.
  bool takes_turns() const {
    return !m_shape.plan().exchanges_overlap && m_station + 1 == update_station();
  }
  // Notes bytes that are free again before the station takes more.
  void note_brief(Tier tier, std::int64_t bytes) {
    auto& most = m_result.most[tier];
    most = std::max(most, alive(tier) + m_comes[tier] + bytes);
  }

  void hold_reduction(GradientId id) {
    auto const bytes = m_shape.gradient(id).bytes;
    int const until = std::min(m_station + m_members, update_station());
    if (m_shape.is_shared_out(id.chunk) && !m_shape.reduces_each(id.chunk)) {
      auto const home = m_shape.places(id.chunk).gradients;
      hold(home, updated_at(id.chunk, true), updated_from_bytes(id.chunk));
      if (!m_begins_step && m_ends_step)
        m_stations[until].sums_go[home] += m_shape.chunk(id.chunk).held_gradient_bytes;
    }
    if (m_shape.leaves_for_exchange(id.chunk)) return hold_exchange(id);
    if (id.part < 0) hold(m_shape.summed_in(id.chunk), until, bytes);
  }

  // Counts a gradient that ranks exchange in host memory, and what they receive of it.
  void hold_exchange(GradientId id) {
    auto const bytes = m_shape.gradient(id).bytes;
    int const more = m_shape.plan().exchanges_overlap ? 1 : 0;
    bool const comes_back = !m_shape.is_shared_out(id.chunk);
    hold(Tier::host, exchanged_until(comes_back ? m_members + more : 0), bytes);
    hold(Tier::host, exchanged_until(more), bytes);
  }
  // Returns the station at which bytes of an exchange that begins now are free again, if they stay
  // so many stations more than until the next exchange.
  int exchanged_until(int more) const {
    return std::min(m_station + m_members + more, update_station() - 1);
  }

  // Counts what ranks gather in host memory, from where it is copied to the device, and the slice
  // that they send. It goes when the next station ends.
  void hold_gathered(int c) {
    bool const is_brought = m_shape.slice_tier(c) != Tier::host;
    hold(Tier::host, std::min(m_station + m_members, update_station()),
         m_shape.chunk(c).parameter_bytes + (is_brought ? m_shape.slice_bytes(c) : 0));
  }

  // Says whether the member is the step's first micro-batch, and stands for no later one.
  bool is_first(int member) const { return m_begins_step && member == 0; }
  // The first gradient of a step is made in its home if it lies whole on the device.
  bool is_written_in_place(int c, int member) const {
    auto const& chunk = m_shape.chunk(c);
    return is_first(member) && m_shape.places(c).gradients == Tier::device &&
           chunk.held_gradient_bytes == chunk.gradient.bytes;
  }
  // Returns the bytes that wait for the update: where ranks share out, the sum over ranks alone.
  std::int64_t updated_from_bytes(int c) const {
    auto const& chunk = m_shape.chunk(c);
    return m_shape.is_shared_out(c) ? chunk.gradient_slice_bytes : chunk.held_gradient_bytes;
  }
  int used_until(int c) const {
    auto const& chunk = m_shape.chunk(c);
    if (m_shape.is_shared_out(c) && m_begins_step && m_ends_step)
      return std::min(backward_station(chunk.first_block, m_members - 1) + m_members,
                      update_station());
    bool const exchanges =
        chunk.gradient.scatter_sent_bytes > 0 && m_shape.places(c).gradients == Tier::device;
    return updated_at(c, exchanges);
  }
  // Returns the station at which the chunk's update has ended, if it waits for an exchange or not.
  int updated_at(int c, bool exchanges) const {
    if (m_shape.plan().redo || m_shape.is_late(c) || !m_ends_step) return update_station();
    int const groups = groups_until_updated(exchanges) + kGroupsBeside;
    return std::min(backward_station(m_shape.chunk(c).first_block, 0) + groups * m_members,
                    update_station());
  }
  // Counts what block `b` adds to a member's gradient of chunk `c`. A part takes bytes while it is
  // made, and until the update if it is kept for those of other members. A gradient takes bytes
  // from its first contribution until it is complete, one block longer if it is copied to the host,
  // or until its update ends if it is written to its home.
  void make_gradient(int c, int b, int member) {
    auto const& chunk = m_shape.chunk(c);
    for (PartCost const& part : chunk.parts) {
      if (part.block != b || (!m_shape.several() && part.fused)) continue;
      bool const is_home = m_shape.several() && is_first(member);
      auto const gradients = m_shape.places(c).gradients;
      if (is_home) hold(gradients, update_station(), part.bytes);
      if (!is_home || gradients != Tier::device) hold(Tier::device, m_station, part.bytes);
    }
    if (chunk.last_block != b) return;
    if (is_written_in_place(c, member))
      return hold(Tier::device, used_until(c), chunk.held_gradient_bytes);
    int const own =
        backward_station(m_shape.several() ? chunk.own_block : chunk.first_block, member);
    auto const makers = own > m_station ? alike(member) : 1;
    bool const is_copied = !m_shape.sums_visit(c) && m_shape.places(c).gradients == Tier::host;
    int const until = is_copied ? std::min(own + 1, update_station() - 1) : own;
    bool const is_sum = m_shape.sums_visit(c) && is_first(member);
    hold(Tier::device, is_sum ? visits_until(c) : until, chunk.gradient.bytes);
    hold_between(makers - 1, Tier::device, own, chunk.gradient.bytes);
  }
  // Returns the station at which a sum that visits the device has gone home. One that ranks sum
  // there goes to the drive one group later.
  int visits_until(int c) const {
    bool const is_summed = m_ends_step && m_shape.exchanges() && m_shape.sums_on_drive(c) &&
                           !m_shape.leaves_for_exchange(c);
    int const last = backward_station(m_shape.chunk(c).own_block, m_members - 1);
    return std::min(last + (is_summed ? 2 : 1) * m_members, update_station() - 1);
  }
  void hold_sums() {
    for (int const c : m_shape.chunks()) {
      auto& sums = m_sums[m_shape.places(c).gradients];
      sums += m_shape.chunk(c).held_gradient_bytes;
      for (PartCost const& part : m_shape.chunk(c).parts) sums += part.bytes;
    }
  }
  void hold_slots() {
    hold(Tier::device, update_station(), m_slots[Tier::device] + m_workspaces[Tier::device]);
    hold(slots_of_host(), update_station(), m_slots[Tier::host] + m_workspaces[Tier::host]);
  }

  // Returns the station of the next step that first needs the chunk's parameters from an update on
  // the host lane, or -1 if the update ends within its own step.
  int late_until(int c) const {
    auto const& places = m_shape.places(c);
    if (!m_shape.is_late(c)) return -1;
    int const first = m_shape.chunk(c).first_block;
    bool const comes = places.parameters != Tier::device;
    return forward_station(comes ? fetched_at(-1, first, m_shape.plan().prefetch) : first);
  }
  void hold_late(Tier tier, int station, std::int64_t bytes) {
    if (station < 0) return;
    m_first_only[tier] += bytes;
    m_stations[station].late_goes[tier] += bytes;
  }
  // Counts gradients that updates of the last step still use beside the forward pass. Activations
  // that are kept cannot use the bytes of a gradient's home, because they are still alive when the
  // next gradient is written there.
  void hold_what_late_updates_do() {
    for (int const c : m_shape.chunks()) {
      auto const& chunk = m_shape.chunk(c);
      int const until = late_until(c);
      hold_late(m_shape.places(c).gradients, until, updated_from_bytes(c));
      if (m_shape.is_shared_out(c)) continue;
      auto const last = forward_station(chunk.last_block);
      if (!is_written_in_place(c, 0) || until >= last) continue;
      m_stations[until + 1].reserves_bytes += chunk.gradient.bytes;
      m_stations[last + 1].reserves_bytes -= chunk.gradient.bytes;
    }
  }
  // Counts slots and the workspace that updates of the last step still use beside the forward pass.
  // Slices of the last chunks use the slots last, so the loop begins at the last chunk.
  void hold_slots_of_late_updates() {
    int last = -1;  // all updates share a workspace
    for (int const c : m_shape.chunks()) last = std::max(last, late_until(c));
    hold_late(slots_of_host(), last, m_workspaces[Tier::host]);
    auto const bytes = m_slots[Tier::host];
    std::int64_t left = bytes > 0 ? kUpdateSlots : 0;
    for (int c = static_cast<int>(m_shape.model().chunks.size()); c-- > 0 && left > 0;) {
      auto const used = std::min(left, m_shape.update(c).slices);
      hold_late(slots_of_host(), late_until(c), used * bytes / kUpdateSlots);
      left -= used;
    }
  }

  // Ends a station. The peak is compared with the bytes alive at its begin, when updates of the
  // last step may still hold bytes, and with those alive in its pass.
  void leave_station() {
    if (m_station < 0) return;
    Changes const& now = m_stations[m_station];
    note(m_begin_bytes + m_first_fetched_bytes);
    m_first_only -= now.late_goes;
    m_always += m_comes;
    note(0);
    m_result.on_device.push_back(alive(Tier::device));
    m_always += m_comes_between - now.goes_between;
    note(0);
    m_always -= now.goes;
    m_sums -= now.sums_go;
  }
  std::int64_t alive(Tier tier) const {
    return m_always[tier] + std::max(m_first_only[tier], m_sums[tier]);
  }
  void note(std::int64_t more_device_bytes) {
    for (Tier const tier : kTiersInOrder)
      m_result.most[tier] = std::max(m_result.most[tier],
                                     alive(tier) + (tier == Tier::device ? more_device_bytes : 0));
  }

  BlockShape const& m_shape;
  int m_members;         // so many members it is told of
  std::int64_t m_alike;  // the last one stands for so many
  bool m_begins_step, m_ends_step;
  TierBytes m_slots, m_workspaces;
  IdVector<Changes> m_stations;
  StationBytes m_result;
  // Bytes alive in all micro-batches, in the first one only, and in later ones.
  TierBytes m_always{}, m_first_only{}, m_sums{};
  std::int64_t m_kept_bytes = 0;  // bytes of activations that earlier blocks keep
  std::int64_t m_leaving_bytes = 0, m_reserved_bytes = 0;
  int m_station = -1;
  TierBytes m_comes{};             // bytes that the current station adds
  TierBytes m_comes_between{};     // and bytes that come between passes of members that are alike
  std::int64_t m_begin_bytes = 0;  // bytes at the station's begin that m_always leaves out
  std::int64_t m_first_fetched_bytes = 0;  // size of the first chunk that the station fetches
};

StationBytes told_bytes(BlockShape const& shape, WalkedGroup const& group, int told) {
  Ledger ledger(shape, group, told);
  constexpr bool late = true;  // the Ledger hears of all updates after the last station
  StepTelling step(shape, late, ledger);
  step.begin_step();
  step.micro_batches({"", told, group.begins_step, true});
  step.update();
  return ledger.take();
}

}  // namespace

StationBytes station_bytes(BlockShape const& shape, WalkedGroup const& group) {
  return told_bytes(shape, group, group.members);
}

TierBytes most_bytes(BlockShape const& shape, WalkedGroup const& group) {
  constexpr int few = 3;
  int const told = shape.model().reduces_each ? group.members : std::min(few, group.members);
  return told_bytes(shape, group, told).most;
}

}  // namespace spillway
