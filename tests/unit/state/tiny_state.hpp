// A tiny model's masters and moments, in memory of their own.
#pragma once

#include "device/host/host_device.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/search/solve.hpp"
#include "run/prepare.hpp"
#include "runtime/tiers.hpp"
#include "state/model_state.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {

struct TinyState {
  explicit TinyState(Config const& config = tiny_config())
      : train(training_graph(config, kTinyVocab, tiny_arithmetic(config))),
        program(compile(train, nullptr,
                        make_plan(train, PlanWords{.activations = {"keep"}}, BlockPolicy::keep), 1,
                        1)
                    .train),
        tiers(host_device(), program.peak_bytes, nullptr),
        model(program, tiers, 0) {
    model.initialise(3);
  }

  Graph train;
  Program program;
  Tiers tiers;
  ModelState model;
};

}  // namespace spillway::test
