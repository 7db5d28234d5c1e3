// `spillway plan --items`, and docs/program.md, which explains what it prints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/units.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/listing/listing.hpp"
#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::plan_items_test {
namespace {

std::filesystem::path const kSource = SPILLWAY_SOURCE_DIR;
std::filesystem::path const kPage = kSource / "docs/program.md";

std::vector<std::string> lines_of(std::filesystem::path const& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class PlanItems : public testing::Test {
 protected:
  // With the input of docs/program.md, or another one.
  Outcome plan(std::string const& arguments, std::string const& input = page_input()) {
    auto const file = m_dir / "tiny.yaml";
    std::ofstream(file) << input;
    return run_command("cd " + kSource.string() + " && " + spillway_command(0) + " plan " +
                       file.string() + " --machine input/machines/cpu.yaml " + arguments);
  }

  Outcome inspect(std::string const& name, std::string const& options = "") {
    return run_command("cd " + m_dir.string() + " && " + spillway_command(0) + " inspect " + name +
                       options);
  }

  static std::string page_input() {
    std::string input;
    bool inside = false;
    for (auto const& line : lines_of(kPage)) {
      if (line == "```") inside = false;
      if (inside) input += line + "\n";
      if (line == "```yaml") inside = true;
    }
    return input;
  }

  std::filesystem::path m_dir = scratch_directory("plan_items");
};

// The numbers that "1-3 7" names.
std::set<int> numbers(std::string const& ranges) {
  std::set<int> result;
  std::istringstream words(ranges);
  for (std::string word; words >> word;) {
    auto const dash = word.find('-');
    int const first = std::stoi(word);
    int const last = dash == std::string::npos ? first : std::stoi(word.substr(dash + 1));
    for (int i = first; i <= last; ++i) result.insert(i);
  }
  return result;
}

// Lines that begin with one of the numbers, and `gap` for what is left out between them.
std::string numbered(std::vector<std::string> const& lines, std::string const& ranges,
                     std::regex const& number, std::string const& gap = "") {
  auto const wanted = numbers(ranges);
  std::string text;
  int last = -1;
  for (auto const& line : lines) {
    std::smatch match;
    if (!std::regex_search(line, match, number)) continue;
    int const now = std::stoi(match[1]);
    if (!wanted.contains(now)) continue;
    if (last >= 0 && now != last + 1) text += gap;
    text += line + "\n";
    last = now;
  }
  return text;
}

// What a mark of the page stands for.
std::string piece(std::string const& mark, std::string const& ranges,
                  std::vector<std::string> const& text, std::vector<std::string> const& json) {
  if (mark == "items") return numbered(text, ranges, std::regex("^ *([0-9]+) "), "  ...\n");
  if (mark == "buffers") return numbered(text, ranges, std::regex("^ *#([0-9]+) "));
  if (mark == "json") return numbered(json, ranges, std::regex("^ *\\{\"number\":([0-9]+),"));
  std::string result;
  for (auto const& line : text) {
    if (mark == "head" && line.empty()) break;
    if (mark == "head" || line.starts_with("Segment " + ranges + ":")) result += line + "\n";
  }
  return result;
}

// The page with what the program prints now in every block below a mark.
std::string filled(std::vector<std::string> const& page, std::vector<std::string> const& text,
                   std::vector<std::string> const& json) {
  std::regex const mark("^<!-- (head|segment|items|buffers|json) ?(.*) -->$");
  std::string result, block;
  bool inside = false;
  for (auto const& line : page) {
    std::smatch match;
    if (std::regex_match(line, match, mark)) block += piece(match[1], match[2], text, json);
    if (line == "```" && !block.empty()) {
      result += std::exchange(inside, !inside) ? block + line + "\n" : line + "\n";
      if (!inside) block.clear();
      continue;
    }
    if (!inside) result += line + "\n";
  }
  return result;
}

// To write its blocks anew: SPILLWAY_WRITE_DOCS=1 build/bin/test_parity --file=plan_items. What is
// said between them is not written by anybody else.
TEST_F(PlanItems, are_what_the_page_about_programs_shows) {
  auto const text = plan("--items"), json = plan("--items --json");
  ASSERT_EQ(text.status, 0) << text.output;
  ASSERT_EQ(json.status, 0) << json.output;
  auto const now = filled(lines_of(kPage), text.lines(), json.lines());
  if (std::getenv("SPILLWAY_WRITE_DOCS")) std::ofstream(kPage) << now;
  std::ostringstream committed;
  committed << std::ifstream(kPage).rdbuf();
  EXPECT_EQ(committed.str(), now);
}

TEST_F(PlanItems, as_json_are_a_program_that_is_proved_and_takes_the_planned_seconds) {
  auto const machine = load_machine((kSource / "input/machines/cpu.yaml").string());
  auto const outcome = plan("--items --json");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const program = program_from_json(outcome.output, "stdout");
  auto const violation = verify(program);
  EXPECT_FALSE(violation) << violation->why;
  auto const predicted = nlohmann::json::parse(plan("--json").output).at("predicted");
  EXPECT_EQ(simulate(program, shared_by(machine, 1)).step_s, predicted.at("step_s").get<double>());
}

TEST_F(PlanItems, as_json_can_be_inspected_which_proves_and_times_them) {
  auto json = nlohmann::json::parse(plan("--items --json").output);
  std::ofstream(m_dir / "program.json") << json;
  auto const text = plan("").output;
  auto const memory = text.find("\nWhat is there when the most bytes are in use");
  auto const why = text.substr(memory, text.find("\nA checkpoint of") - memory);
  auto const predicted = text.substr(text.find("Predicted: ") + std::size("Predicted: ") - 1);
  auto const seconds = predicted.substr(0, predicted.find(" a step"));
  auto const peaks = json.at("peak_bytes");
  auto const head = fmt::format(
      "program program.json\n"
      "  a step        {} items on {} buffers; 2 micro-batches on 1 rank\n"
      "  peak          device {}, host {}, nvme {}\n"
      "  proof         holds: no timing changes what it computes\n",
      json.at("items").size(), json.at("buffers").size(), human_bytes(peaks.at("device")),
      human_bytes(peaks.at("host")), human_bytes(peaks.at("nvme")));
  auto const cpu = load_machine((kSource / "input/machines/cpu.yaml").string());
  auto const there =
      fmt::format("  a rank there  device {0}, host {0}, nvme {1}\n  time there    {2} a step\n",
                  human_bytes(cpu.host_bytes), human_bytes(cpu.nvme_bytes), seconds);
  auto const machine = " --machine " + (kSource / "input/machines/cpu.yaml").string();
  EXPECT_EQ(inspect("program.json", machine).output, head + there + why);
  auto const alone = inspect("program.json").output;
  EXPECT_EQ(alone, head + why.substr(0, alone.size() - head.size()));
}

TEST_F(PlanItems, that_do_not_fit_a_machine_or_their_proof_are_refused) {
  auto json = nlohmann::json::parse(plan("--items --json").output);
  std::ofstream(m_dir / "program.json") << json;
  std::ofstream(m_dir / "slow.yaml") << "memory_gbps: 1\n";
  auto const refusal = [&](std::string const& arguments, int status) {
    auto const outcome = inspect(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    return outcome.output;
  };
  auto const gpu = (kSource / "input/machines/h100.yaml").string();
  EXPECT_EQ(refusal("program.json --machine " + gpu, 2),
            "spillway: " + gpu + ": memory.device: there is one, and the Program is for cores\n");
  EXPECT_TRUE(refusal("program.json --machine slow.yaml", 2)
                  .starts_with("spillway: slow.yaml: matmul_gflops.bf16: not known"));
  EXPECT_TRUE(refusal("tiny.yaml --machine " + gpu, 2)
                  .starts_with("spillway: --machine: tiny.yaml is no Program"));
  std::ofstream(m_dir / "gpu.json")
      << run_command(spillway_command(0) + " plan " + (m_dir / "tiny.yaml").string() +
                     " --machine " + gpu + " memory.device=1GiB memory.host=1GiB --items --json")
             .output;
  auto const other = (kSource / "input/machines/a100-80.yaml").string();
  EXPECT_EQ(refusal("gpu.json --machine " + other, 2),
            "spillway: " + other + ": target: sm_80, and the Program is for sm_90\n");
  EXPECT_EQ(refusal("gpu.json --machine " + (kSource / "input/machines/cpu.yaml").string(), 2),
            "spillway: " + (kSource / "input/machines/cpu.yaml").string() +
                ": memory.device: there is none, and the Program is for a device\n");
  for (auto& item : json.at("items")) item.at("waits") = nlohmann::json::array();
  std::ofstream(m_dir / "hasty.json") << json;
  EXPECT_TRUE(refusal("hasty.json", 5).starts_with("spillway: hasty.json: item "));
}

// A run has one thread that updates beside those that compute, if nobody asks for more.
TEST_F(PlanItems, as_json_take_the_planned_seconds_where_the_host_has_more_threads) {
  auto const source = load_machine((kSource / "input/machines/cpu.yaml").string());
  auto threads = source;
  threads.host_cores = 2;
  std::ofstream(m_dir / "threads.yaml") << to_yaml(threads);
  std::ofstream(m_dir / "program.json") << plan("--items --json").output;
  auto const time = [&](std::string const& file) {
    auto const said = inspect("program.json --machine " + file).output;
    return said.substr(0, said.find("\nWhat is there"));
  };
  std::ofstream(m_dir / "one.yaml") << to_yaml(with_host_threads(threads, 1));
  EXPECT_EQ(time("threads.yaml"), time("one.yaml"));
}

TEST_F(PlanItems, are_listed_a_line_each_with_lane_waits_and_every_buffer) {
  auto const program = program_from_json(plan("--items --json").output, "stdout");
  auto const lines = plan("--items").lines();
  auto const line_of = [&](std::string const& number) {
    for (auto const& line : lines)
      if (std::regex_search(line, std::regex("^ *" + number + " "))) return line;
    return std::string();
  };
  for (Item const& item : program.items) {
    auto const line = line_of(std::to_string(item.number));
    EXPECT_NE(line.find(name(item.lane)), line.npos) << item.number << line;
    EXPECT_NE(line.find(what(program, item)), line.npos) << item.number << line;
    EXPECT_EQ(line.find("waits") == line.npos, item.waits.empty()) << line;
    for (Access const& write : item.writes)
      EXPECT_TRUE(std::regex_search(line, std::regex("#" + std::to_string(write.buffer) + "\\b")))
          << line;
  }
  for (Buffer const& buffer : program.buffers) {
    auto const line = line_of("#" + std::to_string(buffer.id));
    for (auto const& part : {std::string(name(buffer.tier)), std::to_string(buffer.bytes),
                             fmt::format("{:#x}", buffer.offset), buffer.name})
      EXPECT_NE(line.find(part), line.npos) << part << line;
  }
}

// Two ranks exchange gradients, and a middle segment stands for three micro-batches.
TEST_F(PlanItems, of_several_ranks_and_micro_batches_name_exchanges_and_say_how_often_they_run) {
  auto const outcome = plan("--items --ranks 2 batch.sequences=10");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (auto const* part : {"Segment middle: items ", ", 3 times a step\n", "ranks: 2\n",
                           " comm       all_to_all h.0.gradient "})
    EXPECT_NE(outcome.output.find(part), std::string::npos) << part << outcome.output;
}

TEST_F(PlanItems, do_not_go_with_a_comparison) {
  auto const outcome = plan("--items --compare");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("--compare and --tokens do not go with it"), std::string::npos)
      << outcome.output;
}

}  // namespace
}  // namespace spillway::test::plan_items_test
