#include "model/model.hpp"

#include "base/error.hpp"

namespace spillway {
namespace {

struct Family {
  std::string name;
  void (*complete)(ModelConfig&);
  void (*append)(Config const&, std::int64_t vocab, Graph&);
};

Family const& family(std::string const& name) {
  static Family const families[] = {{"gpt", complete_gpt, append_gpt}};
  std::string offered;
  for (auto const& candidate : families) {
    if (candidate.name == name) return candidate;
    offered += (offered.empty() ? "" : ", ") + candidate.name;
  }
  throw Error(Status::bad_input,
              "model.family: " + name + " is not offered; choose one of: " + offered);
}

}  // namespace

ModelConfig completed(ModelConfig model, std::int64_t vocab) {
  model.vocab = vocab;
  family(model.family).complete(model);
  return model;
}

Graph build_model(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                  Purpose purpose) {
  Graph graph;
  graph.purpose = purpose;
  graph.arithmetic = arithmetic;
  graph.seed = config.run.seed;
  if (purpose == Purpose::generate) graph.arithmetic.micro = 1;
  Config full = config;
  full.model = completed(config.model, vocab);
  family(full.model.family).append(full, vocab, graph);
  return graph;
}

}  // namespace spillway
