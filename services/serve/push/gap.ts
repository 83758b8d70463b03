import { cursorAt, type Place } from './cursor.js'
import type { Subscription } from './hub.js'
import { subscriptionNotice } from './notices.js'
import { refillPath } from './gap-notices.js'

export type MissingRange = { from: Place; to: Place; fromS: number | undefined; toS: number | undefined }

/** Tells a subscription what it will not get, and where it can read it: one notice for each thing it asked for. */
export function gapNotices({ id, asked }: Subscription, { from, to, fromS, toS }: MissingRange): string[] {
  return asked.refills(to.chain).map((refill) =>
    subscriptionNotice({
      topic: 'gap',
      subscription: id,
      chain: to.chain,
      from: cursorAt(from),
      to: cursorAt(to),
      refill: refill === null ? null : refillPath(refill, fromS, toS),
    }),
  )
}
