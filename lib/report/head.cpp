#include "report/head.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/count.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/run_text.hpp"

namespace spillway {
namespace {

std::string row(std::string_view name, std::string const& text) {
  return wrapped_row(fmt::format("  {}", name), text, 13);
}

std::string model_text(RunHead const& head) {
  auto const all = static_cast<double>(head.parameters);
  auto const trained = static_cast<double>(head.trainable_parameters);
  auto const part =
      trained < all ? fmt::format(", {} of them trained", tokens_text(trained)) : std::string();
  return fmt::format("{} of {} parameters ({}){}, {}", head.family, tokens_text(all),
                     head.parameters, part, head.precision);
}

std::string data_text(RunHead const& head) {
  if (head.train_tokens == 0) return "";
  auto const text =
      fmt::format("{} tokens to train on", tokens_text(static_cast<double>(head.train_tokens)));
  if (head.valid_tokens == 0) return text;
  return text +
         fmt::format(", {} to validate", tokens_text(static_cast<double>(head.valid_tokens)));
}

std::string steps_text(RunHead const& head) {
  auto const all = static_cast<double>(head.steps) * head.step_tokens;
  auto const epochs =
      head.epochs > 0 ? ": " + count(human_number(head.epochs, 3), "epoch") : std::string();
  auto const whole = fmt::format("{} tokens in all{}", tokens_text(all), epochs);
  if (head.steps_done == 0)
    return fmt::format("{} of {:.0f} tokens; {}", count(head.steps, "step"), head.step_tokens,
                       whole);
  auto const left = head.steps - head.steps_done;
  return fmt::format("steps {} to {} of {:.0f} tokens: {} tokens are left; with what is done {}",
                     head.steps_done + 1, head.steps, head.step_tokens,
                     tokens_text(static_cast<double>(left) * head.step_tokens), whole);
}

std::string step_text(RunHead const& head) {
  if (head.step_s <= 0) return "nobody knows how long one takes";
  return fmt::format("{} predicted, {} tokens/s", human_duration(head.step_s),
                     human_number(head.step_tokens / head.step_s, 3));
}

std::string end_text(RunHead const& head) {
  auto const& left = head.left;
  auto const at = head.now + static_cast<std::time_t>(std::llround(left.seconds()));
  auto text = fmt::format("{}{}, of which ", human_duration(left.seconds()),
                          head.steps_done > 0 ? " for what is left" : "");
  if (left.evaluations > 0)
    text += fmt::format("{} are for {} and ", human_duration(left.evaluations_s),
                        count(left.evaluations, "evaluation"));
  text += fmt::format("{} {}for {}", human_duration(left.saves_s),
                      left.evaluations > 0 ? "" : "are ", count(left.saves, "checkpoint"));
  if (head.now == 0) return text;
  constexpr double many_days_s = 300 * 86'400.0;
  if (left.seconds() > many_days_s)
    return text + fmt::format(": until {:%d %b %Y}", fmt::localtime(at));
  return text + fmt::format(": until {:%a %d %b, %H:%M}", fmt::localtime(at));
}

std::string limit_text(double limit_s) {
  if (limit_s <= 0)
    return "this job stops after its first step (run.max_time), and the same command goes on";
  return fmt::format("this job stops after {} (run.max_time), and the same command goes on",
                     human_duration(limit_s));
}

std::string mix_rows(std::vector<MixedText> const& mix) {
  std::string text;
  for (auto const& [name, share, epochs] : mix)
    text += row(text.empty() ? "mix" : "",
                fmt::format("{}: {} % of the sequences, {} epochs", name,
                            human_number(100 * share, 3), human_number(epochs, 3)));
  return text;
}

std::string model_rows(RunHead const& head) {
  auto text = row("model", model_text(head));
  if (auto const data = data_text(head); !data.empty()) text += row("data", data);
  text += mix_rows(head.mix);
  return text + row("run", steps_text(head));
}

}  // namespace

std::string hosts_text(std::span<std::string const> hosts) {
  constexpr std::size_t most = 4;
  std::vector<std::pair<std::string, std::int64_t>> ranks;
  for (auto const& host : hosts) {
    auto const known = std::ranges::find(ranks, host, &std::pair<std::string, std::int64_t>::first);
    if (known == ranks.end())
      ranks.emplace_back(host, 1);
    else
      ++known->second;
  }
  if (ranks.empty()) return "";
  if (ranks.size() == 1) return ranks.front().first;
  if (ranks.size() > most)
    return fmt::format("{} .. {} ({} hosts)", ranks.front().first, ranks.back().first,
                       ranks.size());
  std::string text;
  for (auto const& [host, number] : ranks)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", host, count(number, "rank"));
  return text;
}

std::string head_text(RunHead const& head) {
  auto text = head.run + ":\n";
  text += row("where", fmt::format("{}: {}", hosts_text(head.hosts), head.where));
  text += model_rows(head);
  text += row("step", step_text(head));
  if (!head.binds.empty()) text += row("binds", head.binds);
  if (head.step_s > 0) text += row("takes", end_text(head));
  if (head.limit_s && *head.limit_s < head.left.seconds())
    text += row("limit", limit_text(*head.limit_s));
  return text;
}

std::string planned_rows(RunHead const& head) {
  return model_rows(head) + (head.step_s > 0 ? row("takes", end_text(head)) : "");
}

}  // namespace spillway
