#!/usr/bin/env python3
"""Writes the table of a bench run into a Markdown file, between its markers.
Rows that the run did not measure stay as they are.

Usage: table.py RESULTS.json README.md
"""

import json
import sys

BEGIN = "<!-- table: begin (made by bench/table.py) -->"
END = "<!-- table: end -->"


def size(text):
    n = int(text)
    if n == 0:
        return ""
    return f"{n // 1024} KiB" if n >= 1024 else f"{n} B"


def rate(value):
    if value >= 1e6:
        return f"{value / 1e6:.2f} M"
    return f"{value / 1e3:.1f} k" if value >= 1e4 else f"{value:.0f}"


def load(path):
    """{(work, durability, bytes, threads): {store: row}} of medians."""
    rows = {}
    with open(path) as file:
        data = json.load(file)
    for bench in data["benchmarks"]:
        if bench.get("aggregate_name") != "median":
            continue
        parts = [p for p in bench["run_name"].split("/")]
        work, store, durability, count = parts[:4]
        threads = bench.get("threads", 1)
        key = (work, durability, int(count), threads)
        rows.setdefault(key, {})[store] = bench
    return data["context"], rows


def measured(rows):
    for (work, durability, count, threads), stores in rows.items():
        ours = stores.get("satchel")
        if ours is None:
            continue
        if work == "write_amplification":
            value = ours["written_per_op_byte"]
            yield (f"| bytes written per byte of patch ops | {durability} "
                   f"| {size(count)} | {threads} | {value:.1f} | | |")
            continue
        mine = ours["items_per_second"]
        raw = stores.get("raw", {}).get("items_per_second")
        yield (f"| {work.replace('_', ' ')} | {durability} | {size(count)} "
               f"| {threads} | {rate(mine)} "
               f"| {rate(raw) if raw else ''} "
               f"| {f'{mine / raw:.2f}' if raw else ''} |")


def key_of(line):
    """Sorts by work, durability, size and threads."""
    work, durability, bytes_, threads = (
        cell.strip() for cell in line.split("|")[1:5])
    number, _, unit = bytes_.partition(" ")
    n = int(number or 0) * (1024 if unit == "KiB" else 1)
    return (work, durability, n, int(threads))


def main():
    results, readme = sys.argv[1:]
    context, rows = load(results)
    head = [
        f"{context['date'][:10]}, {context['num_cpus']} CPUs at "
        f"{context['mhz_per_cpu']} MHz, RocksDB 7.8.3, medians of 5 "
        "interleaved rounds; operations a second over all threads.",
        "",
        "| work | durability | state | threads | satchel | raw RocksDB "
        "| ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    with open(readme) as file:
        before, rest = file.read().split(BEGIN)
    table, after = rest.split(END)
    lines = {}
    for line in table.strip().split("\n")[len(head):]:
        lines[key_of(line)] = line
    for line in measured(rows):
        lines[key_of(line)] = line
    with open(readme, "w") as file:
        file.write(before + BEGIN + "\n" + "\n".join(head) + "\n" +
                   "\n".join(lines[key] for key in sorted(lines)) + "\n" +
                   END + after)


main()
