import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs the statements of a file in a Flink inside this process, and prints the changes of its queries' results: one line each, with
 * tabs between +I (insert), -U and +U (update) or -D (delete) and the columns.
 *
 * <pre>mvn -q -f examples/flink/pom.xml compile exec:exec</pre>
 */
public class RunSql {
  public static void main(String[] args) throws Exception {
    TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    for (String statement : statementsOf(Path.of(args[0]))) {
      if (!statement.startsWith("SELECT")) {
        tables.executeSql(statement);
        continue;
      }
      try (CloseableIterator<Row> changes = tables.executeSql(statement).collect()) {
        while (changes.hasNext()) System.out.println(lineOf(changes.next()));
      }
    }
  }

  private static List<String> statementsOf(Path file) throws IOException {
    String text = Files.readString(file).replaceAll("--.*", "");
    return Arrays.stream(text.split(";")).map(String::strip).filter(part -> !part.isEmpty()).toList();
  }

  private static String lineOf(Row row) {
    List<String> columns = new ArrayList<>(List.of(row.getKind().shortString()));
    for (int at = 0; at < row.getArity(); at += 1) columns.add(String.valueOf(row.getField(at)));
    return String.join("\t", columns);
  }
}
