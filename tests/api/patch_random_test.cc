// apply_ops against a slow, obvious implementation: random states, random ops.
// SATCHEL_SEED repeats a run.

#include <cmath>
#include <optional>
#include <random>

#include "api/json_text.h"
#include "api/patch_apply.h"
#include "json_support.h"
#include "satchel/patch.h"

namespace satchel {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  Json scalar() {
    switch (below(9)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return "s" + std::string(below(3), 'x');
      case 3:
        return "q\"\n\x01é";
      case 4:
        return static_cast<std::int64_t>(below(5)) - 2;
      case 5:
        return UINT64_MAX - below(2);
      case 6:
        return INT64_MIN + static_cast<std::int64_t>(below(2));
      case 7:
        return static_cast<double>(below(3)) / 2;
      default:
        return below(2) == 0 ? 1.7e308 : -0.0;
    }
  }

  Json value(int depth) {
    const std::size_t kind = depth > 0 ? below(4) : 0;
    if (kind < 2) return scalar();
    Json made = kind == 2 ? Json::array() : Json::object();
    for (std::size_t n = below(5); n > 0; --n) {
      if (kind == 2) {
        made.push_back(value(depth - 1));
      } else {
        made[key()] = value(depth - 1);
      }
    }
    return made;
  }

  Json state() {
    Json made = Json::object();
    for (std::size_t n = below(6); n > 0; --n) made[key()] = value(3);
    return made;
  }

  std::string key() {
    static const char* const kKeys[] = {"a", "b", "c", "a.b", "", "~/", "0"};
    return kKeys[below(7)];
  }

  /// Mostly a path that exists in `state`.
  std::string path(const Json& state) {
    if (below(8) == 0) return below(2) == 0 ? "a." + key() : "/" + key();
    std::string pointer;
    const Json* at = &state;
    while (at->is_structured() && !at->empty() && below(4) != 0) {
      const std::size_t i = below(at->size());
      const auto it = std::next(at->items().begin(), static_cast<long>(i));
      append_segment(it.key(), &pointer);
      at = &it.value();
    }
    return pointer;
  }

  Json op(const Json& state) {
    const std::string where = path(state);
    const auto pick = [&] {
      switch (below(8)) {
        case 0:
          return op::append(where, value(2));
        case 1:
          return op::set_key(where, key(), value(2));
        case 2:
          return op::del_key(where, key());
        case 3:
          return op::merge(object(), where);
        case 4:
          return op::increment(where, key(), number());
        case 5:
          return op::add_to_set(where, scalar());
        case 6:
          return op::remove_value(where, scalar());
        default:
          return op::set_key(where, key(), scalar());
      }
    };
    return below(3) == 0 ? op::create(pick()) : pick();
  }

 private:
  Json object() {
    Json made = Json::object();
    for (std::size_t n = below(4); n > 0; --n) made[key()] = value(1);
    return made;
  }
  Json number() {
    for (;;)
      if (Json n = scalar(); n.is_number()) return n;
  }

  std::mt19937_64 random_;
};

std::string text_of(const Json& tree) { return canonical(tree).value().text; }

/// The obvious implementation of one op; false: refused.
class Naive {
 public:
  explicit Naive(Json& root) : root_(root) {}

  bool apply(const Json& op) {
    const std::string kind = op["op"];
    const bool create = op.value("create", false);
    bool vanished = false;
    Json* target = walk(op, kind, create, &vanished);
    if (vanished) return true;
    if (!target) return false;
    if (kind == "append" || kind == "add_to_set" || kind == "remove_value")
      return target->is_array() && list(*target, kind, op["value"]);
    return target->is_object() && object(*target, kind, op, create);
  }

