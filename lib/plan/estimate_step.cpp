#include "plan/estimate_step.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "base/math.hpp"
#include "plan/streaming.hpp"

namespace spillway {

namespace {

// Of a chunk's update, and of all: finer ones tell no more.
constexpr std::int64_t kMostParts = 4, kAllParts = 192;

// Jobs to wait for; -1 is none.
class Waits {
 public:
  Waits(std::initializer_list<int> jobs) {
    for (int const job : jobs) push_back(job);
  }
  void push_back(int job) {
    if (job < 0) return;
    if (m_count == m_jobs.size()) throw std::logic_error("a station waits for too many jobs");
    m_jobs[m_count++] = job;
  }
  operator std::span<int const>() const { return {m_jobs.data(), m_count}; }

 private:
  std::array<int, 32> m_jobs;
  std::size_t m_count = 0;
};

// The jobs of some steps, each told what it waits for: what schedule and layout would make of the
// Plan, with a block's forward or backward pass (a station) in place of its ops.
class Steps {
 public:
  Steps(BlockModel const& model, Machine const& machine, Plan const& plan)
      : m_model(model),
        m_machine(machine),
        m_plan(plan),
        m_parts(std::clamp<std::int64_t>(kAllParts / std::ssize(model.chunks), 1, kMostParts)),
        m_updated(model.chunks.size(), -1),
        m_gradient(model.chunks.size(), -1) {}

  void step(int micro_batches) {
    for (int i = 0; i < micro_batches; ++i) {
      m_first = i == 0;
      begin_micro_batch();
      for (std::size_t b = 0; b < m_model.blocks.size(); ++b) forward(b);
      for (std::size_t b = m_model.blocks.size(); b-- > 0;) {
        backward(b);
        bool const last = i + 1 == micro_batches;
        reduce(b, last);
        if (last && !m_plan.redo) update_ready(b);
      }
    }
    if (m_plan.redo) update_all();
  }
  Timeline const& timeline() const { return m_timeline; }

 private:
  int add(Lane lane, ItemCost const& cost, Waits const& waits) {
    return m_timeline.add(lane, cost, waits);
  }
  int copy(Tier from, Tier to, std::int64_t bytes, Waits const& waits) {
    auto const lane = copy_lane(from, to);
    return add(lane, copy_cost(bytes, m_machine, lane), waits);
  }
  ChunkPlan const& places(int chunk) const {
    return m_plan.chunks[static_cast<std::size_t>(chunk)];
  }
  ChunkCost const& chunk(int number) const {
    return m_model.chunks[static_cast<std::size_t>(number)];
  }
  int& at(std::vector<int>& jobs, int number) { return jobs[static_cast<std::size_t>(number)]; }

  void begin_micro_batch() {
    m_stations.clear();
    m_spills.assign(m_model.blocks.size(), -1);
    m_leaving = m_spills;
    m_fetched.assign(m_model.chunks.size(), {-1, -1});
  }

  // What ran so many stations ago; -1: nothing in this micro-batch.
  int station_before(int stations) const {
    auto const at = std::ssize(m_stations) - 1 - stations;
    return at < 0 ? -1 : m_stations[static_cast<std::size_t>(at)];
  }

  // Parameters that are not at home on the device come ahead of use, and stay if used again soon.
  void need_parameters(std::vector<int> const& chunks, Waits& waits) {
    int const now = static_cast<int>(m_stations.size());
    for (int const c : chunks) {
      bool const is_there = places(c).parameters == Tier::device;
      if (is_there && chunk(c).fetch_sent_bytes == 0) {
        waits.push_back(at(m_updated, c));
        continue;
      }
      auto& [job, used] = m_fetched[static_cast<std::size_t>(c)];
      if (job < 0 || !stays(used, now, m_plan.prefetch)) {
        Waits const ahead = {station_before(m_plan.prefetch), at(m_updated, c)};
        job = is_there ? -1 : copy(places(c).parameters, Tier::device, chunk(c).home_bytes, ahead);
        job = send(chunk(c).fetch_sent_bytes, job, ahead);
      }
      used = now;
      waits.push_back(job);
    }
  }

