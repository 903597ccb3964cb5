#include "satchel/document.h"

#include <mutex>

#include "json_text.h"

namespace satchel {

struct Document::Rep {
  Rep(std::shared_ptr<const std::string> t, int d)
      : text(std::move(t)), depth_bound(d) {}

  const std::shared_ptr<const std::string> text;
  const int depth_bound;
  mutable std::once_flag parsed;
  mutable Json tree;
};

Document::Document() {
  static const auto kEmpty =
      std::make_shared<const Rep>(std::make_shared<const std::string>("{}"), 1);
  rep_ = kEmpty;
}

Document::Document(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

Document Document::from_canonical(std::shared_ptr<const std::string> text,
                                  int depth_bound) {
  return Document(std::make_shared<const Rep>(std::move(text), depth_bound));
}

namespace {

Result<Document> wrap(Result<CanonicalText> made) {
  if (!made) return std::move(made).error();
  return Document::from_canonical(
      std::make_shared<const std::string>(std::move(made->text)), made->depth);
}

}  // namespace

Result<Document> Document::parse(std::string_view text) {
  return wrap(canonicalise(text));
}

Result<Document> Document::from_json(const Json& tree) {
  return wrap(canonical(tree));
}

int Document::depth_bound() const noexcept { return rep_->depth_bound; }

const std::string& Document::text() const noexcept { return *rep_->text; }

const std::shared_ptr<const std::string>& Document::shared_text()
    const noexcept {
  return rep_->text;
}

const Json& Document::json() const {
  std::call_once(rep_->parsed, [rep = rep_.get()] {
    rep->tree = parse_canonical(*rep->text);
  });
  return rep_->tree;
}

}  // namespace satchel
