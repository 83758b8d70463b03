/** A rarely traded pair in a checkpoint: all its buckets and wallets as one value. */
import type { ActivePair } from '../state/pairs.js'
import type { WalletNames } from '../state/wallets.js'
import { BucketWriter, readBuckets, readWholeBuckets } from './bucket-image.js'
import { pack } from './state-store.js'
import { restoreBefore, storedCloses } from './windows-image.js'

type Closes = (number | null)[]

/** `before`: closes before a ring's first bucket, by interval, where there are any. */
type DifferentRows = { counts: number[]; before: Record<number, Closes>; wallets: string[] }
/** As written at first: every row whole. */
type WholeRows = { rings: { count: number; before: Closes }[]; wallets: string[] }
export type SmallImage = DifferentRows | WholeRows

export function smallImage({ rings, windows }: ActivePair, names: WalletNames): Uint8Array {
  const fields: DifferentRows = { counts: [], before: {}, wallets: [] }
  const buckets = new BucketWriter(rings.reduce((sum, { count }) => sum + count, 0))
  for (const [interval, ring] of rings.entries()) {
    fields.counts.push(ring.count)
    const closes = storedCloses(ring)
    if (closes.some((close) => close !== null)) fields.before[interval] = closes
    buckets.add(ring, 0, ring.count)
  }
  const times: number[] = []
  windows.wallets.each((id, buyS, sellS) => {
    fields.wallets.push(names.nameOf(id))
    times.push(buyS, sellS)
  })
  return pack(fields, buckets.finish(), Float64Array.from(times))
}

export function restoreSmall(active: ActivePair, image: SmallImage, numbers: Float64Array, names: WalletNames): void {
  const isWhole = 'rings' in image
  const buckets = isWhole ? readWholeBuckets(numbers) : readBuckets(numbers)
  for (const [interval, ring] of active.rings.entries()) {
    const before = isWhole ? image.rings[interval]?.before : image.before[interval]
    if (before !== undefined) restoreBefore(ring, before)
    ring.append(buckets.take((isWhole ? image.rings[interval]?.count : image.counts[interval]) ?? 0))
  }
  for (const [n, wallet] of image.wallets.entries()) {
    const at = buckets.at + n * 2
    active.windows.wallets.set(names.idOf(wallet), numbers[at] as number, numbers[at + 1] as number)
  }
}
