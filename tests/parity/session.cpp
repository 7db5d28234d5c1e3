// What people see: a session of commands, and every word that they print but times, rates and what
// the system takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>

#include "tests/support/frozen.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::session_test {
namespace {

namespace fs = std::filesystem;

constexpr auto kJob = R"(model: {family: gpt, layers: 2, hidden: 64, heads: 2}
data: {train: t.h5, valid: v.h5, sequence: 64}
batch: {sequences: 8, micro: 4}
precision: fp32
memory: {device: 64MiB, host: 16MiB, nvme: {path: spills, size: 32MiB}}
plan: {activations: [nvme, keep], optimizer: [host, device], replan: false}
run: {steps: 4, threads: 1, dir: run, log: {every: 1}, eval: {every: 2, batches: 2},
      checkpoint: {every: 2}}
debug: {machine: machine.yaml, kernels: portable, force_backend: posix}
)";
// A smaller one, which stays on the device.
std::string small_job(char const* name, char const* model, char const* data, char const* batch,
                      char const* precision = "fp32", int steps = 2) {
  return fmt::format(
      "model: {{{}}}\ndata: {{train: t.h5, {}}}\nbatch: {{{}}}\nprecision: {}\n"
      "memory: {{device: 64MiB}}\nrun: {{steps: {}, threads: 1, dir: {}, log: {{every: 1}}}}\n"
      "debug: {{machine: machine.yaml, kernels: portable}}\n",
      model, data, batch, precision, steps, name);
}

// Each is a line for /bin/sh, in which @ is the program and @2 two ranks of it. Of what follows %
// every number is left out.
constexpr char const* kCommands[] = {
    "@ tokenize --tokenizer byte -o t.h5 a.txt b.txt c.txt",
    "@ tokenize --tokenizer byte -o v.h5 d.txt",
    "@ inspect t.h5",
    "@ inspect plain.h5",
    "@ plan job.yaml",
    "@ plan job.yaml --compare",
    "@ plan job.yaml --items | sed -n 1,30p",
    "@ plan job.yaml memory.device=1MiB memory.host=none memory.nvme=none",
    "@ train job.yaml",
    "cat run/plan.yaml run/config.yaml run/environment.json run/summary.json run/metrics.jsonl",
    "@ inspect run/step-4",
    "@ train job.yaml run.steps=6 optim.lr=1e-3",
    "@ train job.yaml run.steps=6 optim.lr=1e-3",
    "@ train job.yaml run.steps=8 model.heads=4",
    "@ train job.yaml run.steps=8 data.train=[t.h5,plain.h5]",
    "@ train job.yaml run.steps=10 data.train=plain.h5",
    "@ train job.yaml run.steps=10 data.train=plain.h5 data.changed=anew",
    "@ eval job.yaml --checkpoint run --batches 3",
    "@ eval job.yaml --checkpoint run/step-2",
    "@ generate --checkpoint run --prompt-ids 116,104,101 --tokens 8",
    "@ generate --checkpoint run --prompt-ids 116,104,101 --tokens 4 --temperature 0.7 --seed 3",
    "@ export run -o hf --dtype bf16",
    "@ inspect hf",
    "@ train fine.yaml",
    "@ train bert.yaml",
    "@ eval bert.yaml --checkpoint bert",
    "@ generate --checkpoint bert --prompt-ids 116,256,101 --top 3",
    "@ train t5.yaml",
    "@ inspect t5/step-2",
    "@ eval t5.yaml --checkpoint t5",
    "@ generate --checkpoint t5 --prompt-ids 116,104,101 --tokens 4",
    "@2 train job.yaml run.dir=two",
    "cat two/environment.json two/summary.json two/metrics.jsonl t5/metrics.jsonl",
    "% @ profile job.yaml -o measured.yaml",
    "% sed 1,/^target:/d measured.yaml",
    "% @ plan job.yaml --ranks 3 memory.host=900TiB memory.device=64MiB",
    "find . | LC_ALL=C sort",
    "@ train job.yaml data.train=none.h5",
    "@ train job.yaml model.layer=3",
};

