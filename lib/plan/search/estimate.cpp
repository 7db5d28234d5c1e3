#include "plan/search/estimate.hpp"

#include "plan/search/estimate_bytes.hpp"
#include "plan/search/step_timeline.hpp"

namespace spillway {

namespace {

// Returns the bytes that are in use during the whole step: state of chunks, activations that are
// away from the device, and the rings for bytes between the device and the drive.
TierBytes lasting_bytes(BlockShape const& shape) {
  TierBytes bytes{};
  bool to_drive = false, from_drive = false;
  for (int b = 0; b < shape.blocks(); ++b) {
    auto const tier = away_tier(shape.plan().blocks[b].policy);
    if (!tier) continue;
    bytes[*tier] += shape.away_bytes(b);
    to_drive |= tier == Tier::nvme && shape.away_bytes(b) > 0;
  }
  for (int c = 0; c < std::ssize(shape.model().chunks); ++c) {
    auto const& places = shape.places(c);
    auto const& update = shape.update(c);
    bytes[places.parameters] += shape.chunk(c).home_bytes;
    bytes[places.optimizer] += shape.chunk(c).optimizer_bytes;
    to_drive |= update.workplace == Tier::device && update.back_bytes[Tier::nvme] > 0;
    from_drive |= places.parameters == Tier::nvme;
  }
  if (shape.plan().unified) return bytes;
  int const ways = (to_drive ? 1 : 0) + (to_drive || from_drive ? 1 : 0);
  bytes[Tier::host] += ways * kStagingPieces * shape.plan().staging_piece_bytes;
  return bytes;
}

void tell(StepTelling<BlockShape, StepTimeline>& step, int micro_batches) {
  step.begin_step();
  for (int i = 0; i < micro_batches; ++i) step.micro_batch({"", i == 0, i + 1 == micro_batches});
  step.update();
}

// Puts two steps without a barrier between them on a timeline. Returns the time from the end of the
// first step to the end of the second, which is the time of a step in the steady state.
double second_step_s(Machine const& machine, BlockShape const& shape, StationBytes const& bytes,
                     int micro_batches) {
  StepTimeline jobs(machine, shape, bytes);
  StepTelling step(shape, shape.plan().redo, jobs);
  tell(step, micro_batches);
  auto const first = jobs.timeline().jobs();
  tell(step, micro_batches);
  double end_s[2] = {0, 0};
  for (int job = 0; auto const& times : jobs.timeline().run(capacities(machine))) {
    auto& end = end_s[job++ < first ? 0 : 1];
    end = std::max(end, times.end_s);
  }
  return std::max(end_s[0], end_s[1]) - end_s[0];
}

}  // namespace

TierBytes Estimator::peaks(Plan const& plan) const {
  BlockShape const shape(m_model, plan, m_micro_batches > 1, Grain::whole);
  return lasting_bytes(shape) + station_bytes(shape).most;
}

double Estimator::step_s(Plan const& plan) const {
  bool const several = m_micro_batches > 1;
  BlockShape const shape(m_model, plan, several, Grain::fine);
  auto const bytes = station_bytes({m_model, plan, several, Grain::whole});
  auto const of = [&](int micro_batches) {
    return second_step_s(m_machine, shape, bytes, micro_batches);
  };
  if (m_micro_batches <= 2) return of(static_cast<int>(m_micro_batches));
  double const one = of(1), two = of(2);
  return two + static_cast<double>(m_micro_batches - 2) * (two - one);
}

}  // namespace spillway
