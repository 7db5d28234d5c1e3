#include "run/agreed_products.hpp"

#include "comm/on_all_ranks.hpp"
#include "comm/text_of_rank_0.hpp"

namespace spillway {

ProductChoices agreed_products(std::span<Graph const* const> graphs, Compute const& compute,
                               ProductChoices const& known, Comm& comm) {
  if (compute.kernels.device.choose_products == nullptr) return {};
  Arithmetic told;  // only its products count
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    for (auto const* const graph : graphs) {
      auto chosen = compute.product_choices({graph->tensors, graph->chunks, graph->arithmetic},
                                            graph->ops, known);
      told.products.made_by = std::move(chosen.made_by);
      told.products.algorithms.merge(chosen.algorithms);
    }
  });
  return arithmetic_from_json(text_of_rank_0(comm, to_json(told))).products;
}

}  // namespace spillway
