#!/usr/bin/env python3
"""Read a chain's updates from Kafka and rebuild every candle from the trades alone.

    pip install -r examples/requirements.txt
    python examples/consumer.py --brokers localhost:9092 --chain eth
    python examples/consumer.py --brokers localhost:9092 --chain eth --check > candles.jsonl
    python examples/consumer.py --brokers localhost:9092 --chain eth --from-time 2024-01-05T12:00

Candles come as JSON lines sorted by pair, interval and time: open, first, high, low, close and volume in USD (_u), the
chain's native coin (_m) and the pair's quote token (_r); null is unknown. docs/topics.md describes the topics,
docs/data.md how each number is computed.
"""

import argparse
import base64
import datetime
import io
import json
import math
import os
import struct
import sys
import urllib.parse
import urllib.request

import fastavro
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

INTERVALS = {
    "s1": 1, "k1": 60, "k5": 300, "k15": 900, "k30": 1800, "k60": 3600,
    "k120": 7200, "k240": 14400, "k1440": 86400, "k10080": 604800,
}  # fmt: skip
FIRST_MONDAY = 4 * 86400  # 1970-01-05: weeks start on Mondays
CURRENCIES = "umr"
FIELDS = ("open", "first", "high", "low", "close", "volume")
LISTS = ("pairs", "tokens", "main_pair_changes", "retracted", "gone_tokens")
UNPRICED = 4
NAN = math.nan


# --- Kafka: a topic is one partition, read from an offset to its end ------------------------------------------------


def read_topic(brokers, topic, offset=None):
    """Yield (offset, value) up to the topic's current end, from its oldest record by default."""
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": "dextape-example",  # required by the library; we store offsets ourselves
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        try:
            start, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
        except KafkaException as error:
            sys.exit(f"{topic} on {brokers}: {error.args[0].str()}")
        if offset is not None and offset < start:
            sys.exit(f"{topic}: cannot resume at offset {offset}, the oldest record is {start}. Delete the state file to start over")
        consumer.assign([TopicPartition(topic, 0, start if offset is None else offset)])
        while start < end:
            message = consumer.poll(30)
            if message is None:
                sys.exit(f"{topic}: {brokers} did not answer within 30 s")
            if message.error() is not None:
                if message.error().code() == KafkaError._PARTITION_EOF:
                    return
                raise KafkaException(message.error())
            yield message.offset(), message.value()
    finally:
        consumer.close()


