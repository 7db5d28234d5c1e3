// A Compute says what computes the ops of a run: a device and the kernels for it.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "kernels/kernel_table.hpp"
#include "plan/data/program.hpp"
#include "runtime/order_watch.hpp"

namespace spillway {

struct Tiers;
// Makes the OrderWatch to which an Engine tells its order. The Program and the Tiers must outlive
// it.
using MakeWatch = std::unique_ptr<OrderWatch> (*)(Program const&, Tiers const&);

struct Compute {
  Device& device;
  Kernels kernels;
  int sharers = 1;                 // how many ranks of the node share this device's memory
  MakeWatch make_watch = nullptr;  // null except in tests

  // Returns what Arithmetic::products must have for these ops, as this rank's device would choose
  // it. `known` are choices to keep where they fit. Throws Error(device).
  ProductChoices product_choices(KernelContext const& context, std::span<Op const> ops,
                                 ProductChoices const& known = {}) const {
    auto const choose = kernels.device.choose_products;
    return choose ? choose(context, ops, device.properties().name, known) : ProductChoices{};
  }
  // Returns how many threads share the work of a launch. It makes an Exec in order to ask it.
  int concurrency() const { return kernels.device.exec(nullptr)->concurrency(); }
};

}  // namespace spillway
