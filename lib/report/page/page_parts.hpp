// The parts of the page that the build embeds (template/).
#pragma once

#include <span>
#include <string_view>

namespace spillway {

extern std::string_view const kPageHtml, kPageStyle;
extern std::span<std::string_view const> const kPageScripts;  // in the order in which they run

}  // namespace spillway
