// What checkpoints leave in a run's base, and how it is found again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "comm/comm.hpp"
#include "config/print.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "model/adapters.hpp"
#include "state/base_weights.hpp"
#include "state/checkpoints.hpp"
#include "state/restore.hpp"
#include "state/restored_start.hpp"
#include "state/resume.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/unit/state/tiny_state.hpp"

namespace spillway::test::bases_test {
namespace {

namespace fs = std::filesystem;

class Bases : public InDirectory {
 protected:
  Bases() { save_base(7); }

  Config config(std::string const& run) const {
    auto config = tiny_config();
    config.run.dir = (m_dir / run).string();
    config.model.vocab = kTinyVocab;
    return config;
  }
  Config with_adapters(std::string const& run, std::string const& init) const {
    auto adapted = config(run);
    adapted.model.lora.rank = 4;
    adapted.run.init = (m_dir / init).string();
    return adapted;
  }
  Config frozen(std::string const& run, std::string const& init,
                std::vector<std::string> patterns) const {
    auto part = config(run);
    part.model.freeze = std::move(patterns);
    if (!init.empty()) part.run.init = (m_dir / init).string();
    return part;
  }

  void save_base(std::uint64_t seed) {
    fs::remove_all(m_dir / "base");
    TinyState state(config("base"));
    state.model.initialise(seed);
    save(config("base"), state.model, {});
  }
  void save(Config const& config, ModelState& model, BaseReference const& base) {
    RunState state;
    state.step = 5;
    state.vocab = kTinyVocab;
    state.tokenizer = "words";
    state.arithmetic = tiny_arithmetic(config);
    state.config = to_yaml(config);
    state.base = base;
    SaveSettings settings;
    save_checkpoint(config.run.dir, model, state, settings, *m_comm);
  }
  // Starts a run, saves its checkpoint, and returns its base.
  BaseReference begin(Config const& config) {
    TinyState state(config);
    auto const started = start(config, state.model);
    save(config, state.model, started.base);
    return started.base;
  }
  RunState start(Config const& config, ModelState& model) const {
    return start_model(config, kTinyVocab, {"words", {}}, tiny_arithmetic(config),
                       find_resumption(config, kTinyVocab), model, *m_comm)
        .state;
  }
  std::vector<std::string> names_in(std::string const& run) const {
    CheckpointReader const reader(m_dir / run / "step-5");
    std::vector<std::string> names;
    for (auto const& tensor : reader.tensors()) names.push_back(tensor.name);
    return names;
  }
  static std::size_t parameters(ModelState const& model) {
    std::size_t count = 0;
    for (auto const& chunk : model.chunks()) count += chunk.parameters.size();
    return count;
  }
  static void expect_equal(ModelState& one, ModelState& other) {
    for (auto const& chunk : one.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const& parameter = chunk.parameters[static_cast<std::size_t>(p)];
        std::vector<float> left(static_cast<std::size_t>(element_count(parameter.shape()))),
            right(left.size());
        one.read(kMaster, chunk.id, p, 0, left);
        other.read(kMaster, chunk.id, p, 0, right);
        EXPECT_EQ(left, right) << parameter.name;
      }
  }

  // Expects that matrices of layers are near to those of a model that is not quantized, and that
  // all else is equal.
  static void expect_quantized(ModelState& one, ModelState& plain) {
    auto const plain_values = by_name(plain);
    int matrices = 0;
    for (auto const& [name, values] : by_name(one)) {
      auto const& expected = plain_values.at(name);
      bool const is_matrix = name.find(".h.") != name.npos && !adapted_layer(name) &&
                             name.ends_with(".weight") && name.find("ln_") == name.npos;
      EXPECT_EQ(values == expected, !is_matrix) << name;
      matrices += is_matrix ? 1 : 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], 0.02) << name;  // drawn with a deviation of 0.02
    }
    EXPECT_EQ(matrices, 8);
  }
  static std::map<std::string, std::vector<float>> by_name(ModelState& model) {
    std::map<std::string, std::vector<float>> all;
    for (auto const& chunk : model.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const& parameter = chunk.parameters[static_cast<std::size_t>(p)];
        auto& values = all[parameter.name];
        values.resize(static_cast<std::size_t>(element_count(parameter.shape())));
        model.read(kMaster, chunk.id, p, 0, values);
      }
    return all;
  }

  std::unique_ptr<Comm> const m_comm = make_single_rank_comm();
};

TEST_F(Bases, have_what_is_not_trained_and_checkpoints_the_rest) {
  auto const run = with_adapters("run", "base");
  TinyState began(run), again(run);
  auto const base = start(run, began.model).base;
  EXPECT_EQ(base.path, (m_dir / "base/step-5").string());
  save(run, began.model, base);
  for (auto const& name : names_in("run")) EXPECT_TRUE(adapted_layer(name)) << name;
  EXPECT_EQ(base.sums.size(), parameters(TinyState(config("base")).model));
  EXPECT_EQ(start(run, again.model).base, base);
  expect_equal(began.model, again.model);
}

