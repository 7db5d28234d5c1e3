#include "plan/proof/unroll.hpp"

#include <algorithm>

namespace spillway {

std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps) {
  std::vector<Instance> instances;
  int segment_instance = 0;
  for (int step = 0; step < steps; ++step) {
    for (int const index : sequence) {
      Segment const& segment = program.segments[index];
      for (ItemNumber item = segment.first; item < segment.last; ++item)
        instances.push_back({item, step, segment_instance});
      ++segment_instance;
    }
  }
  return instances;
}

std::vector<Instance> unroll_for_proof(Program const& program) {
  auto const has_versions = [](Buffer const& b) { return b.versions > 1; };
  int const steps = program.once ? 1 : std::ranges::any_of(program.buffers, has_versions) ? 3 : 2;
  return unroll(program, segment_sequence(program, 2), steps);
}

ByteRange arena_range(Buffer const& buffer, Access const& access, int step) {
  std::int64_t const base = buffer.offset + (step % buffer.versions) * buffer.stride;
  return {base + access.first, base + access.last};
}

}  // namespace spillway
