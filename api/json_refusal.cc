#include "json_refusal.h"

#include <set>
#include <vector>

#include "path.h"
#include "satchel/document.h"

namespace satchel {
namespace {

std::string advice(Refusal why) {
  switch (why) {
    case Refusal::syntax:
      return "This is not valid JSON. Send strict JSON: double quotes, no "
             "comments, no trailing commas";
    case Refusal::cut_off:
      return "The JSON text ends too early. Send the whole value";
    case Refusal::trailing_text:
      return "There is text after the end of the JSON value. Send one value "
             "only";
    case Refusal::byte_order_mark:
      return "The text begins with a byte order mark. Send UTF-8 without one";
    case Refusal::not_utf8:
      return "The text is not valid UTF-8. Encode it as UTF-8";
    case Refusal::lone_surrogate:
      return "A string holds half of a surrogate pair (\\ud800 to \\udfff). "
             "Send both halves, or the character itself";
    case Refusal::control_character:
      return "A string holds a raw control character. Escape it, for example "
             "as \\n or \\u0001";
    case Refusal::not_finite:
      return "JSON has no NaN and no Infinity. Use null or a string instead";
    case Refusal::integer_range:
      return "An integer is outside the 64-bit range (-9223372036854775808 to "
             "18446744073709551615). Send it as a string";
    case Refusal::real_range:
      return "A number is too large for a double. Send it as a string";
    case Refusal::duplicate_key:
      return "An object holds the same key twice. Keep one of the two";
    case Refusal::too_deep:
      return "The value is nested deeper than " + std::to_string(kMaxDepth) +
             " levels. Flatten it";
    case Refusal::binary:
      return "The tree holds a value that JSON has no form for. Use a string, "
             "for example base64";
    case Refusal::not_an_object:
      return "A state is a JSON object. Wrap the value in one";
  }
  return "This is not valid JSON";
}

// The deepest ancestor whose pointer is short, so that a refusal does not send
// the input back.
std::string_view bounded(std::string_view pointer) {
  constexpr std::size_t kLongest = 1024;
  if (pointer.size() <= kLongest) return pointer;
  const std::size_t cut = pointer.rfind('/', kLongest);
  return pointer.substr(0, cut == std::string_view::npos ? 0 : cut);
}

bool looks_integral(std::string_view literal) {
  return literal.find_first_of(".eE") == std::string_view::npos;
}

// Whether the word that ends at or holds `offset` spells NaN or Infinity.
bool spells_not_finite(std::string_view text, std::size_t offset) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && ((text[i] | 0x20) >= 'a') &&
           ((text[i] | 0x20) <= 'z');
  };
  std::size_t begin = std::min(offset, text.size());
  while (begin > 0 && offset - begin < 10 && letter(begin - 1)) --begin;
  std::string word;
  for (std::size_t i = begin; word.size() < 10 && letter(i); ++i)
    word.push_back(static_cast<char>(text[i] | 0x20));
  return word == "nan" || word == "inf" || word == "infinity";
}

/// nlohmann's reader works without recursion and names the place.
class Diagnosis final : public nlohmann::json_sax<Json> {
 public:
  explicit Diagnosis(std::string_view text) : text_(text) {}

  std::optional<Error> found;

  bool null() override { return next(); }
  bool boolean(bool) override { return next(); }
  bool number_integer(std::int64_t) override { return next(); }
  bool number_unsigned(std::uint64_t) override { return next(); }
  bool number_float(double, const std::string& literal) override {
    if (looks_integral(literal)) return stop(Refusal::integer_range, pointer());
    return next();
  }
  bool string(std::string&) override { return next(); }
  bool binary(Json::binary_t&) override { return next(); }

  bool start_object(std::size_t) override { return enter(true); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(false); }
  bool end_array() override { return leave(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.keys.insert(name).second) return true;
    return stop(Refusal::duplicate_key, pointer());
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& e) override {
    const std::size_t offset = position == 0 ? 0 : position - 1;
    if (e.id == 406)
      return stop(
          looks_integral(token) ? Refusal::integer_range : Refusal::real_range,
          pointer());
    const std::string_view what = e.what();
    const auto says = [&](std::string_view s) {
      return what.find(s) != std::string_view::npos;
    };
    Refusal why = Refusal::syntax;
    if (says("surrogate")) {
      why = Refusal::lone_surrogate;
    } else if (says("ill-formed UTF-8")) {
      why = Refusal::not_utf8;
    } else if (says("control character")) {
      why = Refusal::control_character;
    } else if (says("unexpected end of input") || says("missing closing")) {
      why = Refusal::cut_off;
    } else if (spells_not_finite(text_, offset)) {
      why = Refusal::not_finite;
    } else if (says("expected end of input")) {
      why = Refusal::trailing_text;
    }
    const bool number = why == Refusal::not_finite;
    found = refuse(
        why, number ? std::optional<std::string_view>(pointer()) : std::nullopt,
        offset);
    return false;
  }

 private:
  struct Level {
    bool object = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string, std::less<>> keys;
  };

  bool next() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool enter(bool object) {
    if (levels_.size() >= static_cast<std::size_t>(kMaxDepth + kOpLevels)) {
      found = refuse(Refusal::too_deep, std::nullopt, std::nullopt);
      return false;
    }
    levels_.emplace_back().object = object;
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return next();
  }
  bool stop(Refusal why, std::string_view where) {
    found = refuse(why, where, std::nullopt);
    return false;
  }
  const std::string& pointer() {
    pointer_.clear();
    for (const Level& level : levels_)
      append_segment(level.object ? level.key : std::to_string(level.index),
                     &pointer_);
    return pointer_;
  }

  std::string_view text_;
  std::vector<Level> levels_;
  std::string pointer_;
};

}  // namespace

Error refuse(Refusal why, std::optional<std::string_view> pointer,
             std::optional<std::size_t> offset) {
  Json details = {{"field", "state"}};
  if (pointer) details["path"] = std::string(bounded(*pointer));
  std::string message = advice(why);
  if (offset) {
    message.append(" (at byte ").append(std::to_string(*offset)).append(")");
  }
  return Error(ErrorCode::invalid_input, message + ".", std::move(details));
}

Error diagnose(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    return refuse(Refusal::byte_order_mark, std::nullopt, 0);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return refuse(Refusal::not_utf8, std::nullopt, 0);
  Diagnosis diagnosis(text);
  Json::sax_parse(text.begin(), text.end(), &diagnosis);
  if (diagnosis.found) return *std::move(diagnosis.found);
  return refuse(Refusal::syntax, std::nullopt, std::nullopt);
}

}  // namespace satchel
