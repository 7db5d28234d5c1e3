// Where the engine's `load_batch` items get their data.
#pragma once

#include <cstdint>

namespace spillway {

// One micro-batch of this rank: M = micro * sequence rows. Null where the Program has no such
// tensor.
struct BatchPointers {
  std::int32_t* tokens = nullptr;    // [M]
  std::int32_t* targets = nullptr;   // [M]
  float* weights = nullptr;          // [M]
  std::int64_t* samples = nullptr;   // [micro]
  std::int32_t* position = nullptr;  // [1]
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Fills every non-null pointer completely; equal (step, micro_batch) give equal data, however
  // often they are asked for. Runs on a thread of the engine; what it throws ends the step and
  // leaves Engine::run_step on the caller's thread.
  virtual void load(std::int64_t step, std::int64_t micro_batch, BatchPointers const& to) = 0;
};

}  // namespace spillway
