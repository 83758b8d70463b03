/**
 * Where a value stands in the table of a state store. The keys of buckets and wallets name their owner first (`b/p/7/minutes/488`,
 * `w/p/7/2928`); in the table they stand by time (`b/minutes/488/p/7`). A checkpoint writes the newest ones of many owners, and
 * LMDB every page that has any of them: by owner that would be nearly all pages, by time it is few.
 */

/** The length of `p/` or `t/` and a padded number. */
const OWNER = 14
const KIND = 2

const isOfTime = (key: string): boolean => key.startsWith('b/') || key.startsWith('w/')

export function tableKeyOf(key: string): string {
  if (!isOfTime(key)) return key
  return `${key.slice(0, KIND)}${key.slice(KIND + OWNER + 1)}/${key.slice(KIND, KIND + OWNER)}`
}

export const inTable = <Value>({ key, value }: { key: string; value: Value }) => ({ key: tableKeyOf(key), value })

export function keyOfTable(tableKey: string): string {
  if (!isOfTime(tableKey)) return tableKey
  return `${tableKey.slice(0, KIND)}${tableKey.slice(-OWNER)}/${tableKey.slice(KIND, -OWNER - 1)}`
}
