// Finds the algorithms of all products of a run's ops, before step 0.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/cuda/product_form.hpp"
#include "kernels/kernel.hpp"

namespace spillway::cuda {

// Returns the forms of all products that the kernel of an op makes; none for most kinds.
std::vector<ProductForm> product_forms(KernelContext const& context, Op const& op);

// Does what kernels/kernel_table.hpp says of ChooseProducts. context.arithmetic.isa is the target,
// which says how much workspace products get.
ProductChoices choose_products(KernelContext const& context, std::span<Op const> ops,
                               std::string_view device_name, ProductChoices const& known);

}  // namespace spillway::cuda