TEST_F(Bases, give_a_model_without_adapters_new_ones_that_change_nothing_yet) {
  auto const run = with_adapters("run", "base");
  TinyState state(run);
  start(run, state.model);
  for (auto const& chunk : state.model.chunks())
    for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
      auto const& [name, view, init, decay, quantized] =
          chunk.parameters[static_cast<std::size_t>(p)];
      if (!adapted_layer(name)) continue;
      std::vector<float> values(static_cast<std::size_t>(element_count(view.shape)));
      state.model.read(kMaster, chunk.id, p, 0, values);
      auto const [least, most] = std::ranges::minmax(values);
      if (name.ends_with("lora_B.weight")) {
        EXPECT_TRUE(least == 0 && most == 0) << name;
        continue;
      }
      double const bound = 1 / std::sqrt(static_cast<double>(view.shape[1]));
      EXPECT_TRUE(least >= -bound && least < -0.8 * bound) << least;
      EXPECT_TRUE(most <= bound && most > 0.8 * bound) << most;
    }
}

TEST_F(Bases, that_are_gone_or_others_are_refused_by_name) {
  auto const run = with_adapters("run", "base");
  begin(run);
  auto const said = [&] {
    TinyState state(run);
    CheckpointReader reader(m_dir / "run/step-5");
    auto const error = error_of([&] {
      auto const base = open_base(reader);
      restore_weights(reader, base.get(), state.model, *m_comm);
    });
    EXPECT_EQ(error.status(), Status::bad_input) << error.what();
    return std::string(error.what());
  };
  auto const begins =
      fmt::format("{}: the base of {}, whose frozen weights it has, ",
                  (m_dir / "base/step-5").string(), (m_dir / "run/step-5").string());
  save_base(8);
  EXPECT_EQ(said(), begins +
                        "has changed: transformer.wpe.weight has other values; put back what was "
                        "there when that run began, or say where that is now: --base DIR, for "
                        "train run.init=DIR");
  fs::remove_all(m_dir / "base");
  EXPECT_TRUE(said().starts_with(begins + "cannot be read (")) << said();
}

TEST_F(Bases, are_found_where_the_run_says_that_they_are_now) {
  auto run = with_adapters("run", "base");
  auto const before = begin(run);
  fs::rename(m_dir / "base", m_dir / "moved");
  run.run.init = (m_dir / "moved").string();
  TinyState again(run);
  auto const now = start(run, again.model).base;
  EXPECT_EQ(now.path, (m_dir / "moved/step-5").string());
  EXPECT_EQ(now.sums, before.sums);
  CheckpointReader const reader(m_dir / "run/step-5");
  EXPECT_EQ(open_base(reader, {(m_dir / "moved").string(), {}})->place(), now.path);
  // Another place does not count where one is given.
  auto const error = error_of([&] {
    open_base(reader, {(m_dir / "none").string(), {run.run.init}});
  });
  EXPECT_TRUE(std::string(error.what()).starts_with((m_dir / "none").string() + ": the base of "));
}

TEST_F(Bases, that_have_changed_are_passed_over_for_those_that_have_not) {
  auto run = with_adapters("run", "base");
  begin(run);
  fs::copy(m_dir / "base", m_dir / "kept", fs::copy_options::recursive);
  save_base(8);
  run.run.init = (m_dir / "kept").string();
  TinyState again(run);
  EXPECT_EQ(start(run, again.model).base.path, (m_dir / "kept/step-5").string());
}

TEST_F(Bases, are_found_beside_a_run_that_was_copied_with_them) {
  auto const run = with_adapters("there/run", "there/base");
  {
    TinyState state(config("there/base"));
    state.model.initialise(7);
    save(config("there/base"), state.model, {});
  }
  EXPECT_EQ(begin(run).from_run, "../base/step-5");
  fs::rename(m_dir / "there", m_dir / "here");
  CheckpointReader const reader(m_dir / "here/run/step-5");
  EXPECT_EQ(open_base(reader)->place(), (m_dir / "here/base/step-5").string());
}

TEST_F(Bases, are_given_to_no_checkpoint_that_has_all_weights) {
  CheckpointReader const reader(m_dir / "base/step-5");
  auto const error = error_of([&] { open_base(reader, {"some", {}}); });
  EXPECT_EQ(error.what(), "--base: " + (m_dir / "base/step-5").string() +
                              " has no base, but all weights itself; leave it out");
}

TEST_F(Bases, are_those_of_the_run_that_another_begins_with) {
  auto const base = begin(with_adapters("run", "base"));
  EXPECT_EQ(begin(with_adapters("next", "run")), base);
  auto const one = begin(frozen("one", "base", {"*.h.0.*", "*.wte.*"}));
  EXPECT_EQ(begin(frozen("less", "one", {"*.h.0.*"})).path, one.path);
  // What `one` has trained is in its own checkpoint alone, and checkpoints of this run hold all.
  EXPECT_EQ(begin(frozen("more", "one", {"*.h.0.*", "*.h.1.*"})), BaseReference{});
  EXPECT_EQ(std::ranges::count(names_in("more"), "transformer.h.0.ln_1.weight"), 1);
}

