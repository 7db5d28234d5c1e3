#include "plan/search/estimate_step.hpp"

#include <algorithm>
#include <deque>

#include "plan/search/estimate_bytes.hpp"
#include "plan/search/estimate_updates.hpp"

namespace spillway {

namespace {

// The jobs of some steps: what schedule and layout would make of the Plan, with a block's forward
// or backward pass (a station) in place of its ops.
class Steps {
 public:
  Steps(BlockModel const& model, Machine const& machine, Plan const& plan, bool accumulates)
      : m_model(model),
        m_plan(plan),
        m_blocks(static_cast<int>(model.blocks.size())),
        m_jobs(machine, model.ranks),
        m_updates(model, plan, m_jobs),
        m_bytes(station_bytes(model, plan, accumulates)),
        m_fetches(2 * model.blocks.size()),
        m_gradient(model.chunks.size(), -1),
        m_accumulates(accumulates) {
    for (int c = 0; c < std::ssize(model.chunks); ++c) {
      if (!is_fetched(c)) continue;
      for_each_visit(chunk(c).readers, plan.prefetch, [&](Visit const& visit) {
        m_fetches[static_cast<std::size_t>(visit.first)].push_back(c);
      });
    }
  }

  void step(int micro_batches) {
    m_updates.begin_step();
    for (int i = 0; i < micro_batches; ++i) {
      m_first = i == 0;
      begin_micro_batch();
      for (int b = 0; b < m_blocks; ++b) forward(b);
      for (int b = m_blocks; b-- > 0;) {
        backward(b);
        bool const last = i + 1 == micro_batches;
        collect(b, last);
        if (last) m_updates.after_backward(b, m_now);
      }
    }
    m_updates.after_all(m_now);
  }
  Timeline const& timeline() const { return m_jobs.timeline(); }

 private:
  ChunkPlan const& places(int chunk) const {
    return m_plan.chunks[static_cast<std::size_t>(chunk)];
  }
  ChunkCost const& chunk(int number) const {
    return m_model.chunks[static_cast<std::size_t>(number)];
  }
  BlockCost const& block(int number) const {
    return m_model.blocks[static_cast<std::size_t>(number)];
  }
  std::int64_t away(int block) const {
    return away_bytes(m_model, m_plan, static_cast<std::size_t>(block));
  }
  BlockPolicy policy(int block) const {
    return m_plan.blocks[static_cast<std::size_t>(block)].policy;
  }
  bool is_fetched(int chunk) const {
    return places(chunk).parameters != Tier::device || this->chunk(chunk).fetch_sent_bytes > 0;
  }
  int backward_station(int block) const { return 2 * m_blocks - 1 - block; }
  static int at(std::vector<int> const& jobs, int number) {
    return number < std::ssize(jobs) ? jobs[static_cast<std::size_t>(number)] : -1;
  }

  void begin_micro_batch() {
    m_now = m_first ? m_updates.reported() : -1;
    m_spills.assign(m_model.blocks.size(), -1);
    m_left.clear();
    m_left_bytes = 0;
    m_reloads.assign(m_model.blocks.size(), {-1, -1});
    m_fetched.assign(m_model.chunks.size(), -1);
  }

  // What is brought ahead of use is begun in the order of the stations before which that is.
  void enter_station(int station) {
    for (int const c : m_fetches[static_cast<std::size_t>(station)]) fetch(c);
    if (station < m_blocks) return;
    int const last = std::min(station + m_plan.prefetch, 2 * m_blocks - 1);
    for (int s = station == m_blocks ? station : station + m_plan.prefetch; s <= last; ++s)
      reload(2 * m_blocks - 1 - s);
  }

  void fetch(int c) {
    Waits const waits = {m_now, m_updates.updated(c)};
    bool const is_there = places(c).parameters == Tier::device;
    int const job =
        is_there ? -1 : m_jobs.copy(places(c).parameters, Tier::device, chunk(c).home_bytes, waits);
    m_fetched[static_cast<std::size_t>(c)] = m_jobs.send(chunk(c).fetch_sent_bytes, job, waits);
  }

  // Half by half: what is needed first is there sooner.
  void reload(int b) {
    int const spill = at(m_spills, b);
    if (spill < 0) return;
    for (int& job : m_reloads[static_cast<std::size_t>(b)])
      job = m_jobs.copy(*away_tier(policy(b)), Tier::device, away(b) / 2, {spill, m_now});
  }

  void need_parameters(std::vector<int> const& chunks, Waits& waits) const {
    for (int const c : chunks)
      waits.push_back(is_fetched(c) ? at(m_fetched, c) : m_updates.updated(c));
  }

  // Where memory is one and parameters come, layout gives the bytes of a gradient that a late host
  // update still reads to the block `prefetch` before its own: that waits for the update.
  void need_memory(int b, Waits& waits) const {
    if (!m_first || !m_plan.unified || !m_plan.redo) return;
    for (int const c : block(std::min(b + m_plan.prefetch, m_blocks - 1)).forward_chunks) {
      bool const comes = places(c).parameters != Tier::device;
      if (comes && places(c).update == Tier::host) waits.push_back(m_updates.updated(c));
    }
  }

