"""Makes `orders.csv`: orders of people who do not exist, with all that makes a CSV hard to read."""
import random
from datetime import datetime, timedelta

CITIES = ["Łódź", "São Paulo", "Zürich", "New York", "東京", "Rostock", "", "Aix-en-Provence"]
NAMES = ['Ann "Nan" Lee', "Björk; & Sons", "O'Neill, Pat", "Müller", "Žofie", "Li 李", "Smith", "D’Arcy"]
chance = random.Random(7)
start = datetime(2023, 1, 1)
with open("orders.csv", "w", encoding="utf-8", newline="") as file:
    file.write("id;placed;paid_at;customer;city;amount;quantity;express;code;note\n")
    for id in range(1, 20_001):
        placed = start + timedelta(minutes=chance.randrange(700 * 24 * 60))
        paid = placed + timedelta(seconds=chance.randrange(30 * 86_400))
        name = f"{chance.choice(NAMES)} {chance.randrange(40)}".replace('"', '""')
        amount = f"{chance.randrange(100, 1_000_000) / 100:.2f}".replace(".", ",")
        cells = [
            id,
            f"{placed:%Y-%m-%d}",
            f"{paid:%Y-%m-%d %H:%M:%S}" if chance.random() < 0.9 else "",
            f'"{name}"',
            chance.choice(CITIES),
            amount if chance.random() < 0.95 else "",
            chance.randrange(1, 10) if chance.random() < 0.97 else "",
            chance.choice(["true", "false"]),
            f"{chance.randrange(2000):05d}",
            f'"ref {chance.randrange(1000):03d}; ""{chance.choice(["urgent", "gift", "none"])}"""',
        ]
        file.write(";".join(map(str, cells)) + "\n")
