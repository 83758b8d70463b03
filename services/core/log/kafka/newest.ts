/** The highest timestamp of a topic, from requests that find the first offset at or after a time. */

/** `hasFrom(t)`: whether any record has timestamp t or later. `lastMs`: the last record's, usually the highest. */
export async function highestTimestamp(
  lastMs: number,
  hasFrom: (timestampMs: number) => Promise<boolean>,
): Promise<number> {
  let known = lastMs
  let beyond = known + 1
  for (let step = 1; await hasFrom(beyond); step *= 2) {
    known = beyond
    beyond = known + step * 2
  }
  while (beyond - known > 1) {
    const middle = Math.floor((known + beyond) / 2)
    if (await hasFrom(middle)) known = middle
    else beyond = middle
  }
  return known
}
