#include "plan/proof/unroll.hpp"

#include <algorithm>

namespace spillway {

std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps) {
  std::vector<Instance> instances;
  int segment_instance = 0;
  for (int step = 0; step < steps; ++step) {
    for (int const index : sequence) {
      Segment const& segment = program.segments[index];
      for (ItemNumber item = segment.first; item < segment.last; ++item) {
        instances.push_back({item, step, segment_instance});
      }
      ++segment_instance;
    }
  }
  return instances;
}

int proof_steps(Program const& program) {
  if (program.once) return 1;
  bool const versioned = std::any_of(program.buffers.begin(), program.buffers.end(),
                                     [](Buffer const& b) { return b.versions > 1; });
  return versioned ? 3 : 2;
}

ByteRange placed(Buffer const& buffer, Access const& access, int step) {
  std::int64_t const base = buffer.offset + (step % buffer.versions) * buffer.stride;
  return {base + access.first, base + access.last};
}

}  // namespace spillway