def offset_at(brokers, topic, time_s):
    """The offset of the first record at or after a chain time, which is what the records' timestamps are."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "dextape-example", "enable.auto.commit": False})
    try:
        (found,) = consumer.offsets_for_times([TopicPartition(topic, 0, time_s * 1000)], timeout=30)
        if found.offset >= 0:
            return found.offset
        return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)[1]  # all records are older
    except KafkaException as error:
        sys.exit(f"{topic} on {brokers}: {error.args[0].str()}")
    finally:
        consumer.close()


# --- The wire format: a zero byte, the schema's id in four bytes, Avro binary ---------------------------------------


def schemas_of_registry(url):
    """Schemas by id, from a registry with Confluent's REST interface."""
    parts = urllib.parse.urlsplit(url)
    address = urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
    headers = {}
    if parts.username:
        secret = urllib.parse.unquote(f"{parts.username}:{parts.password or ''}")
        headers["Authorization"] = "Basic " + base64.b64encode(secret.encode()).decode()

    def fetch(schema_id):
        request = urllib.request.Request(f"{address}/schemas/ids/{schema_id}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(json.load(answer)["schema"])

    return fetch


def schemas_of_topic(brokers, topic):
    """Schemas by id, from the topic dex.schemas: a schema's id is its record's offset plus one."""
    known = {offset + 1: json.loads(value)["schema"] for offset, value in read_topic(brokers, topic)}
    return known.__getitem__


def decoder(schema_of):
    parsed = {}

    def decode(value):
        magic, schema_id = struct.unpack(">bI", value[:5])
        if magic != 0:
            raise ValueError(f"unexpected first byte {magic}: not in the schema registry's wire format")
        if schema_id not in parsed:
            parsed[schema_id] = fastavro.parse_schema(schema_of(schema_id))
        return fastavro.schemaless_reader(io.BytesIO(value[5:]), parsed[schema_id])

    return decode


FIGURES = [f"{name}_{currency}" for currency in CURRENCIES for name in FIELDS]


def unpacked_candles(data):
    """The candles of a pair's entry. A figure that is not there is the one of the candle before."""
    if isinstance(data, list):  # the record Update, which earlier versions wrote
        yield from data
        return
    at, figures = 0, dict.fromkeys(FIGURES, math.nan)
    while at < len(data):
        interval, low_bits, high_bits, time = struct.unpack_from("<BBHd", data, at)
        at += 12
        figures = dict(figures)
        for n, name in enumerate(FIGURES):
            if (low_bits | high_bits << 8) >> n & 1:
                (figures[name],) = struct.unpack_from("<d", data, at)
                at += 8
        yield {"interval": list(INTERVALS)[interval & 127], "time": int(time), "removed": interval >= 128, **figures}


def whole_updates(records):
    """Join the parts of large updates; yield (offset to resume at, update). Part 0 always starts over."""
    parts = []
    for offset, update in records:
        if update["part"] == 0:
            parts = []
        if update["part"] != len(parts):
            continue  # we started in the middle of it, or its writer died: it is repeated completely
        parts.append(update)
        if update["part"] == update["last_part"]:
            yield offset + 1, {**update, **{name: [item for part in parts for item in part[name]] for name in LISTS}}
            parts = []


# --- The reader's state ---------------------------------------------------------------------------------------------


class Tape:
    """The current trades by pair and block, in chain order. Plain values, so that it can be saved as JSON."""

    def __init__(self, saved=None):
        self.__dict__.update(saved or {"offset": None, "epoch": 0})
        if saved is None:
            self.forget()

    def forget(self):
        """A new epoch repeats the whole history, with other rules."""
        self.place = None  # [seq, n] of the last record applied
        self.blocks = {}  # pair -> [{"time", "trades": [{"id", "prices", "amounts"}]}]
        self.quotes = {}  # pair -> its quote token
        self.decimals = {}  # token -> decimals; None: not known yet
        self.published = {}  # pair -> interval:time -> the candle in the updates

    def is_seen(self, epoch, seq, n=0):
        """After a crash records of the same epoch repeat, with the same content."""
        if epoch > self.epoch:
            self.forget()
            self.epoch = epoch
        if epoch < self.epoch or (self.place is not None and [seq, n] <= self.place):
            return True
        self.place = [seq, n]
        return False

    def apply(self, update, keeps_trades=True):
        """Without its trades an update only describes pairs and tokens, for the trades that follow."""
        last = self.place[0] if self.place is not None and update["epoch"] == self.epoch else None
        if self.is_seen(update["epoch"], update["seq"]):
            return
        if last is not None and update["seq"] != last + 1:
            sys.exit(f"Update {last + 1} of epoch {self.epoch} is missing, the next one is {update['seq']}. Delete the state file to start over")

        for entry in update["retracted"]:  # orphaned trades and liquidity events
            self.retract(entry["pair"], set(entry["ids"]))
            if entry["gone"]:
                for kept in (self.blocks, self.quotes, self.published):
                    kept.pop(entry["pair"], None)
        decimals_before = dict(self.decimals)
        for token in update["gone_tokens"]:
            self.decimals.pop(token, None)
        for token in update["tokens"]:
            if token["info"] is not None:
                self.decimals[token["token"]] = token["info"]["decimals"]

        for entry in update["pairs"]:
            pair, info = entry["pair"], entry["info"]
            if info is not None:
                self.quotes[pair] = info["token0"] if info["target"] == 1 else info["token1"]
            if not keeps_trades:
                continue
            for trade in entry["trades"]:
                quote = self.quotes.get(pair)  # None: described in an update that is no longer kept
                # A trade before its quote's decimals were known has no quote amount, even if they follow in the same block.
                known = decimals_before if trade["flags"] & UNPRICED else self.decimals
                decimals = known.get(quote, self.decimals.get(quote))
                self.add(pair, update["seq"], update["time"], trade, decimals)
            for candle in unpacked_candles(entry["candles"]):
                candles = self.published.setdefault(pair, {})
                key = f"{candle['interval']}:{candle['time']}"
                if candle["removed"]:
                    candles.pop(key, None)
                else:
                    candles[key] = candle

    def apply_trade(self, record):
        if self.is_seen(record["epoch"], record["seq"], record["n"]):
            return
        if record["op"] == "retract":
            self.retract(record["pair"], {record["id"]})
        else:
            self.add(record["pair"], record["seq"], record["time"], record, record["quote_decimals"])

    def add(self, pair, seq, time, trade, quote_decimals):
        blocks = self.blocks.setdefault(pair, [])
        if not blocks or blocks[-1]["seq"] != seq:
            blocks.append({"seq": seq, "time": time, "trades": []})
        raw = trade["amount_out"] if trade["sell"] else trade["amount_in"]
        quote_amount = NAN if quote_decimals is None else float(raw) / float(f"1e{quote_decimals}")
        good = trade["flags"] == 0  # dust, outliers and unpriced trades set no price
        prices = [trade["price_usd"], trade["price_native"], trade["price_quote"]] if good else [NAN] * 3
        amounts = [trade["amount_usd"], trade["amount_native"], quote_amount]
        blocks[-1]["trades"].append(
            {
                "id": trade["id"],
                "prices": [NAN if price is None else price for price in prices],
                "amounts": [NAN if amount is None else amount for amount in amounts],
            }
        )

    def retract(self, pair, ids):
        """Orphaned trades are the pair's newest. An id may come again, in the block that replaced the orphaned one."""
        blocks = self.blocks.get(pair, [])
        while blocks and any(trade["id"] in ids for trade in blocks[-1]["trades"]):
            blocks[-1]["trades"] = [trade for trade in blocks[-1]["trades"] if trade["id"] not in ids]
            if blocks[-1]["trades"]:
                return
            blocks.pop()


# --- Candles --------------------------------------------------------------------------------------------------------


def bucket_start(interval, time):
    origin = FIRST_MONDAY if interval == "k10080" else 0
    return (time - origin) // INTERVALS[interval] * INTERVALS[interval] + origin


def block_sums(trades, currency):
    """Sum a block's volume first, then add it to the bucket: this gives the same last bit."""
    prices = [trade["prices"][currency] for trade in trades if not math.isnan(trade["prices"][currency])]
    volume = 0.0
    for trade in trades:
        if not math.isnan(trade["amounts"][currency]):
            volume += trade["amounts"][currency]
    return prices, volume


def candles_of(blocks):
    """Yield (interval, time, values) for every candle of one pair, from its blocks in chain order."""
    sums = [(block["time"], [block_sums(block["trades"], currency) for currency in range(3)]) for block in blocks]
    for interval in INTERVALS:
        buckets = {}
        for time, by_currency in sums:
            bucket = buckets.setdefault(bucket_start(interval, time), [([], [0.0]) for _ in CURRENCIES])
            for (prices, volume), (block_prices, block_volume) in zip(bucket, by_currency):
                prices.extend(block_prices)
                volume[0] += block_volume
        closes = [NAN] * 3
        for time in sorted(buckets):
            values = {}
            for at, (prices, volume) in enumerate(buckets[time]):
                first = prices[0] if prices else NAN
                opened = first if math.isnan(closes[at]) else closes[at]
                covered = [opened, *prices]
                closes[at] = prices[-1] if prices else opened
                bars = (opened, first, max(covered), min(covered), closes[at], volume[0])
                values.update({f"{field}_{CURRENCIES[at]}": bar for field, bar in zip(FIELDS, bars)})
            # Only flagged trades and no earlier price: no candle.
            if not all(math.isnan(values[f"open_{currency}"]) for currency in CURRENCIES):
                yield interval, time, values


def differences(tape, candles):
    """Where our candles differ from those in the updates, bit for bit."""
    published = {(pair, key): candle for pair, kept in tape.published.items() for key, candle in kept.items()}
    for pair, interval, time, values in candles:
        carried = published.pop((pair, f"{interval}:{time}"), None)
        if carried is None:
            yield f"{pair} {interval} {time}: not in the updates"
            continue
        for name, value in values.items():
            if value != carried[name] and not (math.isnan(value) and math.isnan(carried[name])):
                yield f"{pair} {interval} {time} {name}: rebuilt {value!r}, in the updates {carried[name]!r}"
    yield from (f"{pair} {key}: only in the updates" for pair, key in published)


# --- The command ----------------------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True, help="host:port, comma separated")
    parser.add_argument("--chain", required=True)
    parser.add_argument("--prefix", default="", help="topic prefix (kafka.topic_prefix)")
    parser.add_argument("--registry", metavar="URL", help="schema registry (default: the topic dex.schemas)")
    parser.add_argument("--state", metavar="FILE", help="resume from this file, and save the state there")
    parser.add_argument("--trades", action="store_true", help="read dex.trades.<chain> (needs topics.trades) instead of updates")
    parser.add_argument("--from-time", metavar="WHEN", type=epoch_seconds, help="only trades from this chain time on: 2024-01-05T12:00 (UTC) or @epoch-seconds")
    parser.add_argument("--check", action="store_true", help="compare with the candles in the updates; exit code 1 if they differ")
    options = parser.parse_args()
    if options.trades and options.check:
        parser.error("--check cannot be used with --trades: dex.trades.<chain> has no candles")
    if options.from_time is not None and options.check:
        parser.error("--check cannot be used with --from-time: the candles in the updates also have the trades before")
    return options


def epoch_seconds(text):
    if text.startswith("@"):
        return int(text[1:])
    time = datetime.datetime.fromisoformat(text)
    return int((time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)).timestamp())