std::string masked(std::string text, std::string const& dir) {
  for (auto at = text.find(dir); at != text.npos; at = text.find(dir)) text.erase(at, dir.size());
  static std::pair<std::regex, char const*> const masks[] = {
      {std::regex(R"(\n  where      [^:\n]*: )"), "\n  where      #: "},
      {std::regex(R"(: until\s+[A-Z][^\n]*(\n +[0-9:]+(?=\n))?)"), ": until #"},
      {std::regex(R"((\nsaved [^\n]* in )[^\n]*)"), "$1#"},
      {std::regex(R"(\n  [^\n]* from start to end, [^\n]*)"), "\n  # from start to end"},
      // Rows of the table of times: which there are depends on what took a millisecond.
      {std::regex(R"((\n  training) [ 0-9.e+-]+ [0-9]+ % +\S+(?=\n))"), "$1 #"},
      {std::regex(R"(\n  [a-z]+( [a-zA-Z]\w*)* [ 0-9.]+ [<-]?[0-9]+ % +[-0-9.]+(?=\n))"), ""},
      {std::regex(R"([0-9.]+ tok/s  ETA [^\n]*)"), "# tok/s  ETA #"},
      {std::regex(R"(at [0-9.e+-]+ GB/s( a rank)?, ([0-9.]+ \w+) read at [0-9.e+-]+ GB/s)"),
       "at #$1, $2 read at #"},
      {std::regex(R"(last [0-9.]+ [a-z]+, as spill files use them [0-9.]+ [a-z]+\n)"),
       "last #, as spill files use them #\n"},
      {std::regex(R"((\n  process +)[0-9]+ +[0-9][^\n]*\n  \(process: [^)]*\))"), "$1#"},
      {std::regex(R"(in [0-9]+ ms\.)"), "in #."},
      {std::regex(R"(the drive in [^\n]*)"), "the drive in #"},
      {std::regex(R"(\nrank [0-9] waited [^\n]*)"), ""},  // said where ranks waited for long
      {std::regex(R"(\nspills [^\n]*)"), ""},             // what this drive lacks
      {std::regex(R"(\n\[[^\n]*:[0-9]+\] [^\n]*)"), ""},  // MPI's own lines
      {std::regex(R"((checkpoint [^\n]*\n  size +)[^\n]*)"), "$1#"},
      {std::regex(R"("build":"[^"\n]*)"), "\"build\":\"#"},
      {std::regex(R"re("(\w*(_s|gbps|gflops|_share|rss_bytes)|outside_bytes|time|started|ended))re"
                  R"re(": ?[^,}\n]*)re"),
       "\"$1\":#"},
      {std::regex(R"re("(version|git|compiler|flags|features|mpi|isa|devices)": "[^\n]*)re"),
       "\"$1\": #"},
      {std::regex(R"re("(hosts|waits)": \[[^\]]*\])re"), "\"$1\": #"},
      {std::regex(R"re("lanes":\{[^\n]*\},"peak_bytes":\{[^}]*\})re"), "\"lanes\":#"},
      {std::regex(R"re("bytes": [0-9]+)re"), "\"bytes\": #"},  // of a lane: some count for later
      {std::regex(R"re("(stall_by)": ?\{[^}]*\})re"), "\"$1\":#"},
      {std::regex(R"re("(lifetime_years|used_lifetime_years|\w+_hex)": ?[^,}\n]*)re"), "\"$1\":#"},
      {std::regex(R"re(("\w*(?:loss|norm)": ?[0-9]+\.[0-9]{4})[0-9]*)re"), "$1"},
      {std::regex(R"re(,"slow_rank":[0-9]+,"slow_rank_wait_s":#)re"), ""},  // who was slow
      {std::regex(R"re("times": \{\s*(?:"[^}]*\},?\s*)*\})re"), "\"times\": #"},
  };
  for (auto const& [pattern, mask] : masks) text = std::regex_replace(text, pattern, mask);
  return text;
}

std::string lines(int count, char const* words) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{} {} {}\n", i % 7, words, i * i % 101);
  return text;
}

std::string session() {
  auto const dir = scratch_directory("session");
  auto const write = [&](char const* name, std::string const& text) {
    std::ofstream(dir / name) << text;
  };
  write("a.txt", lines(200, "the quick brown fox jumps over"));
  write("b.txt", "x");
  write("c.txt", lines(150, "a lazy dog sleeps under"));
  write("d.txt", lines(90, "every good boy does fine at"));
  write("job.yaml", kJob);
  write("bert.yaml",
        small_job("bert", "family: bert, layers: 1, hidden: 32, heads: 2",
                  "valid: v.h5, sequence: 32, objective: masked", "sequences: 7, micro: 3"));
  write("t5.yaml", small_job("t5", "family: t5, layers: 1, hidden: 32, heads: 2",
                             "valid: v.h5, sequence: 40, objective: spans, pack: true",
                             "sequences: 4, micro: 2", "bf16"));
  write("fine.yaml",
        small_job("fine", "import: hf", "sequence: 64", "sequences: 2, micro: 1", "fp32", 1));
  write_token_file(dir / "plain.h5", 3000);
  fs::create_directory(dir / "spills");
  fs::copy_file(machine_file(), dir / "machine.yaml");
  std::string text;
  for (std::string const command : kCommands) {
    int const ranks = command.starts_with("@2 ") ? 2 : 0;
    bool const without_numbers = command[0] == '%';
    auto run = without_numbers ? command.substr(2) : command;
    if (run[0] == '@') run.replace(0, ranks == 0 ? 1 : 2, spillway_command(ranks));
    auto const outcome = run_command(fmt::format("cd {} && {}", dir.string(), run));
    auto said = masked(outcome.output, dir.string() + "/");
    if (without_numbers)
      said = std::regex_replace(said, std::regex("[0-9][0-9.e+-]*( ?[KMGT]i?B)?"), "#");
    text += fmt::format("$ {}\n{}", command, said);
    if (outcome.status != 0) text += fmt::format("[{}]\n", outcome.status);
    text += "\n";
  }
  return text;
}

TEST(Session, prints_what_it_did) {
  expect_frozen("session.txt", session(), "$ ");
}

}  // namespace
}  // namespace spillway::test::session_test
