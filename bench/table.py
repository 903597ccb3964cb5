#!/usr/bin/env python3
"""Writes the table of a bench run into a Markdown file, between its markers.

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


def main():
    results, readme = sys.argv[1:]
    context, rows = load(results)
    out = [
        f"{context['date'][:10]}, {context['num_cpus']} CPUs at "
        f"{context['mhz_per_cpu']} MHz, RocksDB 7.8.3, medians of 5 "
        "interleaved rounds; operations a second over all threads.",
        "",
        "| work | durability | state | threads | satchel | raw RocksDB "
        "| ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for (work, durability, count, threads), stores in sorted(rows.items()):
        ours = stores.get("satchel")
        if ours is None:
            continue
        if work == "write_amplification":
            value = ours["written_per_op_byte"]
            out.append(f"| bytes written per byte of patch ops | {durability} "
                       f"| {size(count)} | {threads} | {value:.1f} | | |")
            continue
        mine = ours["items_per_second"]
        raw = stores.get("raw", {}).get("items_per_second")
        out.append(
            f"| {work.replace('_', ' ')} | {durability} | {size(count)} "
            f"| {threads} | {rate(mine)} "
            f"| {rate(raw) if raw else ''} "
            f"| {f'{mine / raw:.2f}' if raw else ''} |")
    with open(readme) as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    with open(readme, "w") as file:
        file.write(head + BEGIN + "\n" + "\n".join(out) + "\n" + END + tail)


main()
