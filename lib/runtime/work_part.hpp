// A WorkPart is a part of the work that the compute lane does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

// Products are those of matmul and mlp. What is computed again in the backward pass belongs to the
// forward part.
enum class WorkPart : std::uint8_t {
  matmul_forward,
  matmul_backward,
  attention,
  loss,  // the head's product and the loss over it
  other_ops,
  optimizer  // updates, and the norms that they wait for
};
inline constexpr std::size_t kWorkParts = 6;
constexpr std::size_t index(WorkPart part) {
  return static_cast<std::size_t>(part);
}

// Returns the name that reports have for it, such as "matmul forward".
std::string_view name(WorkPart part);

// Returns the part that an item of the compute lane belongs to: `other_ops` if it is no op.
WorkPart work_part(Program const& program, Item const& item);

using WorkSeconds = std::array<double, kWorkParts>;

}  // namespace spillway
