import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.state.Stores;

/**
 * Candles of ten intervals in two currencies on Kafka Streams, and nothing else: no prices, windows, makers, reorgs or rows in a
 * store. A record's key is the pool; its value is time in ms (int64), then price, volume in USD and in native coins (doubles).
 */
public class CandlePeer {
  private static final int[] INTERVALS_S = {1, 60, 300, 900, 1800, 3600, 7200, 14400, 86400, 604800};
  private static final Duration KEPT = Duration.ofDays(8);
  private static final double NATIVE_USD = 2000;
  /** open, high, low, close in USD, the same in native coins, both volumes. */
  private static final int CANDLE_BYTES = 80;

  public static void main(String[] args) throws Exception {
    String topic = args[1];
    long expected = Long.parseLong(args[3]);
    AtomicLong seen = new AtomicLong();
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, byte[]> swaps =
        builder.<String, byte[]>stream(topic).peek((pool, swap) -> seen.incrementAndGet()).groupByKey();
    for (int seconds : INTERVALS_S) addCandles(swaps, seconds, args[2]);
    KafkaStreams streams = new KafkaStreams(builder.build(), settings(args[0], args[4]));
    streams.start();
    while (seen.get() == 0) Thread.sleep(5);
    long startedNs = System.nanoTime();
    while (seen.get() < expected) Thread.sleep(10);
    System.out.println("seconds " + (System.nanoTime() - startedNs) / 1e9);
    streams.close(Duration.ofSeconds(10));
    System.exit(0);
  }

  private static void addCandles(KGroupedStream<String, byte[]> swaps, int seconds, String output) {
    Duration size = Duration.ofSeconds(seconds);
    swaps
        .windowedBy(TimeWindows.ofSizeAndGrace(size, Duration.ofMinutes(1)))
        .aggregate(
            () -> null,
            (pool, swap, candle) -> merged(ByteBuffer.wrap(swap), candle),
            Materialized.<String, byte[]>as(Stores.persistentWindowStore("k" + seconds, KEPT, size, false))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.ByteArray())
                .withCachingEnabled())
        .toStream()
        .map((window, candle) -> KeyValue.pair(window.key(), candle))
        .to(output, Produced.with(Serdes.String(), Serdes.ByteArray()));
  }

  private static byte[] merged(ByteBuffer swap, byte[] before) {
    ByteBuffer candle = ByteBuffer.allocate(CANDLE_BYTES);
    if (before != null) candle.put(before);
    mergePrice(candle, 0, swap.getDouble(8), before == null);
    mergePrice(candle, 32, swap.getDouble(8) / NATIVE_USD, before == null);
    candle.putDouble(64, candle.getDouble(64) + swap.getDouble(16));
    candle.putDouble(72, candle.getDouble(72) + swap.getDouble(24));
    return candle.array();
  }

  private static void mergePrice(ByteBuffer candle, int at, double price, boolean isFirst) {
    if (isFirst) candle.putDouble(at, price);
    candle.putDouble(at + 8, isFirst ? price : Math.max(candle.getDouble(at + 8), price));
    candle.putDouble(at + 16, isFirst ? price : Math.min(candle.getDouble(at + 16), price));
    candle.putDouble(at + 24, price);
  }

  private static Properties settings(String brokers, String stateFolder) {
    Properties settings = new Properties();
    settings.put("application.id", "candle-peer");
    settings.put("bootstrap.servers", brokers);
    settings.put("processing.guarantee", "exactly_once_v2");
    settings.put("num.stream.threads", "2");
    settings.put("state.dir", stateFolder);
    settings.put("commit.interval.ms", "1000");
    settings.put("statestore.cache.max.bytes", String.valueOf(256L << 20));
    settings.put("default.key.serde", Serdes.StringSerde.class.getName());
    settings.put("default.value.serde", Serdes.ByteArraySerde.class.getName());
    settings.put("default.timestamp.extractor", SwapTime.class.getName());
    settings.put("auto.offset.reset", "earliest");
    settings.put("fetch.max.wait.ms", "50");
    settings.put("max.poll.records", "5000");
    return settings;
  }

  public static class SwapTime implements TimestampExtractor {
    public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
      return ByteBuffer.wrap((byte[]) record.value()).getLong(0);
    }
  }
}
