#include "satchel/patch.h"

#include <string>
#include <utility>

namespace satchel::op {
namespace {

Json make(const char* kind, std::string_view path) {
  Json op = Json::object();
  op["op"] = kind;
  op["path"] = std::string(path);
  return op;
}

}  // namespace

Json append(std::string_view path, Json value) {
  Json op = make("append", path);
  op["value"] = std::move(value);
  return op;
}

Json set_key(std::string_view path, std::string_view key, Json value) {
  Json op = make("set_key", path);
  op["key"] = std::string(key);
  op["value"] = std::move(value);
  return op;
}

Json del_key(std::string_view path, std::string_view key) {
  Json op = make("del_key", path);
  op["key"] = std::string(key);
  return op;
}

Json merge(Json mapping, std::string_view path) {
  Json op = make("merge", path);
  op["mapping"] = std::move(mapping);
  return op;
}

Json increment(std::string_view path, std::string_view key, Json by) {
  Json op = make("increment", path);
  op["key"] = std::string(key);
  op["by"] = std::move(by);
  return op;
}

Json add_to_set(std::string_view path, Json value) {
  Json op = make("add_to_set", path);
  op["value"] = std::move(value);
  return op;
}

Json remove_value(std::string_view path, Json value) {
  Json op = make("remove_value", path);
  op["value"] = std::move(value);
  return op;
}

Json create(Json op) {
  op["create"] = true;
  return op;
}

}  // namespace satchel::op
