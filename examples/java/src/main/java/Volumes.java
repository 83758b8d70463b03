import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Sums the trades of each pair from the topic dex.trades.&lt;chain&gt;, reorgs taken out: one JSON line per pair.
 *
 * <pre>mvn -q -f examples/java/pom.xml compile exec:java -Dexec.args="localhost:9092 eth"</pre>
 *
 * Arguments: brokers, chain, topic prefix. Without SCHEMA_REGISTRY_URL the schemas are in the topic dex.schemas.
 */
public class Volumes {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String brokers;
  private final String registry;
  private final Map<Integer, Schema> schemas = new HashMap<>();
  /** By pair, then by id: a later epoch repeats trades with other numbers. */
  private final Map<String, Map<String, Double>> pairs = new TreeMap<>();
  private long[] last = {0, 0, -1};

  Volumes(String brokers, String registry) {
    this.brokers = brokers;
    this.registry = registry;
  }

  public static void main(String[] args) throws IOException {
    String chain = args.length > 1 ? args[1] : "eth";
    String prefix = args.length > 2 ? args[2] : "";
    Volumes volumes = new Volumes(args[0], System.getenv().getOrDefault("SCHEMA_REGISTRY_URL", ""));
    if (volumes.registry.isEmpty()) volumes.readTopic(prefix + "dex.schemas", volumes::takeSchema);
    volumes.readTopic(prefix + "dex.trades." + chain, volumes::takeTrade);
    for (var entry : volumes.pairs.entrySet()) {
      if (entry.getValue().isEmpty()) continue;
      double usd = entry.getValue().values().stream().mapToDouble(Double::doubleValue).sum();
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("pair", entry.getKey());
      line.put("trades", entry.getValue().size());
      line.put("usd", usd);
      System.out.println(JSON.writeValueAsString(line));
    }
  }

  /** Up to the topic's current end. A topic is one partition. */
  private void readTopic(String topic, Consumer<ConsumerRecord<byte[], byte[]>> onRecord) {
    Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "enable.auto.commit", false);
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
      var partition = List.of(new TopicPartition(topic, 0));
      consumer.assign(partition);
      consumer.seekToBeginning(partition);
      long end = consumer.endOffsets(partition).get(partition.get(0));
      while (consumer.position(partition.get(0)) < end) consumer.poll(Duration.ofSeconds(1)).forEach(onRecord);
    }
  }

  /** A schema's id is its record's offset plus one. */
  private void takeSchema(ConsumerRecord<byte[], byte[]> record) {
    try {
      schemas.put((int) record.offset() + 1, parse(JSON.readTree(record.value()).get("schema").toString()));
    } catch (IOException error) {
      throw new IllegalStateException("record " + record.offset() + " of " + record.topic() + " is not JSON", error);
    }
  }

  private static Schema parse(String text) {
    return new Schema.Parser().parse(text);
  }

  private Schema schemaOf(int id) {
    return schemas.computeIfAbsent(
        id,
        missing -> {
          try {
            JsonNode answer = JSON.readTree(new URL(registry + "/schemas/ids/" + missing));
            return parse(answer.get("schema").asText());
          } catch (IOException error) {
            throw new IllegalStateException("the registry has no schema " + missing, error);
          }
        });
  }

  /** A record is a zero byte, the schema's id in four bytes, and Avro binary. */
  private GenericRecord decode(byte[] value) {
    Schema schema = schemaOf(ByteBuffer.wrap(value).getInt(1));
    try {
      var decoder = DecoderFactory.get().binaryDecoder(value, 5, value.length - 5, null);
      return new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
    } catch (IOException error) {
      throw new IllegalStateException("a trade cannot be decoded", error);
    }
  }

  private void takeTrade(ConsumerRecord<byte[], byte[]> record) {
    GenericRecord trade = decode(record.value());
    long[] place = {(int) trade.get("epoch"), (long) trade.get("seq"), (int) trade.get("n")};
    // After a crash of its writer records of the same epoch repeat.
    if (java.util.Arrays.compare(place, last) <= 0) return;
    last = place;
    Map<String, Double> trades = pairs.computeIfAbsent(trade.get("pair").toString(), pair -> new LinkedHashMap<>());
    String id = trade.get("id").toString();
    Object usd = trade.get("amount_usd");
    if (trade.get("op").toString().equals("retract")) trades.remove(id);
    else trades.put(id, usd == null ? 0 : (double) usd);
  }
}
