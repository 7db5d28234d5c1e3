// What the ops of a run are done by.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "kernels/kernel_table.hpp"
#include "plan/data/program.hpp"
#include "runtime/order_watch.hpp"

namespace spillway {

struct Tiers;
// Makes what an Engine tells of its order. The Program and the Tiers outlive the result.
using MakeWatch = std::unique_ptr<OrderWatch> (*)(Program const&, Tiers const&);

struct Compute {
  Device& device;
  Kernels kernels;
  int sharers = 1;  // how many ranks of the node have this device's memory between them
  MakeWatch make_watch = nullptr;  // null except in tests

  // Returns how many threads share the work of a launch; makes an Exec to know it.
  int concurrency() const { return kernels.device.exec(nullptr)->concurrency(); }
};

}  // namespace spillway
