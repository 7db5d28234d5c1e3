#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/value.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::config_value_test {
namespace {

std::string error_of(std::string const& text) {
  return test::refused_with([&] { parse_yaml(text, "in.yaml"); });
}

TEST(ConfigValue, every_node_knows_its_line_and_order) {
  auto const root = parse_yaml("a: 1\nb:\n  d: x\n  c: [2,\n    3]\n", "in.yaml");
  ASSERT_EQ(root.kind, Value::Kind::map);
  ASSERT_EQ(root.entries.size(), 2u);
  EXPECT_EQ(root.entries[1].key, "b");
  EXPECT_EQ(root.entries[1].line, 2);
  auto const* const b = root.find("b");
  EXPECT_EQ(b->entries[0].key, "d");
  auto const* const c = b->find("c");
  ASSERT_EQ(c->items.size(), 2u);
  EXPECT_EQ(c->items[1].text, "3");
  EXPECT_EQ(c->items[1].line, 5);
  EXPECT_EQ(b->find("a"), nullptr);
}

TEST(ConfigValue, nothing_and_the_empty_text_differ) {
  auto const root = parse_yaml("a:\nb: ''\nc: ~\nd: '~'\n", "in.yaml");
  EXPECT_EQ(root.find("a")->kind, Value::Kind::null);
  EXPECT_EQ(root.find("b")->kind, Value::Kind::scalar);
  EXPECT_EQ(root.find("c")->kind, Value::Kind::null);
  EXPECT_EQ(root.find("d")->text, "~");
}

TEST(ConfigValue, errors_name_source_and_line) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "in.yaml:3: a: given twice (first in line 1)");
  EXPECT_TRUE(error_of("a: 1\nb: [1, 2\n").starts_with("in.yaml:3: not YAML: "));
  EXPECT_TRUE(error_of("a: 1\n\tb: 2\n").starts_with("in.yaml:2: not YAML: "));
  EXPECT_EQ(error_of("a: 1\n? [x]\n: 2\n"), "in.yaml:2: a key must be a single word");
  EXPECT_EQ(error_of("a: 1\n~: 2\n"), "in.yaml:2: a key must be a single word");
  EXPECT_EQ(error_of("a: 1\nb: &x 2\n"), "in.yaml:2: anchors are not offered");
  EXPECT_EQ(error_of("a: !!int 2\n"), "in.yaml:1: tags are not offered: tag:yaml.org,2002:int");
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"),
            "in.yaml: holds a second document ('---'); one is expected");
  EXPECT_EQ(error_of(std::string("a: 1\nb: \0x\n", 10)),
            "in.yaml:2: is not a text file (a zero byte)");
}

TEST(ConfigValue, an_alias_is_refused_instead_of_containing_itself) {
  EXPECT_EQ(error_of("a: &x [*x]\n"), "in.yaml:1: anchors are not offered");
  EXPECT_EQ(error_of("b:\n  a: *x\n"),
            "in.yaml:2: aliases are not offered; quote a value that begins with '*'");
}

TEST(ConfigValue, a_key_given_twice_is_named_with_its_groups) {
  EXPECT_EQ(error_of("run:\n  log:\n    every: 1\n    other: 2\n    every: 3\n"),
            "in.yaml:5: run.log.every: given twice (first in line 3)");
  EXPECT_EQ(error_of("run:\n  - {a: 1}\n  - {a: 1, b: 2,\n     b: 3}\n"),
            "in.yaml:4: run.b: given twice (first in line 3)");
}

TEST(ConfigValue, is_described_by_its_kind) {
  EXPECT_EQ(describe(parse_yaml("~", "in.yaml")), "nothing");
  EXPECT_EQ(describe(parse_yaml("[1]", "in.yaml")), "a list");
  EXPECT_EQ(describe(parse_yaml("{a: 1}", "in.yaml")), "a map");
  EXPECT_EQ(describe(parse_yaml("'a b'", "in.yaml")), "'a b'");
}

// Files stay as they were written by the version before.
TEST(ConfigValue, is_quoted_only_where_it_must_be) {
  for (auto const* plain : {"runs/a-b_c.1", "$HOME/x", "./a+b*=@", "a", "0", "_x"})
    EXPECT_EQ(quoted_yaml(plain), plain);
  for (auto const* quoted : {"", "-a", "*.h5", "?", "a.?.b", "=a", "@a", "+a", "a b", "a:b", "...",
                             "null", "Null", "NULL", "~"})
    EXPECT_EQ(quoted_yaml(quoted), std::string("\"") + quoted + "\"");
  EXPECT_EQ(quoted_yaml("a\"\\\n\x7f"), "\"a\\\"\\\\\\x0a\\x7f\"");
}

TEST(ConfigValue, deep_nesting_ends_with_an_error_not_a_crash) {
  std::string lists = "a: ", maps = "a: ";
  for (int i = 0; i < 10'000; ++i) {
    lists += "[";
    maps += "{a: ";
  }
  EXPECT_TRUE(error_of(lists).starts_with("in.yaml:1: "));
  EXPECT_TRUE(error_of(maps).starts_with("in.yaml:1: "));
}

TEST(ConfigValue, quoted_text_is_read_back_as_it_was) {
  for (std::string const text : {"plain",    "a/b-c_*.h5",
                                 "*.h5",     "",
                                 " padded ", "null",
                                 "~",        "-",
                                 "- x",      "a: b",
                                 "a#b",      "a, b",
                                 "[x]",      "\"q\\\"",
                                 "tab\t",    "line\nbreak",
                                 "\x7f\x01", "gr\xc3\xbc\xc3\x9f",
                                 "$X",       "@at",
                                 "%",        "a.?.b"}) {
    auto const yaml = quoted_yaml(text);
    auto const in_map = parse_yaml("key: " + yaml + "\n", "in.yaml");
    EXPECT_EQ(in_map.find("key")->text, text) << yaml;
    EXPECT_EQ(in_map.find("key")->kind, Value::Kind::scalar) << yaml;
    EXPECT_EQ(parse_yaml("[" + yaml + ", x]", "in.yaml").items[0].text, text) << yaml;
  }
}

}  // namespace
}  // namespace spillway::config_value_test
