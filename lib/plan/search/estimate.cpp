#include "plan/search/estimate.hpp"

#include "base/math.hpp"
#include "plan/search/estimate_bytes.hpp"
#include "plan/search/step_timeline.hpp"

namespace spillway {

namespace {

// Returns the bytes that are in use during the whole step: state of chunks, and the rings for bytes
// between the device and the drive.
TierBytes lasting_bytes(BlockShape const& shape, bool several_groups) {
  TierBytes bytes{};
  bool both_ways = false, to_drive = false, from_drive = false;
  for (int b = 0; b < shape.blocks(); ++b) {
    auto const tier = away_tier(shape.plan().blocks[b].policy);
    both_ways |= tier == Tier::nvme && shape.away_bytes(b) > 0;
  }
  for (int c = 0; c < std::ssize(shape.model().chunks); ++c) {
    auto const& places = shape.places(c);
    auto const& update = shape.update(c);
    bytes[places.parameters] += shape.chunk(c).home_bytes;
    bytes[places.optimizer] += shape.chunk(c).optimizer_bytes;
    bytes[update.workplace] += shape.chunk(c).scale_bytes;
    bool const on_device = update.workplace == Tier::device;
    both_ways |= on_device && update.back_bytes[Tier::nvme] > 0;
    from_drive |= places.parameters == Tier::nvme;
    if (!shape.chunk(c).trainable || !shape.sums_on_drive(c)) continue;
    to_drive |= several_groups || !shape.leaves_for_exchange(c);
    from_drive |= several_groups || on_device;
  }
  if (shape.plan().unified) return bytes;
  int const ways = (both_ways || to_drive ? 1 : 0) + (both_ways || from_drive ? 1 : 0);
  bytes[Tier::host] += ways * kStagingPieces * shape.plan().staging_piece_bytes;
  return bytes;
}

// Tells a step whose micro-batches walk in groups of these sizes.
using Groups = std::vector<int>;
void tell(StepTelling<BlockShape, StepTimeline>& step, Groups const& groups) {
  step.begin_step();
  for (std::size_t i = 0; i < groups.size(); ++i)
    step.micro_batches({"", groups[i], i == 0, i + 1 == groups.size()});
  step.update();
}

// Puts two steps without a barrier between them on a timeline. Returns the time from the end of the
// first step to the end of the second, which is the time of a step in the steady state. Counts the
// jobs of both.
double second_step_s(Machine const& machine, BlockShape const& shape, StationBytes const& bytes,
                     Groups const& groups, std::int64_t& told_jobs) {
  StepTimeline jobs(machine, shape, bytes);
  StepTelling step(shape, shape.plan().redo, jobs);
  tell(step, groups);
  auto const first = jobs.timeline().jobs();
  tell(step, groups);
  told_jobs += jobs.timeline().jobs();
  double end_s[2] = {0, 0};
  for (int job = 0; auto const& times : jobs.timeline().run(capacities(machine))) {
    auto& end = end_s[job++ < first ? 0 : 1];
    end = std::max(end, times.end_s);
  }
  return std::max(end_s[0], end_s[1]) - end_s[0];
}

// Returns how long the compute lane takes for the passes of a micro-batch.
double passes_s(BlockShape const& shape) {
  double seconds = 0;
  for (int b = 0; b < shape.blocks(); ++b)
    seconds += shape.block(b).forward.seconds + shape.policy_cost(b).backward.seconds;
  return seconds;
}

}  // namespace

TierBytes Estimator::peaks(Plan const& plan) const {
  auto const [at, is_new] = m_peaks.try_emplace(hash_of(plan));
  if (is_new) at->second = peaks_of(plan);
  return at->second;
}

// The last group holds the most if it has as many members as the others. Of those before it the
// first holds no sums of gradients before it has made them, so one between holds more.
TierBytes Estimator::peaks_of(Plan const& plan) const {
  BlockShape const shape(m_model, plan, m_micro_batches > 1, Grain::whole);
  auto const groups = div_ceil(m_micro_batches, group(plan));
  auto const all = static_cast<int>(group(plan));
  auto const rest = static_cast<int>(m_micro_batches - (groups - 1) * group(plan));
  TierBytes most{};
  auto const count = [&](WalkedGroup const& walked) {
    auto const bytes = most_bytes(shape, walked);
    for (Tier const tier : kTiersInOrder) most[tier] = std::max(most[tier], bytes[tier]);
  };
  if (rest < all) count({all, groups == 2, false});
  count({rest, groups == 1, true});
  return lasting_bytes(shape, groups > 1) + most;
}

double Estimator::step_s(Plan const& plan) const {
  auto const [at, is_new] = m_steps_s.try_emplace(hash_of(plan));
  if (is_new) at->second = told_step_s(plan);
  return at->second;
}

double Estimator::told_step_s(Plan const& plan) const {
  bool const several = m_micro_batches > 1;
  BlockShape const shape(m_model, plan, several, Grain::fine);
  auto const groups = div_ceil(m_micro_batches, group(plan));
  auto const all = static_cast<int>(group(plan));
  auto const rest = static_cast<int>(m_micro_batches - (groups - 1) * group(plan));
  auto const bytes =
      station_bytes({m_model, plan, several, Grain::whole}, {all, groups == 1, rest == all});
  auto const of = [&](std::int64_t count) {
    Groups told(static_cast<std::size_t>(count), all);
    told.back() = rest;
    return second_step_s(m_machine, shape, bytes, told, m_told_jobs);
  };
  // Steps of few groups may take no longer with one more, as long as it hides beside updates.
  constexpr std::int64_t most_told = 64;
  double const pass_s = 0.98 * all * passes_s(shape);
  for (auto told = std::min<std::int64_t>(3, groups);; told = std::min(2 * told, groups)) {
    double const step_s = of(told);
    if (told == groups) return step_s;
    double const each_s = step_s - of(told - 1);
    if (each_s >= pass_s || told >= most_told)
      return step_s + static_cast<double>(groups - told) * each_s;
  }
}

}  // namespace spillway
