// These kernels and batches are for tests of the engine. Their effects are easy to predict.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"
#include "runtime/engine.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::test {

// Mixes two words into one. Fake ops compute their results with it, so that the results show
// whether an input was missing, incomplete or read too early.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ (a >> 29);
}

// Holds a digest of all runs of each op, by op id. No two threads run the same op at the same time.
inline std::vector<std::uint64_t> g_digests;
// If this is set, fake ops call it with the digest of their inputs, so that a test can make them
// sleep or throw.
inline std::function<void(Op const&, std::uint64_t)> g_disturb;

// Runs a fake op, whose operands consist of 8-byte words.
inline void run_fake(Op const& op, void* const* operands) {
  auto digest = static_cast<std::uint64_t>(op.id);
  for (auto const& view : op.inputs) {
    auto const* const words = static_cast<std::uint64_t const*>(*operands++);
    for (std::int64_t i = 0; i < view.shape[0]; ++i) digest = mix(digest, words[i]);
  }
  if (g_disturb) g_disturb(op, digest);
  for (auto const& view : op.outputs) {
    auto* const words = static_cast<std::uint64_t*>(*operands++);
    for (std::int64_t i = 0; i < view.shape[0]; ++i) {
      words[i] = mix(digest, static_cast<std::uint64_t>(i));
    }
  }
  auto& all = g_digests[static_cast<std::size_t>(op.id)];
  all = mix(all, digest);
}

inline Launch bind_fake(KernelContext const&, Op const& op) {
  return [op](Exec const&, void* const* operands) { run_fake(op, operands); };
}

inline Kernel fake_kernel(OpKind) {
  return {bind_fake, bind_fake};
}

class NoBatches final : public BatchSource {
  void load(std::int64_t, std::int64_t, BatchBuffers const&) override {}
};

inline Tiers make_tiers(Program const& program, SpillFile* spill) {
  return {host_device(), program.peak_bytes, spill};
}

}  // namespace spillway::test