  // Where memory is one and parameters come, layout gives the bytes of a gradient that a late host
  // update still reads to the block `prefetch` before its own: that waits for the update.
  void need_memory(std::size_t block, Waits& waits) const {
    if (!m_first || !m_plan.unified || !m_plan.redo) return;
    auto const ahead =
        std::min(block + static_cast<std::size_t>(m_plan.prefetch), m_model.blocks.size() - 1);
    for (int const c : m_model.blocks[ahead].chunks) {
      bool const comes = places(c).parameters != Tier::device;
      if (comes && places(c).update == Tier::host)
        waits.push_back(m_updated[static_cast<std::size_t>(c)]);
    }
  }

  void forward(std::size_t b) {
    auto const& block = m_model.blocks[b];
    auto const policy = effective_policy(m_model, m_plan, b);
    Waits waits = {};
    need_parameters(block.chunks, waits);
    need_memory(b, waits);
    if (b >= 2) waits.push_back(m_spills[b - 2]);
    int const job = add(Lane::compute, block.forward, waits);
    m_stations.push_back(job);
    if (auto const tier = away_tier(policy)) {
      if (auto const bytes = away_bytes(m_model, m_plan, b))
        m_spills[b] = copy(Tier::device, *tier, bytes, {job});
    }
  }

  void backward(std::size_t b) {
    auto const policy = effective_policy(m_model, m_plan, b);
    Waits waits = {};
    need_parameters(m_model.blocks[b].backward_chunks, waits);
    if (b + 2 < m_leaving.size()) waits.push_back(m_leaving[b + 2]);
    if (m_spills[b] >= 0) {
      waits.push_back(copy(*away_tier(policy), Tier::device, away_bytes(m_model, m_plan, b),
                           {m_spills[b], station_before(m_plan.prefetch)}));
    }
    m_stations.push_back(
        add(Lane::compute, m_model.blocks[b].policies[index(policy)].backward, waits));
    collect(b);
  }

  // Gradients that are complete for this micro-batch join the step's where that lies. The host lane
  // works on the device's too where both are main memory.
  void collect(std::size_t b) {
    for (int const c : m_model.blocks[b].chunks) {
      if (chunk(c).first_block != static_cast<int>(b)) continue;
      bool const host = places(c).gradients == Tier::host;
      int job = m_stations.back();
      if (host && (m_first || !m_plan.unified))
        job = m_leaving[b] = copy(Tier::device, Tier::host, chunk(c).gradient_bytes, {job});
      if (!m_first)
        job = add(host ? Lane::host : Lane::compute,
                  host ? chunk(c).host_accumulate : chunk(c).accumulate, {job});
      at(m_gradient, c) = job;
    }
  }

  // What is complete with this block, which is the first to use it, is summed over ranks.
  void reduce(std::size_t b, bool last) {
    for (int const c : m_model.blocks[b].chunks) {
      bool const complete = chunk(c).first_block == static_cast<int>(b);
      if (complete && (last || chunk(c).reduces_each))
        at(m_gradient, c) = send(chunk(c).reduce_sent_bytes, at(m_gradient, c), {});
    }
  }

  // To other ranks, after `job`; that itself if there is nothing to send.
  int send(std::int64_t bytes, int job, Waits waits) {
    if (bytes == 0) return job;
    waits.push_back(job);
    return add(Lane::comm, copy_cost(bytes, m_machine, Lane::comm), waits);
  }

  void update_ready(std::size_t b) {
    for (int const c : m_model.blocks[b].chunks) {
      if (chunk(c).first_block == static_cast<int>(b)) update(c, norm(c));
    }
  }

  int norm(int c) {
    bool const host = places(c).gradients == Tier::host;
    return add(host ? Lane::host : Lane::compute, host ? chunk(c).host_norm : chunk(c).norm,
               {at(m_gradient, c)});
  }

  void update_all() {
    std::array<int, 2> norms = {-1, -1};  // the last one of either lane
    for (int c = 0; c < std::ssize(m_model.chunks); ++c)
      norms[places(c).gradients == Tier::host ? 1 : 0] = norm(c);
    int const commit = add(Lane::comm, {}, {norms[0], norms[1]});
    for (int c = 0; c < std::ssize(m_model.chunks); ++c) update(c, commit);
  }

