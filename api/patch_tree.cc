#include "patch_tree.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "json_write.h"

namespace satchel {
namespace {

/// What lies below ordered_map, whose own functions search for keys or copy
/// them.
using Members = std::vector<std::pair<const std::string, Json>>;

Members& members_of(Json& object) { return object.get_ref<Json::object_t&>(); }
Json::array_t& items_of(Json& array) { return array.get_ref<Json::array_t&>(); }

std::size_t comma(const Json& container) { return container.empty() ? 0 : 1; }

// Keys are const only so that nobody changes one behind the map's back; here
// whole members change places. Copying the keys instead could run out of memory
// half-way.
void swap_members(Members& members, std::size_t a, std::size_t b) {
  const_cast<std::string&>(members[a].first)
      .swap(const_cast<std::string&>(members[b].first));
  members[a].second.swap(members[b].second);
}

void take_member(Members& members, std::size_t position) {
  for (std::size_t i = position; i + 1 < members.size(); ++i)
    swap_members(members, i, i + 1);
  members.pop_back();
}

void insert_member(Members& members, std::size_t position, std::string key,
                   Json value) {
  members.emplace_back(std::move(key), std::move(value));
  for (std::size_t i = members.size() - 1; i > position; --i)
    swap_members(members, i - 1, i);
}

void insert_items(Json::array_t& array,
                  std::vector<std::pair<std::size_t, Json>>& items) {
  std::size_t from = array.size();
  std::size_t left = items.size();
  array.resize(from + left);
  for (std::size_t to = array.size(); left > 0 && to-- > 0;) {
    if (items[left - 1].first == to) {
      array[to] = std::move(items[--left].second);
    } else {
      array[to] = std::move(array[--from]);
    }
  }
}

Location child(const Location& container, std::size_t position) {
  Location location = container;
  location.push_back(position);
  return location;
}

bool is_prefix(const Location& a, const Location& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

void TreeEditor::add_item(const Location& array, Json value) {
  Json& node = node_at(root_, array);
  const std::size_t bytes = canonical_size(value) + comma(node);
  undo_.push_back({Kind::nothing, array, 0, {}, {}, {}});
  items_of(node).push_back(std::move(value));
  undo_.back().kind = Kind::drop_item;
  size_ += bytes;
}

void TreeEditor::add_member(const Location& object, std::string_view key,
                            Json value) {
  Json& node = node_at(root_, object);
  const std::size_t bytes =
      string_size(key) + 1 + canonical_size(value) + comma(node);
  undo_.push_back({Kind::nothing, object, 0, {}, {}, {}});
  members_of(node).emplace_back(std::string(key), std::move(value));
  undo_.back().kind = Kind::drop_member;
  size_ += bytes;
}

void TreeEditor::replace_member(const Location& object, std::size_t position,
                                Json value) {
  Json& old = members_of(node_at(root_, object))[position].second;
  if (same_canonical(old, value)) return;
  const std::size_t added = canonical_size(value);
  const std::size_t removed = canonical_size(old);
  undo_.push_back({Kind::replace_member, object, position, {}, {}, {}});
  undo_.back().value = std::exchange(old, std::move(value));
  size_ += added;
  size_ -= removed;
}

void TreeEditor::remove_member(const Location& object, std::size_t position) {
  Json& node = node_at(root_, object);
  Members& members = members_of(node);
  undo_.push_back(
      {Kind::insert_member, object, position, members[position].first, {}, {}});
  Undo& undo = undo_.back();
  undo.value = std::move(members[position].second);
  take_member(members, position);
  size_ -= string_size(undo.key) + 1 + canonical_size(undo.value) + comma(node);
}

void TreeEditor::remove_items(const Location& array, const Json& value) {
  Json::array_t& items = items_of(node_at(root_, array));
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (same_canonical(items[i], value)) found.push_back(i);
  if (found.empty()) return;

  undo_.push_back({Kind::insert_items, array, 0, {}, {}, {}});
  auto& removed = undo_.back().items;
  removed.reserve(found.size());
  std::size_t to = found.front();
  for (std::size_t from = to; from < items.size(); ++from) {
    const std::size_t next = removed.size();
    if (next < found.size() && found[next] == from) {
      removed.emplace_back(from, std::move(items[from]));
    } else {
      items[to++] = std::move(items[from]);
    }
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(to), items.end());
  const std::size_t commas = found.size() - (items.empty() ? 1 : 0);
  size_ -= found.size() * canonical_size(value) + commas;
}

void TreeEditor::undo_in(Json& container, Undo& undo) {
  switch (undo.kind) {
    case Kind::nothing:
      return;
    case Kind::drop_item:
      return items_of(container).pop_back();
    case Kind::drop_member:
      return members_of(container).pop_back();
    case Kind::replace_member:
      members_of(container)[undo.position].second = std::move(undo.value);
      return;
    case Kind::insert_member:
      return insert_member(members_of(container), undo.position,
                           std::move(undo.key), std::move(undo.value));
    case Kind::insert_items:
      return insert_items(items_of(container), undo.items);
  }
}

// Allocates nothing that matters: what shrank kept its capacity.
void TreeEditor::undo_all() noexcept {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
    undo_in(node_at(root_, undo->container), *undo);
  undo_.clear();
  size_ = first_size_;
}

bool TreeEditor::changed() const {
  if (undo_.empty()) return false;
  if (undo_.size() == 1 || size_ != first_size_) return true;
  return apart() ? replacements_differ() : subtree_differs();
}

// Only replacements, none inside another: each place can be judged alone.
bool TreeEditor::apart() const {
  std::vector<Location> places;
  for (const Undo& undo : undo_) {
    if (undo.kind != Kind::replace_member) return false;
    places.push_back(child(undo.container, undo.position));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return std::adjacent_find(places.begin(), places.end(), is_prefix) ==
         places.end();
}

bool TreeEditor::replacements_differ() const {
  std::map<Location, const Json*> first;
  for (const Undo& undo : undo_)
    first.emplace(child(undo.container, undo.position), &undo.value);
  return std::any_of(first.begin(), first.end(), [&](const auto& place) {
    return !same_canonical(node_at(root_, place.first), *place.second);
  });
}

// The containers' common ancestor never moved: every edit was inside it.
bool TreeEditor::subtree_differs() const {
  Location common = undo_.front().container;
  for (const Undo& undo : undo_) {
    const auto& other = undo.container;
    const auto end =
        std::mismatch(common.begin(), common.end(), other.begin(), other.end());
    common.erase(end.first, common.end());
  }
  const Json& now = node_at(root_, common);
  Json before = now;
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    Undo copy = *undo;
    copy.container.erase(
        copy.container.begin(),
        copy.container.begin() + static_cast<std::ptrdiff_t>(common.size()));
    undo_in(node_at(before, copy.container), copy);
  }
  return !same_canonical(before, now);
}

}  // namespace satchel