def main():
    options = arguments()
    topic = f"{options.prefix}dex.{'trades' if options.trades else 'updates'}.{options.chain}"
    if options.registry:
        schema_of = schemas_of_registry(options.registry)
    else:
        schema_of = schemas_of_topic(options.brokers, f"{options.prefix}dex.schemas")
    decode = decoder(schema_of)
    saved = None
    if options.state and os.path.exists(options.state):
        with open(options.state) as file:
            saved = json.load(file)
    tape = Tape(saved)
    # A state file resumes where it stopped.
    first = None if options.from_time is None or saved else offset_at(options.brokers, topic, options.from_time)
    if options.trades and first is not None:
        tape.offset = first  # each record of this topic describes its tokens

    records = ((offset, decode(value)) for offset, value in read_topic(options.brokers, topic, tape.offset))
    if options.trades:
        for offset, record in records:
            tape.apply_trade(record)
            tape.offset = offset + 1
    else:
        for next_offset, update in whole_updates(records):
            tape.apply(update, keeps_trades=first is None or next_offset > first)
            tape.offset = next_offset  # never inside a split update

    if options.state:
        # The offset and what was derived from the records before it are one file, replaced atomically.
        with open(f"{options.state}.new", "w") as file:
            json.dump(tape.__dict__, file)
        os.replace(f"{options.state}.new", options.state)

    candles = [(pair, *candle) for pair, blocks in tape.blocks.items() for candle in candles_of(blocks)]
    for pair, interval, time, values in sorted(candles, key=lambda candle: candle[:3]):
        known = {name: None if math.isnan(value) else value for name, value in values.items()}
        print(json.dumps({"chain": options.chain, "pair": pair, "interval": interval, "time": time, **known}))
    if options.check:
        found = list(differences(tape, candles))
        for line in found[:20]:
            print(line, file=sys.stderr)
        print(f"{len(candles)} candles, {len(found)} differences", file=sys.stderr)
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
