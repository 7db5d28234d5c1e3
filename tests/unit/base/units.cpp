#include "base/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace spillway::units_test {
namespace {

TEST(Units, sizes_are_read_in_binary_and_decimal_units) {
  EXPECT_EQ(parse_bytes("8GiB"), 8ll << 30);
  EXPECT_EQ(parse_bytes("512 MiB"), 512ll << 20);
  EXPECT_EQ(parse_bytes("1.5GB"), 1'500'000'000);
  EXPECT_EQ(parse_bytes("2.3TB"), 2'300'000'000'000);
  EXPECT_EQ(parse_bytes("3kB"), 3000);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("17B"), 17);
  EXPECT_EQ(parse_bytes("0"), 0);
}

TEST(Units, every_unit_of_a_size_is_its_power) {
  std::int64_t binary = 1, decimal = 1;
  for (auto const* prefix : {"K", "M", "G", "T", "P"}) {
    binary *= 1024;
    decimal *= 1000;
    EXPECT_EQ(parse_bytes(std::string("3") + prefix + "iB"), 3 * binary) << prefix;
    EXPECT_EQ(parse_bytes(std::string("3") + prefix + "B"), 3 * decimal) << prefix;
    EXPECT_EQ(format_bytes(3 * binary), std::string("3") + prefix + "iB");
    EXPECT_EQ(human_bytes(3 * binary), std::string("3 ") + prefix + "iB");
  }
  EXPECT_EQ(parse_bytes("0.3B"), 0) << "to the nearest byte";
  EXPECT_EQ(parse_bytes("1.0006kB"), 1001);
}

TEST(Units, fractions_lie_between0_and1) {
  EXPECT_EQ(parse_fraction("0"), 0);
  EXPECT_EQ(parse_fraction("0.25"), 0.25);
  EXPECT_EQ(parse_fraction("1"), 1);
  for (auto const* text : {"", "-0.1", "1.01", "nan", "inf", "0.5 ", "1/2"})
    EXPECT_FALSE(parse_fraction(text)) << text;
}

TEST(Units, what_is_no_size_is_refused) {
  for (auto const* text : {"", "GiB", "-1", "+1", "8G", "8gib", "8 GiB ", "8  GiB", "1e9", "nan",
                           "inf", "1.GiB", ".5GiB", "1.2.3GiB", "0x10", "8GiBs"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Units, sizes_beyond63_bits_are_refused) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_bytes("8191PiB"), 8191ll << 50);
  for (auto const* text : {"9223372036854775808", "8192PiB", "8192.0PiB", "99999999999999999999GiB",
                           "9223372036854775808.5"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Units, formatted_sizes_read_back_exactly) {
  EXPECT_EQ(format_bytes(8ll << 30), "8GiB");
  EXPECT_EQ(format_bytes(1536ll << 20), "1536MiB");
  EXPECT_EQ(format_bytes(1'000'000'007), "1000000007");
  EXPECT_EQ(format_bytes(0), "0");
  for (std::int64_t const n : {1ll, 1023ll, 1024ll, 4097ll, 3ll << 40, (1ll << 62) + 1,
                               std::numeric_limits<long long>::max()}) {
    EXPECT_EQ(parse_bytes(format_bytes(n)), n);
  }
}

// What is needed is told in the unit in which a person gives it, and what is told is enough.
TEST(Units, sizes_that_are_needed_are_rounded_up_and_read_back) {
  constexpr std::int64_t mib = 1 << 20, gib = 1 << 30;
  EXPECT_EQ(format_bytes_up(1), "1MiB");
  EXPECT_EQ(format_bytes_up(3 * mib + 1), "4MiB");
  EXPECT_EQ(format_bytes_up(1023 * mib), "1023MiB");
  EXPECT_EQ(format_bytes_up(gib), "1GiB");
  EXPECT_EQ(format_bytes_up(135'386 * mib), "132.3GiB");
  EXPECT_EQ(format_bytes_up(1024 * gib + 1), "1.001TiB");
  for (std::int64_t bytes = 1; bytes < 8 * 1024 * gib; bytes = 1 + 17 * bytes / 16) {
    auto const read = parse_bytes(format_bytes_up(bytes)).value();
    EXPECT_GE(read, bytes) << format_bytes_up(bytes);
    EXPECT_LE(read - bytes, mib + bytes / 1000) << format_bytes_up(bytes);
  }
}

TEST(Units, human_sizes_have_three_digits_and_the_unit_that_fits) {
  EXPECT_EQ(human_bytes(20), "20 B");
  EXPECT_EQ(human_bytes(1572864), "1.5 MiB");
  EXPECT_EQ(human_bytes(-1572864), "-1.5 MiB");
  EXPECT_EQ(human_bytes(1023 * (1 << 20)), "0.999 GiB");
  EXPECT_EQ(human_bytes(999 * (1 << 20)), "999 MiB");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "0.977 KiB");
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::int64_t>::max()), "8192 PiB");
}

TEST(Units, human_numbers_are_rounded_to_no_fewer_than_their_whole_digits) {
  EXPECT_EQ(human_number(0.2543, 2), "0.25");
  EXPECT_EQ(human_number(99.49, 2), "99");
  EXPECT_EQ(human_number(99.5, 2), "100");
  EXPECT_EQ(human_number(100, 2), "100");
  EXPECT_EQ(human_number(-123.4, 2), "-123");
  EXPECT_EQ(human_number(999.4, 3), "999");
  EXPECT_EQ(human_number(999.5, 3), "1000");
  EXPECT_EQ(human_number(1234.5678, 3), "1235");
  EXPECT_EQ(human_number(999'999.4, 3), "999999");
  EXPECT_EQ(human_number(999'999.5, 3), "1e+06");
  EXPECT_EQ(human_number(0, 3), "0");
}

TEST(Units, durations_are_read_as_seconds) {
  EXPECT_EQ(parse_duration_s("3h50m"), 3 * 3600 + 50 * 60);
  EXPECT_EQ(parse_duration_s("90s"), 90);
  EXPECT_EQ(parse_duration_s("2d"), 2 * 86400);
  EXPECT_EQ(parse_duration_s("1.5h"), 5400);
  EXPECT_EQ(parse_duration_s("1d1h1m1s"), 86400 + 3600 + 61);
  EXPECT_EQ(parse_duration_s("0s"), 0);
}

TEST(Units, what_is_no_duration_is_refused) {
  for (auto const* text : {"", "90", "h", "-1h", "1h1h", "5m3h", "90ms", "3h 50m", "1e3s", "infs",
                           "3:50:00", "3h50"}) {
    EXPECT_FALSE(parse_duration_s(text)) << text;
  }
}

TEST(Units, durations_that_are_not_finite_are_refused) {
  std::string const large = "1" + std::string(308, '0');
  EXPECT_EQ(parse_duration_s(large + "s"), 1e308);
  EXPECT_FALSE(parse_duration_s(large + "0s"));
  EXPECT_FALSE(parse_duration_s(large + "m")) << "only the product is infinite";
}

TEST(Units, formatted_durations_read_back_exactly) {
  EXPECT_EQ(format_duration(13800), "3h50m");
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(0.25), "0.25s");
  EXPECT_EQ(format_duration(86400 + 7200 + 180 + 4), "1d2h3m4s");
  for (double const s : {1.0, 61.0, 86400.0 * 400, 0.1, 1e-7, 12345.678, 1e17}) {
    EXPECT_EQ(parse_duration_s(format_duration(s)), s);
  }
}

TEST(Units, human_durations_are_short) {
  EXPECT_EQ(human_duration(1.23e-5), "12.3 us");
  EXPECT_EQ(human_duration(4.56e-3), "4.56 ms");
  EXPECT_EQ(human_duration(45.2), "45.2 s");
  EXPECT_EQ(human_duration(100), "1m40s");
  EXPECT_EQ(human_duration(99.94), "99.9 s");
  EXPECT_EQ(human_duration(99.95), "1m40s");
  EXPECT_EQ(human_duration(0.9995), "1 s");
  EXPECT_EQ(human_duration(0.9994), "999 ms");
  EXPECT_EQ(human_duration(1e-3), "1 ms");
  EXPECT_EQ(human_duration(0.9994e-3), "999 us");
  EXPECT_EQ(human_duration(-2.5), "-2.5 s");
  EXPECT_EQ(human_duration(3600 + 59.6), "1h1m");
  EXPECT_EQ(human_duration(1000 * 365.25 * 86400), "1000 years");
  EXPECT_EQ(human_duration(2 * 86400 + 4 * 3600 + 59), "2d4h");
  EXPECT_EQ(human_duration(0), "0 s");
  EXPECT_EQ(human_duration(1e10), "115740d17h");
  EXPECT_EQ(human_duration(1e26), "3.17e+18 years");
  EXPECT_EQ(human_duration(std::numeric_limits<double>::infinity()), "for ever");
  EXPECT_EQ(human_duration(std::numeric_limits<double>::quiet_NaN()), "for ever");
}

}  // namespace
}  // namespace spillway::units_test
