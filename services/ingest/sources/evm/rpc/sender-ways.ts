/**
 * Which way to ask for senders. Some nodes recover a signature for each transaction they show and have the sender ready in its
 * receipt (ten times quicker, measured on anvil); others are quicker with whole blocks. So each way is tried, and the quickest kept.
 */

export type SenderWay = 'transaction' | 'receipt' | 'block'

export interface SenderWays {
  choose(count: number, hasWhole: boolean): SenderWay
  took(way: SenderWay, count: number, ms: number): void
  /** The nodes do not take it. True: there is another. */
  refused(way: SenderWay): boolean
  isRefused(way: SenderWay): boolean
}

const WAYS: readonly SenderWay[] = ['transaction', 'receipt', 'block']
/** Fewer say nothing: the way there takes longer than the work. */
const TELLING_COUNT = 50
const SHARE_OF_NEW = 0.3
/** Receipts are the largest answers: they must be clearly quicker. */
const HANDICAP: Record<SenderWay, number> = { transaction: 1, receipt: 1.3, block: 1 }
const TRY_AGAIN_AFTER = 200

export function createSenderWays(): SenderWays {
  const msEach = new Map<SenderWay, number>()
  const refused = new Set<SenderWay>()
  let jobs = 0
  const cost = (way: SenderWay) => (msEach.get(way) ?? Number.POSITIVE_INFINITY) * HANDICAP[way]
  const best = (among: readonly SenderWay[]) =>
    among.reduce((one, other) => (cost(other) < cost(one) ? other : one), among[0] as SenderWay)
  return {
    choose(count, hasWhole) {
      const among = WAYS.filter((way) => !refused.has(way) && (hasWhole || way !== 'block'))
      if (count < TELLING_COUNT)
        return hasWhole && !msEach.has('block') && cost('transaction') === Number.POSITIVE_INFINITY
          ? 'block'
          : best(among)
      const untried = among.find((way) => !msEach.has(way))
      if (untried !== undefined) return untried
      const first = best(among)
      // What was slow once may have been so by chance.
      const others = among.filter((way) => way !== first)
      return ++jobs % TRY_AGAIN_AFTER === 0 && others.length > 0 ? best(others) : first
    },
    took(way, count, ms) {
      if (count < TELLING_COUNT) return
      const known = msEach.get(way)
      const each = ms / count
      msEach.set(way, known === undefined ? each : known + (each - known) * SHARE_OF_NEW)
    },
    refused(way) {
      refused.add(way)
      return !(refused.has('transaction') && refused.has('receipt'))
    },
    isRefused: (way) => refused.has(way),
  }
}
