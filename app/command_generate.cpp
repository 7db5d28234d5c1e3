#include <fmt/core.h>

#include <string>

#include "app/commands.hpp"
#include "app/compute.hpp"
#include "base/printable.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "model/model.hpp"
#include "runtime/process_memory.hpp"
#include "state/run_state.hpp"
#include "train/generate.hpp"
#include "train/prepare.hpp"
#include "train/session.hpp"

namespace spillway {
namespace {

std::vector<std::int32_t> encode(std::string const& text, std::string const& tokenizer) {
  if (tokenizer != "byte") {
    throw Error(Status::bad_input,
                fmt::format("the checkpoint's tokenizer is '{}'; this version generates bytes only",
                            tokenizer));
  }
  std::vector<std::int32_t> tokens;
  for (char const c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

// Gives a terminal whole characters only: tokens are bytes, and one may end inside a character.
class Stdout {
 public:
  void add(std::string const& bytes) {
    m_held += bytes;
    auto const whole = whole_characters_bytes(m_held);
    print_bytes(m_held.substr(0, whole));
    m_held.erase(0, whole);
  }
  void end() { print_bytes(m_held + "\n"); }

 private:
  std::string m_held;
};

}  // namespace

Status run_generate(GenerateArguments const& arguments) {
  CheckpointReader checkpoint(arguments.checkpoint);
  auto const state = run_state(checkpoint.run_strings(), arguments.checkpoint);
  auto const config = parse_config(state.config, arguments.checkpoint, {}, elsewhere);
  if (objective_of(config) != Objective::next) {
    throw Error(Status::bad_input,
                fmt::format("{}: models of the family {} are not sampled from in this version",
                            arguments.checkpoint, config.model.family));
  }
  if (arguments.prompt.empty()) {
    throw Error(Status::bad_input, "--prompt: is empty; give at least one character to continue");
  }

  auto const comm = make_single_rank_comm();
  // The numbers of a machine's GPUs mean nothing on another one.
  ComputeHere const compute(config.run.device == "cpu" ? "cpu" : "auto", available_cores(), *comm);
  GenerateBatch batch(config.data.sequence);
  batch.tokens = encode(arguments.prompt, state.tokenizer);
  auto const arithmetic =
      make_arithmetic(config, {available_cores(), 1}, 1, compute->kernels.target);
  InferenceSession session(config,
                           inference_graph(config, state.vocab, arithmetic, Purpose::generate),
                           checkpoint, batch, *compute, *comm);

  Stdout text;
  text.add(arguments.prompt);
  for (std::int64_t i = 0; i < arguments.tokens; ++i) {
    session.engine().run_step(i);
    session.engine().finish();
    auto const bytes = session.engine().bytes(session.graph().known.logits);
    std::span const logits(reinterpret_cast<float const*>(bytes.data()),
                           static_cast<std::size_t>(state.vocab));
    auto const token = sample_token(logits, {arguments.temperature, arguments.seed},
                                    static_cast<std::uint64_t>(i));
    batch.tokens.push_back(token);
    if (token < 256) text.add({static_cast<char>(token)});
  }
  text.end();
  return Status::done;
}

}  // namespace spillway
