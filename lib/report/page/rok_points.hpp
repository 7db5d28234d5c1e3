// Reads the table that `spillway rok` writes, for a page.
#pragma once

#include <string_view>

#include "report/page/page_json.hpp"

namespace spillway {

// Returns an object for each measured point, with the columns that a chart shows. Lines of another
// form, and points that were not measured, are left out.
PageJson rok_points(std::string_view csv);

}  // namespace spillway
