// Every JSON that the program writes is as docs/schemas says, and docs/outputs.md is written from
// these. A field that fails here wants a property in its schema.
#include <fmt/format.h>

#include "io/tokens/token_writer.hpp"
#include "plan/data/machine_file.hpp"
#include "plan_test.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/schema_page.hpp"

namespace spillway::test::output_schemas_test {
namespace {

std::filesystem::path const kDocs = SPILLWAY_SOURCE_DIR "/docs";

std::filesystem::path schema_path(std::string const& name) {
  return kDocs / "schemas" / (name + ".schema.json");
}

void expect_no_faults(JsonSchema& schema, std::vector<OrderedJson> const& values) {
  for (auto const& value : values)
    for (auto const& fault : schema.faults(value)) ADD_FAILURE() << fault;
}

// Expects all values to be as the schema says, and each of its fields in one of them.
void expect_described(std::string const& name, std::vector<OrderedJson> const& values) {
  JsonSchema schema(schema_path(name));
  expect_no_faults(schema, values);
  if (testing::Test::HasFailure()) return;
  for (auto const& field : schema.unseen())
    ADD_FAILURE() << name << ".schema.json: no output has `" << field
                  << "`: remove it, or say in \"when\" which have it";
}

OrderedJson read_json(std::filesystem::path const& path) {
  std::ifstream file(path);
  return OrderedJson::parse(file);
}

std::vector<OrderedJson> rows_of(Run const& run) {
  std::vector<OrderedJson> rows;
  for (auto const& row : read_rows(run.dir)) rows.push_back(OrderedJson::parse(row.dump()));
  return rows;
}

std::string text_of(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Every file is named in the page, as people look for it: "config-0.yaml" as "config-<step>.yaml".
void expect_named(std::filesystem::path const& run_dir) {
  auto const page = text_of(kDocs / "outputs.md");
  for (auto name : names_in(run_dir)) {
    auto const digits = name.find_first_of("0123456789");
    if (digits != name.npos)
      name.replace(digits, name.find_last_of("0123456789") + 1 - digits, "<step>");
    EXPECT_NE(page.find("`" + name + "`"), page.npos) << "docs/outputs.md does not name " << name;
  }
}

TEST(OutputSchemas, describe_what_a_run_leaves) {
  ::setenv("SPILLWAY_JOB", "job 7", 1);
  Experiment const experiment("output_schemas", 2);
  auto const run = experiment.run("run", {"plan.activations=nvme", "run.steps=3", "run.trace=2"});
  auto const more =
      experiment.resume("more", run, 3, {"optim.lr=1e-3", "debug.fault=rank-told-slow:3"});
  ::unsetenv("SPILLWAY_JOB");
  auto rows = rows_of(run);
  for (auto const& row : rows_of(more)) rows.push_back(row);
  expect_described("metrics", rows);
  expect_described("summary", {read_json(run.dir / "summary.json")});
  expect_described("environment", {read_json(run.dir / "environment.json")});
  expect_named(more.dir);
  JsonSchema events(schema_path("trace"));
  expect_no_faults(events, read_json(run.dir / "trace.json"));
}

class OutputsOfPlan : public PlanTest {
 protected:
  OutputsOfPlan() {
    write("in.yaml",
          "model: {layers: 4, hidden: 1024, heads: 16, vocab: 8192}\n"
          "data: {train: /no/such/tokens.h5}\n"
          "batch: {sequences: 32, micro: 4}\n");
  }
  // What `plan --json` prints with these words.
  OrderedJson plan(std::string const& words) {
    auto const outcome = spillway("plan " + path("in.yaml") + " --machine " + kRtx3090 +
                                  " --json " + words + " 2>/dev/null");
    return OrderedJson::parse(outcome.output);
  }
};

TEST_F(OutputsOfPlan, of_one_plan) {
  expect_described("plan",
                   {plan("--compare --tokens 1B --ranks 2"), plan("batch.share=[2,1] --ranks 2"),
                    plan("memory.device=16MiB memory.host=none memory.nvme=none")});
}

TEST_F(OutputsOfPlan, of_tables) {
  expect_described("plan-table", {plan("--budgets device=16MiB,8GiB --ranks 1,2 --tokens 1B")});
}

TEST_F(OutputsOfPlan, of_the_largest_value) {
  expect_described("plan-largest", {plan("--largest model.layers memory.host=none "
                                         "memory.nvme=none --tokens 1B")});
}

TEST_F(OutputsOfPlan, of_what_if) {
  expect_described("plan-what-if", {plan("--what-if")});
}

TEST_F(OutputsOfPlan, of_the_items_of_a_program) {
  expect_described("program", {plan("--items plan.activations=recompute")});
}

TEST_F(OutputsOfPlan, of_a_trace_that_leaves_micro_batches_out) {
  plan("batch.sequences=8192 batch.micro=1 --trace " + path("step.json"));
  expect_described("trace", read_json(path("step.json")));
}

// A text of which every third token is learned.
void write_masked(std::filesystem::path const& path) {
  std::vector<std::int32_t> tokens;
  std::vector<std::uint8_t> mask;
  for (int i = 0; i < 300; ++i) {
    tokens.push_back(i % 200);
    mask.push_back(i % 3 == 0 ? 1 : 0);
  }
  TokenWriter writer(Output(path), "byte", 256, 300, 1, "", true);
  writer.append(tokens);
  writer.append_mask(mask);
  writer.close(std::vector<std::int64_t>{0});
}

TEST(Outputs, of_evaluations_say_the_loss_of_each_text_and_of_what_is_only_seen) {
  Experiment const experiment("outputs_of_eval", 0, {"run.steps=1", "run.eval.every=0"});
  auto const dir = experiment.directory().string();
  auto const run = experiment.run("run").dir.string();
  write_masked(dir + "/masked.h5");
  auto const outcome = run_command(fmt::format(
      "{0} eval {1}/in.yaml --checkpoint {2} --json \"data.valid=[{1}/valid.h5, {1}/masked.h5]\" "
      "2>/dev/null",
      spillway_command(0), dir, run));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const json = OrderedJson::parse(outcome.output);
  expect_described("eval", {json});
  auto const& one = json["checkpoints"][0];
  EXPECT_EQ(one["texts"].size(), 2u);
  EXPECT_EQ(one["targets"].get<int>(),
            one["texts"][0]["targets"].get<int>() + one["texts"][1]["targets"].get<int>());
  // Of 256 tokens of sequences each is learned or only seen.
  EXPECT_EQ(one["texts"][1]["targets"].get<int>() + one["prompt_targets"].get<int>(), 256);
}

// The keys of a machine file, as `spillway profile` writes them: each below its meaning.
std::string machine_keys() {
  std::string table = "| key | meaning |\n| --- | --- |\n", meaning;
  std::vector<std::string> groups;
  Machine machine;
  machine.kind_giga_per_s["KIND"] = machine.op_s["OP"] = 1;
  std::istringstream lines(to_yaml(machine, {{"NAME", "VALUE"}}));
  for (std::string line; std::getline(lines, line);) {
    auto const depth = line.find_first_not_of(' ') / 2;
    line = line.substr(2 * depth);
    auto const colon = line.find(':');
    if (line.starts_with("# ")) {
      meaning = line.substr(2);
      continue;
    }
    groups.resize(depth);
    groups.push_back(line.substr(0, colon));
    if (colon + 1 == line.size()) continue;
    std::string key;
    for (auto const& group : groups) key += (key.empty() ? "" : ".") + group;
    table += fmt::format("| `{}` | {} |\n", key, meaning);
  }
  return table;
}

std::string tables() {
  std::vector<std::unique_ptr<JsonSchema>> schemas;
  std::vector<OrderedJson const*> all;
  std::string text;
  for (auto const* name : {"metrics", "summary", "environment", "plan", "plan-table",
                           "plan-largest", "plan-what-if", "eval", "program", "trace"}) {
    schemas.push_back(std::make_unique<JsonSchema>(schema_path(name)));
    all.push_back(&schemas.back()->json());
    text += schema_section(*all.back()) + "\n";
  }
  return text + parts_section(all) + "\n## Keys of a machine file\n\n" + machine_keys();
}

// To write the tables anew: SPILLWAY_WRITE_DOCS=1 build/bin/test_parity --file=output_schemas
TEST(OutputSchemas, are_what_the_page_says) {
  auto const path = kDocs / "outputs.md";
  auto const page = text_of(path);
  auto const begin = page.find("## metrics.jsonl");
  ASSERT_NE(begin, page.npos);
  auto const now = page.substr(0, begin) + tables();
  if (std::getenv("SPILLWAY_WRITE_DOCS") != nullptr)
    std::ofstream(path) << now;
  else
    EXPECT_EQ(page, now);
}

TEST(OutputSchemas, have_a_test_each) {
  auto const page = tables();
  for (auto const& name : names_in(kDocs / "schemas")) {
    if (!name.ends_with(".json")) continue;
    auto const title = read_json(kDocs / "schemas" / name).at("title").get<std::string>();
    EXPECT_NE(page.find("## " + title + "\n"), page.npos)
        << name << " is in no list of output_schemas.cpp";
  }
}

// The check itself: each kind of fault is seen.
TEST(OutputSchemas, refuse_what_they_do_not_describe) {
  auto const faults = [](char const* text) {
    JsonSchema schema(schema_path("environment"));
    auto json = OrderedJson::parse(
        R"({"version": "", "git": "", "compiler": "", "flags": "", "features": "", "mpi": "",
            "ranks": 1, "threads": 1, "isa": "", "devices": "", "hosts": [""]})");
    json.merge_patch(OrderedJson::parse(text));
    return schema.faults(json);
  };
  EXPECT_TRUE(faults("{}").empty());
  EXPECT_EQ(faults(R"({"threads": null})").at(0),
            "environment.json: `threads` is missing, which environment.schema.json requires");
  EXPECT_EQ(faults(R"({"threads": "two"})").at(0),
            "environment.json: `threads` is no \"integer\": \"two\"");
  EXPECT_EQ(faults(R"({"hosts": [1]})").at(0), "environment.json: `hosts[]` is no \"string\": 1");
  EXPECT_EQ(faults(R"({"gpus": 2})").at(0).find("environment.json: `gpus` is not in docs/schemas/"),
            0u);
}

}  // namespace
}  // namespace spillway::test::output_schemas_test
