#!/usr/bin/env python3
"""`csv-agent mcp`, driven by the protocol's own client: every tool, resource and prompt, in both eras.

    pip install mcp && benches/mcp_client.py path/to/csv-agent [number of calls [DIR]]

The client checks each message against the schemas of the protocol, and structured content against the tool's own.
Then, unless the number is 0: the time from the start of the server to its list of tools, and the time of calls.

With DIR, two other servers are measured in the same run: MotherDuck's, which runs SQL in DuckDB, and mcp-pandas,
which has a data frame. Each has a virtual environment below DIR, which the script makes where there is none. All
times include the client's own.
"""
import asyncio
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import venv

from mcp import Client, StdioServerParameters, types

TOP = pathlib.Path(__file__).resolve().parent.parent
SQL = "select product, sum(revenue) as total from sales group by product order by total desc"
CALLS = [
    ("ingest", {"paths": ["sales.csv"]}),
    ("datasets", {}),
    ("describe", {"dataset": "sales"}),
    ("query", {"sql": SQL}),
    ("python", {"code": "t = load('sales').groupby('product', as_index=False).revenue.sum(); print(len(t)); t"}),
    ("find_values", {"value": "Tea"}),
    ("table", {"variable": "t", "name": "totals"}),
    ("chart", {"sql": SQL, "type": "bar", "x": "product", "y": "total", "title": "Totals"}),
    ("chart", {"variable": "t", "type": "column", "x": "product", "y": ["revenue"]}),
    ("verdict", {"assessment": "warning", "text": "Two rows.", "findings": [
        {"severity": "warning", "message": "odd", "dataset": "sales", "column": "revenue", "rows": [1, 2]}]}),
    ("ask", {"question": "total revenue per product"}),
    ("rerun", {"turn": 4}),
    ("export", {"form": "py", "turns": [5]}),
    ("export", {"form": "md"}),
]
PROMPTS = {"profile": {"file": "sales.csv"}, "check": {"file": "sales"}, "compare": {"old": "a", "new": "b"}}


def server_of(binary, directory):
    # The client passes few variables on. The managed Python is in the cache.
    cache = os.environ.get("XDG_CACHE_HOME", str(pathlib.Path.home() / ".cache"))
    return StdioServerParameters(command=binary, args=["mcp"], cwd=str(directory), env={"XDG_CACHE_HOME": cache})


async def drive(binary, mode, directory):
    told, asked = [], []

    async def ask(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"date_order": "dmy", "decimal": ","})

    async def progress(done, total, message):
        told.append(message)

    server = server_of(binary, directory)
    async with Client(server, mode=mode, elicitation_callback=ask) as client:
        tools = await client.list_tools()
        listed = {it.name: it for it in tools.tools}
        assert list(listed) == list(dict.fromkeys(it[0] for it in CALLS)), list(listed)
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments, progress_callback=progress)
            assert not result.is_error, (name, result)
            kinds = [it.type for it in result.content]
            has_structure = result.structured_content is not None
            assert has_structure == ("image" not in kinds), (name, kinds)
            n_chars = sum(len(getattr(it, "text", "")) for it in result.content)
            assert n_chars < 45_000
            print(f"  {name}: {', '.join(kinds)}{', structured' if has_structure else ''}")
        wrong = await client.call_tool("query", {"sql": "select nope from sales"})
        assert wrong.is_error and "the columns are date" in wrong.content[0].text, wrong
        (directory / "open.tsv").write_text("day\tn\n01/02/2024\t1,234\n03/04/2024\t2,345\n")
        read = await client.call_tool("ingest", {"paths": ["open.tsv"]})
        types_of = [it["dtype"] for it in read.structured_content["schema"]["columns"]]
        assert types_of == ["date", "float64"] and len(asked) == 1, (types_of, asked)
        resources = (await client.list_resources()).resources
        assert len(resources) > 10
        for it in resources:
            content = (await client.read_resource(it.uri)).contents[0]
            assert getattr(content, "text", None) or getattr(content, "blob", None), it
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        assert [it.name for it in prompts] == list(PROMPTS)
        for name, arguments in PROMPTS.items():
            text = (await client.get_prompt(name, arguments)).messages[0].content.text
            assert "{" not in text
        # Longer than the interval of messages on progress.
        slow = await client.call_tool(
            "python", {"code": "import time; time.sleep(12); 1"}, progress_callback=progress)
        assert slow.structured_content["result"] == "1" and told, told
        print(f"  {len(listed)} tools, {len(resources)} resources, {len(templates)} templates, "
              f"{len(prompts)} prompts; version {client.protocol_version}; progress {told}; asked {asked}")


# name → what its virtual environment needs, its arguments, a call that lists what it has, and one that calculates
PEERS = {
    "mcp-server-motherduck": (
        ["mcp-server-motherduck"], ["--db-path", ":memory:", "--read-write"], ("list_tables", {}),
        ("execute_query", {"sql": SQL.replace("from sales", "from 'sales.csv'")})),
    "mcp-pandas": (["mcp-pandas", "mcp<2"], ["--data-path", "sales.csv"], None, ("average", {"column": "revenue"})),
}


def peer_of(name, directory, venvs):
    packages, arguments, listing, calculation = PEERS[name]
    here = pathlib.Path(venvs).resolve() / name
    if not here.exists():
        venv.create(here, with_pip=True)
        subprocess.run([here / "bin/pip", "install", "--quiet", *packages], check=True)
    server = StdioServerParameters(command=str(here / "bin" / name), args=arguments, cwd=str(directory))
    return server, [it for it in (listing, calculation) if it]


async def measure(name, server, calls, n_calls):
    starts = []
    for _ in range(10):
        begun = time.perf_counter()
        async with Client(server, mode="legacy") as client:
            await client.list_tools()
            starts.append(1000 * (time.perf_counter() - begun))
    print(f"{name}: start to tools/list {statistics.median(starts):.0f} ms (median of {len(starts)})")
    async with Client(server, mode="legacy") as client:
        for tool, arguments in calls:
            times = []
            for _ in range(n_calls):
                begun = time.perf_counter()
                result = await client.call_tool(tool, arguments)
                times.append(1000 * (time.perf_counter() - begun))
                assert not result.is_error, result
            print(f"  {tool}: {statistics.median(times):.1f} ms (median of {n_calls})")


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    n_calls = int(sys.argv[2]) if 2 < len(sys.argv) else 100
    for mode in ["legacy", "auto"]:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            sales = (TOP / "fixtures/csv/sales.csv").read_bytes()
            (directory / "sales.csv").write_bytes(sales)
            print(f"mode {mode}:")
            asyncio.run(drive(binary, mode, directory))
            if mode == "auto" and n_calls:
                calls = [("datasets", {}), ("query", {"sql": SQL}), ("python", {"code": "1"})]
                asyncio.run(measure("csv-agent", server_of(binary, directory), calls, n_calls))
                for peer in PEERS if 3 < len(sys.argv) else []:
                    asyncio.run(measure(peer, *peer_of(peer, directory, sys.argv[3]), n_calls))


if __name__ == "__main__":
    main()
