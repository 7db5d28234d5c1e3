#include "app/conversation.hpp"

#include <unistd.h>

#include <iostream>
#include <string>

#include "base/standard_streams.hpp"

namespace spillway {
namespace {

bool read_line(std::string& line) {
  if (::isatty(STDIN_FILENO) != 0) say("you:");
  return static_cast<bool>(std::getline(std::cin, line));
}

}  // namespace

void converse(Chat const& chat,
              std::function<std::string(std::vector<std::int32_t> const& prompt)> const& answer) {
  auto messages = chat.beginning();
  for (std::string line; read_line(line);) {
    if (line.empty()) continue;
    messages.push_back(message_of("user", line));
    auto const prompt = chat.question(record_of(messages), "stdin");
    messages.push_back(message_of("assistant", answer(prompt)));
    print_result("\n");
  }
}

}  // namespace spillway
