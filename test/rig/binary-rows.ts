/** Rows in the form in which the sink inserts them. */
import { type Cell, RowWriter } from '../../services/core/store/row-binary.js'
import { TABLES, type TableName } from '../../services/core/store/tables.js'

/** Columns that a row does not name are null. */
export function binaryRows(table: TableName, rows: Iterable<Readonly<Record<string, unknown>>>): Uint8Array {
  const writer = new RowWriter(table)
  for (const row of rows) writer.row(TABLES[table].map((column) => row[column] as Cell))
  return writer.finish()
}