  // What leaves begins to when half of the pass is done.
  void forward(int b) {
    enter_station(b);
    Waits waits = {b == 0 ? m_now : -1};
    need_room(b, waits);
    need_parameters(block(b).forward_chunks, waits);
    need_memory(b, waits);
    auto const bytes = away(b);
    int const parts = bytes > 0 ? 2 : 1;
    for (int i = 0; i < parts; ++i) {
      m_now = m_jobs.add(Lane::compute, divided(block(b).forward, parts), waits);
      waits = {};
      if (bytes > 0)
        m_spills[static_cast<std::size_t>(b)] =
            m_jobs.copy(Tier::device, *away_tier(policy(b)), bytes / parts, {m_now});
    }
    if (bytes > 0) leave({b, *away_tier(policy(b)), at(m_spills, b), bytes});
  }

  // What left before the last station is waited for, the oldest first, once its bytes are needed:
  // layout does not keep free what is not needed yet, so from about this share of the peak on.
  void need_room(int station, Waits& waits) {
    constexpr double share = 0.8;
    auto const most = share * static_cast<double>(m_bytes.most[index(Tier::device)]);
    auto bytes = m_bytes.on_device[static_cast<std::size_t>(station)];
    bytes += m_left_bytes;
    for (auto left = m_left.rbegin(); left != m_left.rend() && left->station + 1 >= station; ++left)
      bytes -= left->bytes;
    std::array<int, kTiers> last = {-1, -1, -1};  // by where to: a lane ends them in order
    while (!m_left.empty() && m_left.front().station + 1 < station &&
           static_cast<double>(bytes) > most) {
      bytes -= m_left.front().bytes;
      m_left_bytes -= m_left.front().bytes;
      last[index(m_left.front().to)] = m_left.front().job;
      m_left.pop_front();
    }
    for (int const job : last) waits.push_back(job);
  }

  void backward(int b) {
    enter_station(backward_station(b));
    auto const& cost = block(b).policies[index(policy(b))].backward;
    Waits waits = {};
    need_room(backward_station(b), waits);
    need_parameters(block(b).backward_chunks, waits);
    int const parts = at(m_spills, b) >= 0 ? 2 : 1;
    for (int i = 0; i < parts; ++i) {
      waits.push_back(m_reloads[static_cast<std::size_t>(b)][static_cast<std::size_t>(i)]);
      m_now = m_jobs.add(Lane::compute, divided(cost, parts), waits);
      waits = {};
    }
  }

  // What is complete for this micro-batch joins the step's where that lies; with the last one, the
  // parts of a gradient are added, and it is summed over ranks.
  void collect(int b, bool last) {
    for (int const c : block(b).chunks) {
      auto const& cost = chunk(c);
      if (!cost.trainable) continue;
      bool const host = places(c).gradients == Tier::host;
      auto& gradient = m_gradient[static_cast<std::size_t>(c)];
      int const own_block = m_accumulates ? cost.own_block : cost.first_block;
      if (own_block == b)
        gradient =
            join(b, host, cost.gradient_bytes, host ? cost.host_accumulate : cost.accumulate);
      for (PartCost const& part : cost.parts) {
        if (m_accumulates && part.block == b)
          join(b, host, part.bytes, host ? part.host_accumulate : part.accumulate);
      }
      if (cost.first_block != b) continue;
      for (PartCost const& part : cost.parts) {
        if (!m_accumulates || !last) continue;
        gradient = m_jobs.add(host ? Lane::host : Lane::compute,
                              host ? part.host_accumulate : part.accumulate, {gradient, m_now});
      }
      int job = gradient;
      if (last || cost.reduces_each) job = m_jobs.send(cost.reduce_sent_bytes, job);
      m_updates.set_gradient(c, job);
    }
  }

  // A micro-batch's gradient joins the step's. The host lane works on the device's too where both
  // are main memory.
  int join(int b, bool host, std::int64_t bytes, ItemCost const& accumulate) {
    int job = m_now;
    if (host && (m_first || !m_plan.unified)) {
      job = m_jobs.copy(Tier::device, Tier::host, bytes, {job});
      leave({backward_station(b), Tier::host, job, bytes});
    }
    return m_first ? job : m_jobs.add(host ? Lane::host : Lane::compute, accumulate, {job});
  }

  BlockModel const& m_model;
  Plan const& m_plan;
  int m_blocks;
  EstimateJobs m_jobs;
  EstimateUpdates m_updates;
  StationBytes m_bytes;
  std::vector<std::vector<int>> m_fetches;  // per station: chunks whose fetch begins before it
  std::vector<int> m_gradient;              // per chunk: what has joined the step's last
  bool m_accumulates;
  // Of the current micro-batch.
  bool m_first = true;         // of its step
  int m_now = -1;              // the last block's pass
  std::vector<int> m_fetched;  // per chunk
  std::vector<int> m_spills;   // per block
  struct Left {
    int station;
    Tier to;
    int job;
    std::int64_t bytes;
  };
  void leave(Left const& left) {
    m_left.push_back(left);
    m_left_bytes += left.bytes;
  }
  // Activations and gradients whose room nobody needed yet, in the order of stations.
  std::deque<Left> m_left;
  std::int64_t m_left_bytes = 0;              // their sum
  std::vector<std::array<int, 2>> m_reloads;  // per block: halves
};

}  // namespace

StepEstimate::StepEstimate(BlockModel const& model, Machine const& machine, Plan const& plan,
                           bool accumulates)
    : m_model(model), m_machine(machine), m_plan(plan), m_accumulates(accumulates) {}

double StepEstimate::seconds(int micro_batches) const {
  Steps steps(m_model, m_machine, m_plan, m_accumulates);
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
