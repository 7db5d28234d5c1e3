// Plans a run of input.yaml on a machine that is not here: example_plan input.yaml machine.yaml
#include <algorithm>
#include <config/load.hpp>
#include <exception>
#include <graph/build.hpp>
#include <iostream>
#include <model/model.hpp>
#include <plan/data/machine_file.hpp>
#include <plan/explain/explain.hpp>
#include <plan/search/solve.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "usage: example_plan input.yaml machine.yaml\n", 2;
  auto const config = spillway::load_config(argv[1], {}, spillway::elsewhere);
  // One rank has a node of one; `node_ranks` of the file share what it describes.
  auto const machine = spillway::shared_by(spillway::load_machine(argv[2]), 1);

  // What is computed: GPT-2's vocabulary, as many sequences at once as make 4096 tokens.
  spillway::Arithmetic arithmetic;
  arithmetic.micro = std::max<std::int64_t>(1, 4096 / config.data.sequence);
  arithmetic.sequence = config.data.sequence;
  auto graph = spillway::build_model(config, 50257, arithmetic, spillway::Purpose::train);
  spillway::append_backward(graph);
  spillway::append_update(graph);

  // Where it may lie. Scratch of kernels is not counted: only the program knows its kernels.
  spillway::Budgets budgets;
  budgets.device_bytes = spillway::share_of(machine.device_bytes, spillway::kDeviceShare);
  budgets.host_bytes = spillway::share_of(machine.host_bytes, spillway::kMainMemoryShare);
  budgets.nvme_bytes = machine.nvme_bytes;
  auto const micro_batches = config.batch.sequences / arithmetic.micro;
  auto const found = spillway::solve(
      {graph, nullptr, {}, budgets, machine, std::max<std::int64_t>(1, micro_batches), 1});
  if (!found.chosen)
    return std::cerr << spillway::describe(found.smallest, graph, budgets) << '\n', 3;

  auto const& [plan, programs, step_s] = *found.chosen;
  auto const simulation = spillway::simulate(programs.train, machine);
  auto const path = critical_path(programs.train, simulation);
  std::cout << spillway::explain(graph, plan, programs.train, simulation,
                                 shares(programs.train, path), machine, budgets);
} catch (std::exception const& error) {
  std::cerr << "example_plan: " << error.what() << '\n';
  return 1;
}
