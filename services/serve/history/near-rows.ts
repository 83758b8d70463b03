/** The engine reads thousands of rows at least, by the marks of its index: fewer than these are not read sooner. */
const FEWEST_ROWS = 1024
/** A shorter read takes in this many times the rows it is after: trades are not spread evenly. */
const SPARE = 8
/** Shorter reads before all of the range is read. */
const SHORTER_READS = 2
const WIDEN_AT_MOST = 64

/** Which rows of a range are taken if there are too many. */
export type Order = 'earliest' | 'latest'

export type NearRows = {
  fromS: number
  toS: number
  order: Order
  limit: number
  /** About where rows begin and end, whatever the range. */
  firstS: number
  lastS: number
  /** About the time between two rows. */
  spacingS: number
}

/**
 * Reads the last (or first) `limit` rows of a range. The engine answers that from all rows of the range, whatever its length: read
 * is first the part that probably has enough of them, and a longer one if it has not.
 */
export async function readNearRows<Row>(
  { fromS, toS, order, limit, firstS, lastS, spacingS }: NearRows,
  read: (fromS: number, toS: number) => Promise<Row[]>,
): Promise<Row[]> {
  const beginS = Math.max(fromS, firstS)
  const endS = Math.min(toS, lastS)
  let widthS = Math.max(FEWEST_ROWS, SPARE * limit) * Math.max(1, spacingS)
  for (let reads = 0; reads < SHORTER_READS && widthS < endS - beginS; reads += 1) {
    const rows = await (order === 'latest'
      ? read(Math.floor(endS - widthS), toS)
      : read(fromS, Math.ceil(beginS + widthS)))
    if (rows.length >= limit) return rows
    widthS *= Math.min(WIDEN_AT_MOST, (SPARE * limit) / Math.max(1, rows.length))
  }
  return read(fromS, toS)
}