TEST_F(Bases, are_none_where_a_run_draws_its_weights) {
  EXPECT_EQ(begin(frozen("new", "", {"*.h.0.*"})), BaseReference{});
  EXPECT_EQ(std::ranges::count(names_in("new"), "transformer.h.0.ln_1.weight"), 1);
}

// The run sets its older checkpoints aside, or makes one of the same step in the place of it.
TEST_F(Bases, are_none_where_a_run_begins_with_its_own_checkpoint) {
  auto again = frozen("base", "base", {"*.h.0.*"});
  again.run.checkpoint.resume = Resume::never;
  EXPECT_EQ(begin(again), BaseReference{});
  EXPECT_EQ(std::ranges::count(names_in("base"), "transformer.h.0.ln_1.weight"), 1);
}

// The input alone says it, and so does what the run begins with or goes on from, which knows more.
TEST_F(Bases, are_known_before_weights_are_read) {
  auto const expect = [&](Config const& config, bool by_input, bool by_start) {
    EXPECT_EQ(leaves_base(config.run), by_input);
    auto const found = find_resumption(config, kTinyVocab);
    EXPECT_EQ(found && leaves_base(*found, config, kTinyVocab), by_start);
    EXPECT_EQ(!begin(config).path.empty(), by_start);
  };
  auto run = with_adapters("run", "base");
  expect(run, true, true);
  run.run.init.clear();
  expect(run, false, true);  // goes on
  auto drawn = frozen("drawn", "", {"transformer.wte.*"});
  expect(drawn, false, false);
  drawn.run.init = (m_dir / "base").string();
  expect(drawn, true, false);  // goes on
  auto own = with_adapters("base", "base");
  own.run.checkpoint.resume = Resume::never;
  expect(own, false, false);
  own.run.init += "/step-5";
  EXPECT_FALSE(leaves_base(own.run));
}

// Files have its values, and memory what they are quantized to, the same whoever reads them.
TEST_F(Bases, are_quantized_again_by_whoever_reads_them) {
  TinyState plain(with_adapters("plain", "base"));
  start(with_adapters("plain", "base"), plain.model);
  for (auto const form : {Quantization::int8, Quantization::nf4}) {
    auto run = with_adapters(std::string("run-") + std::string(word(form)), "base");
    run.model.quantize = form;
    TinyState began(run), again(run), weights(run);
    auto const base = start(run, began.model).base;
    save(run, began.model, base);
    start(run, again.model);
    expect_equal(began.model, again.model);
    CheckpointReader reader(fs::path(run.run.dir) / "step-5");
    restore_weights(reader, open_base(reader).get(), weights.model, *m_comm);
    expect_equal(began.model, weights.model);
    expect_quantized(began.model, plain.model);
  }
}

TEST_F(Bases, are_needed_by_what_is_quantized) {
  auto const said = [&](Config run) {
    run.model.quantize = Quantization::nf4;
    TinyState state(run);
    return std::string(error_of([&] { start(run, state.model); }).what());
  };
  auto again = frozen("base", "base", {"*.h.0.*"});
  again.run.checkpoint.resume = Resume::never;
  for (auto const& run : {frozen("new", "", {"*.h.0.*"}), again})
    EXPECT_EQ(said(run),
              "model.quantize: frozen weights must stay where the run finds them, and this run has "
              "drawn them or has them in its own run.dir; give model.import or run.init with "
              "weights that lie elsewhere");
}

// Adapters may go on beside the same base in other bits, as a new run.
TEST_F(Bases, may_be_quantized_otherwise_by_a_run_that_begins_anew) {
  auto const base = begin(with_adapters("run", "base"));
  auto next = with_adapters("next", "run");
  next.model.quantize = Quantization::nf4;
  EXPECT_EQ(begin(next), base);
  next.model.quantize = Quantization::int8;
  TinyState state(next);
  EXPECT_EQ(error_of([&] { start(next, state.model); }).what(),
            (m_dir / "next/step-5").string() +
                ": model.quantize: is nf4 there, int8 here; run.checkpoint.resume=weights begins a "
                "run beside the same base in other bits");
}

TEST_F(Bases, have_no_base_themselves) {
  begin(with_adapters("run", "base"));
  EXPECT_EQ(error_of([&] { open_weights(m_dir / "run/step-5"); }).what(),
            (m_dir / "run/step-5").string() + ": has a base itself");
}

TEST_F(Bases, are_left_by_no_run_that_trains_something_else) {
  begin(frozen("run", "base", {"*.h.0.*"}));
  auto const other = frozen("run", "base", {"*.h.1.*"});
  TinyState state(other);
  auto const error = error_of([&] { start(other, state.model); });
  EXPECT_EQ(error.what(), (m_dir / "run/step-5").string() +
                              ": model.freeze: is [*.h.0.*] there, [*.h.1.*] here; "
                              "run.checkpoint.resume=weights begins a run that trains other "
                              "parameters of it");
}

}  // namespace
}  // namespace spillway::test::bases_test
