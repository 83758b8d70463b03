/** A rarely traded pair in a checkpoint: all its buckets and wallets as one value. */
import type { BucketRing } from '../state/bucket-ring.js'
import type { ActivePair } from '../state/pairs.js'
import type { WalletNames } from '../state/wallets.js'
import { BucketReader, BucketWriter, WholeRowReader } from './bucket-image.js'
import { pack } from './state-store.js'
import { restoreBefore, storedCloses } from './windows-image.js'

type Closes = (number | null)[]

/** `before`: closes before a ring's first bucket, by interval, where there are any. */
type RowsWithin = { within: number[]; before: Record<number, Closes>; wallets: string[] }
/** As written before: each bucket as it differs from the one before. */
type DifferentRows = { counts: number[]; before: Record<number, Closes>; wallets: string[] }
/** As written at first: every row whole. */
type WholeRows = { rings: { count: number; before: Closes }[]; wallets: string[] }
export type SmallImage = RowsWithin | DifferentRows | WholeRows

export function smallImage({ rings, windows }: ActivePair, names: WalletNames): Uint8Array {
  const fields: RowsWithin = { within: [], before: {}, wallets: [] }
  let count = 0
  for (const ring of rings) count += ring.count
  const numbers = new BucketWriter(count, 2 * windows.wallets.size)
  for (let interval = 0; interval < rings.length; interval += 1) {
    const ring = rings[interval] as BucketRing
    fields.within.push(ring.count)
    if (!ring.before.every(Number.isNaN)) fields.before[interval] = storedCloses(ring)
    numbers.addWithin(ring, interval, rings[interval - 1])
  }
  windows.wallets.each((id, buyS, sellS) => {
    fields.wallets.push(names.nameOf(id))
    numbers.put(buyS)
    numbers.put(sellS)
  })
  return pack(fields, numbers.finish())
}

export function restoreSmall(active: ActivePair, image: SmallImage, numbers: Float64Array, names: WalletNames): void {
  const at = restoreRings(active, image, numbers)
  for (const [n, wallet] of image.wallets.entries()) {
    const times = at + n * 2
    active.windows.wallets.set(names.idOf(wallet), numbers[times] as number, numbers[times + 1] as number)
  }
}

/** Returns where the numbers of the buckets end. */
function restoreRings({ rings }: ActivePair, image: SmallImage, numbers: Float64Array): number {
  for (const [interval, ring] of rings.entries()) {
    const before = 'rings' in image ? image.rings[interval]?.before : image.before[interval]
    if (before !== undefined) restoreBefore(ring, before)
  }
  if ('within' in image) {
    const buckets = new BucketReader(numbers)
    for (const [interval, ring] of rings.entries())
      buckets.readWithin(ring, image.within[interval] ?? 0, interval, rings[interval - 1])
    return buckets.at
  }
  const counts = 'rings' in image ? image.rings.map(({ count }) => count) : image.counts
  const buckets = 'rings' in image ? new WholeRowReader(numbers) : new BucketReader(numbers)
  for (const [interval, ring] of rings.entries()) ring.append(buckets.take(counts[interval] ?? 0))
  return buckets.at
}