 private:
  Json* walk(const Json& op, const std::string& kind, bool create,
             bool* vanished) {
    const ParsedPath parsed = parse_path(op["path"].get<std::string>());
    const auto& segments = parsed.path.segments;
    Json* at = &root_;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (at->is_array() && parsed.path.pointer) {
        const auto index = array_index(segments[i]);
        if (!index || *index >= at->size()) return nullptr;
        at = &(*at)[*index];
        continue;
      }
      if (!at->is_object()) return nullptr;
      if (!at->contains(segments[i])) {
        if (!create) return nullptr;
        *vanished = kind == "del_key" || kind == "remove_value";
        if (*vanished) return nullptr;
        const bool list = i + 1 == segments.size() &&
                          (kind == "append" || kind == "add_to_set");
        (*at)[segments[i]] = list ? Json::array() : Json::object();
      }
      at = &(*at)[segments[i]];
    }
    return at;
  }

  static bool list(Json& array, const std::string& kind, const Json& value) {
    Json kept = Json::array();
    bool found = false;
    for (const Json& item : array) {
      const bool same = text_of(item) == text_of(value);
      found = found || same;
      if (!same || kind != "remove_value") kept.push_back(item);
    }
    if (kind == "append" || (kind == "add_to_set" && !found))
      kept.push_back(value);
    array = kept;
    return true;
  }

  static bool object(Json& object, const std::string& kind, const Json& op,
                     bool create) {
    if (kind == "merge") {
      for (const auto& [key, value] : op["mapping"].items())
        object[key] = value;
      return true;
    }
    const std::string key = op["key"];
    if (kind == "del_key") object.erase(key);
    if (kind == "set_key") object[key] = op["value"];
    if (kind != "increment") return true;
    if (!object.contains(key) && !create) return false;
    return add(object.contains(key) ? object[key] : Json(0u), op["by"], &object,
               key);
  }

  static bool add(const Json& a, const Json& b, Json* object,
                  const std::string& key) {
    if (!a.is_number()) return false;
    if (a.is_number_float() || b.is_number_float()) {
      const double sum = a.get<double>() + b.get<double>();
      if (std::isfinite(sum)) (*object)[key] = sum;
      return std::isfinite(sum);
    }
    // A long double holds 64-bit integers and their sums exactly enough to see
    // the range; the sum itself wraps to the right bits.
    const auto wide = [](const Json& n) {
      return n.is_number_unsigned()
                 ? static_cast<long double>(n.get<std::uint64_t>())
                 : static_cast<long double>(n.get<std::int64_t>());
    };
    const long double sum = wide(a) + wide(b);
    if (sum > static_cast<long double>(UINT64_MAX) ||
        sum < static_cast<long double>(INT64_MIN))
      return false;
    const auto bits = a.get<std::uint64_t>() + b.get<std::uint64_t>();
    if (sum < 0) {
      (*object)[key] = static_cast<std::int64_t>(bits);
    } else {
      (*object)[key] = bits;
    }
    return true;
  }

  Json& root_;
};

struct Tally {
  int applied = 0, refused = 0, too_large = 0, unchanged = 0;
};

void one_round(Generator& make, Tally* tally) {
  const Json state = parse_canonical(text_of(make.state()));
  const std::string before = text_of(state);
  Json ops = Json::array();
  for (std::size_t n = 1 + make.below(5); n > 0; --n)
    ops.push_back(make.op(state));
  const Json wire = parse_canonical(text_of(ops));
  const std::size_t limit =
      make.below(4) == 0 ? before.size() + make.below(40) : 1'000'000;

  Json expected = state;
  std::optional<std::size_t> failed;
  for (std::size_t i = 0; i < wire.size() && !failed; ++i)
    if (!Naive(expected).apply(wire[i])) failed = i;
  const std::string wanted = text_of(expected);
  const bool over = wanted.size() > limit && wanted.size() > before.size();

  Json root = state;
  std::size_t size = before.size();
  const auto parsed = parse_ops(Document::from_json(wire).value());
  // The generator makes dotted paths with empty parts, too.
  if (!parsed) return;
  const auto result = apply_ops(root, size, *parsed, limit);
  const std::string got = text_of(root);
  SCOPED_TRACE("state " + before + "\nops " + text_of(wire));
  ASSERT_EQ(size, got.size());
  ASSERT_EQ(result.ok(), !failed && !over);
  if (result) {
    ASSERT_EQ(got, wanted);
    ASSERT_EQ(*result, got != before);
    ++tally->applied;
    if (!*result) ++tally->unchanged;
    return;
  }
  ASSERT_EQ(got, before);
  ASSERT_EQ(result.error().code,
            failed ? ErrorCode::patch_error : ErrorCode::state_too_large);
  ++(failed ? tally->refused : tally->too_large);
  if (failed) {
    ASSERT_EQ(result.error().details["index"], *failed);
  } else {
    ASSERT_EQ(result.error().details["size_bytes"], wanted.size());
  }
}

TEST(PatchRandom, AgreesWithTheObviousImplementation) {
  const char* given = std::getenv("SATCHEL_SEED");
  const std::uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SATCHEL_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Generator make(seed);
  Tally tally;
  for (int i = 0; i < 10'000; ++i) {
    one_round(make, &tally);
    ASSERT_FALSE(HasFatalFailure()) << "round " << i << ", seed " << seed;
  }
  EXPECT_GT(tally.applied, 500);
  EXPECT_GT(tally.refused, 500);
  EXPECT_GT(tally.too_large, 10);
  EXPECT_GT(tally.unchanged, 50);
}

}  // namespace
}  // namespace satchel