  // Slice by slice; what is out of the lane's reach passes through slots.
  void update(int c, int after) {
    bool const host = places(c).update == Tier::host;
    auto const& cost = host ? chunk(c).host_update : chunk(c).update;
    auto const needs = brought(chunk(c), places(c), m_plan.unified);
    bool const sliced = needs.all_bytes() > 0;
    auto const parts = sliced ? std::clamp<std::int64_t>(
                                    div_ceil(chunk(c).elements, m_plan.update_slice), 1, m_parts)
                              : 1;
    for (std::int64_t i = 0; i < parts; ++i) {
      Waits waits = {after};
      for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
        auto const bytes = needs.bytes[index(tier)] / parts;
        if (bytes > 0)
          waits.push_back(copy(tier, needs.workplace, bytes, {slot_free(), station_before(0)}));
      }
      int const updated = add(host ? Lane::host : Lane::compute, divided(cost, parts), waits);
      at(m_updated, c) = updated;
      int freed = updated;
      for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
        auto const bytes = needs.back_bytes[index(tier)] / parts;
        if (bytes == 0) continue;
        freed = copy(needs.workplace, tier, bytes, {updated});
        if (tier == places(c).parameters) at(m_updated, c) = freed;
      }
      if (sliced) m_slots.push_back(freed);
    }
    at(m_updated, c) = send(chunk(c).update_sent_bytes, at(m_updated, c), {});
  }

  int slot_free() const {
    auto const taken = std::ssize(m_slots) - kUpdateSlots;
    return taken < 0 ? -1 : m_slots[static_cast<std::size_t>(taken)];
  }

  BlockModel const& m_model;
  Machine const& m_machine;
  Plan const& m_plan;
  std::int64_t m_parts;  // of an update, at most
  Timeline m_timeline;
  bool m_first = true;                     // micro-batch of its step
  std::vector<int> m_updated, m_gradient;  // per chunk: the last job that changed it
  std::vector<int> m_stations;             // of this micro-batch: its compute jobs
  std::vector<int> m_spills, m_leaving;    // of this micro-batch, per block: activations, gradients
  struct Fetch {
    int job, used;
  };
  std::vector<Fetch> m_fetched;  // of this micro-batch, per chunk
  std::vector<int> m_slots;      // what emptied them, in turn
};

}  // namespace

BlockPolicy effective_policy(BlockModel const& model, Plan const& plan, std::size_t block) {
  if (!model.blocks[block].layer) return BlockPolicy::keep;
  auto const policy = plan.blocks[block].policy;
  return static_cast<int>(block) == model.last_layer ? staying(policy) : policy;
}

std::int64_t away_bytes(BlockModel const& model, Plan const& plan, std::size_t block) {
  auto const& cost = model.blocks[block].policies[index(effective_policy(model, plan, block))];
  return static_cast<std::int64_t>(plan.blocks[block].fraction *
                                   static_cast<double>(cost.away_bytes));
}

std::int64_t Brought::all_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

Brought brought(ChunkCost const& chunk, ChunkPlan const& places, bool unified) {
  bool const host = places.update == Tier::host;
  Brought result{host && !unified ? Tier::host : Tier::device};
  auto const add = [&](Tier tier, std::int64_t bytes, bool changes) {
    bool const reaches =
        host ? tier == Tier::host || (unified && tier == Tier::device) : tier == Tier::device;
    if (reaches) return;
    result.bytes[index(tier)] += bytes;
    if (changes) result.back_bytes[index(tier)] += bytes;
  };
  auto const own = [&](std::int64_t whole_bytes) {
    return static_cast<std::int64_t>(chunk.share * static_cast<double>(whole_bytes));
  };
  add(places.gradients, own(chunk.gradient_bytes), false);
  add(places.parameters, own(chunk.parameter_bytes), true);
  add(places.optimizer, chunk.optimizer_bytes, true);
  return result;
}

StepEstimate::StepEstimate(BlockModel const& model, Machine const& machine, Plan const& plan)
    : m_model(model), m_machine(machine), m_plan(plan) {}

double StepEstimate::seconds(int micro_batches) const {
  Steps steps(m_model, m_machine, m_plan);
  steps.step(micro_batches);
  auto const first = steps.timeline().jobs();
  steps.step(micro_batches);
  auto const times = steps.timeline().run(capacities(m_machine));
  double end_s[2] = {0, 0};
  for (int job = 0; job < std::ssize(times); ++job) {
    auto& end = end_s[job < first ? 0 : 1];
    end = std::max(end, times[static_cast<std::size_t>(job)].end_s);
  }
  return std::max(end_s[0], end_s[1]) - end_s[0];
}

}  // namespace spillway
