#include "train/metrics.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "train/lane_json.hpp"
#include "train/tier_json.hpp"

namespace spillway {

std::string hex(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}

std::string to_json(StepMetrics const& row) {
  auto const& lanes = row.lanes.use;
  nlohmann::ordered_json json = {
      {"step", row.step},
      {"tokens", row.tokens},
      {"loss", row.loss},
      {"grad_norm", row.grad_norm},
      {"lr", row.lr},
      {"step_s", row.step_s},
      {"tokens_per_s", row.tokens_per_s},
      {"mfu", row.mfu},
      {"loss_hex", hex(row.loss)},
      {"grad_norm_hex", hex(row.grad_norm)},
      {"spilled_bytes", lanes[index(Lane::nvme_write)].bytes},
      {"reloaded_bytes", lanes[index(Lane::nvme_read)].bytes},
      {"stall_s", lanes[index(Lane::compute)].stall_s},
      {"stall_by", stalls_json(row.lanes)},
      {"lanes", lanes_json(row.lanes)},
      {"peak_bytes", tiers_json(row.peak_bytes)},
  };
  if (row.valid_loss) {
    json["valid_loss"] = *row.valid_loss;
    json["valid_loss_hex"] = hex(*row.valid_loss);
  }
  return json.dump();
}

MetricsFile::MetricsFile(std::filesystem::path const& path) : m_file(path, std::ios::app) {
  if (!m_file) throw Error(Status::bad_input, fmt::format("{}: cannot be written", path.string()));
}

void MetricsFile::append(StepMetrics const& row) {
  m_file << to_json(row) << std::endl;
  if (m_file || m_complained) return;
  log_warning("metrics.jsonl cannot be written; training goes on without it");
  m_complained = true;
}

}  // namespace spillway
