// RocksDB's library is not instrumented, but its calls of std::string resolve
// to this program's instrumented copies, which do not see RocksDB's own
// synchronisation: what one writer appends to the batch of its group looks like
// a race.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:rocksdb::WriteBatch\n";
}
