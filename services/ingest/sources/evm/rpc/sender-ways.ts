/**
 * Which way to ask for senders. Some nodes recover a signature for each transaction they show and have the sender ready in its
 * receipt (ten times quicker, measured on anvil); others are quicker with whole blocks. So each way is tried on a few, and the
 * quickest kept.
 */

export type SenderWay = 'transaction' | 'receipt' | 'block'

export interface SenderWays {
  /** One that should be tried on a few transactions; undefined: all are known. */
  untried(hasWhole: boolean): SenderWay | undefined
  best(hasWhole: boolean): SenderWay
  took(way: SenderWay, count: number, ms: number): void
  /** The nodes do not take it. True: there is another. */
  refused(way: SenderWay): boolean
  isRefused(way: SenderWay): boolean
}

const WAYS: readonly SenderWay[] = ['transaction', 'receipt', 'block']
/** Fewer say nothing: the way there takes longer than the work. */
export const TELLING_COUNT = 50
const SHARE_OF_NEW = 0.3
/** One by one, each is a request to make and an answer to read here: they must be clearly quicker. Receipts are the largest answers. */
const HANDICAP: Record<SenderWay, number> = { transaction: 2, receipt: 2.5, block: 1 }
/** What was slow once may have been so by chance. */
const TRY_AGAIN_AFTER = 500

export function createSenderWays(): SenderWays {
  const msEach = new Map<SenderWay, number>()
  const refused = new Set<SenderWay>()
  let jobs = 0
  const cost = (way: SenderWay) => (msEach.get(way) ?? Number.POSITIVE_INFINITY) * HANDICAP[way]
  const among = (hasWhole: boolean) => WAYS.filter((way) => !refused.has(way) && (hasWhole || way !== 'block'))

  function best(hasWhole: boolean): SenderWay {
    if (msEach.size === 0 && hasWhole && !refused.has('block')) return 'block'
    return among(hasWhole).reduce((one, other) => (cost(other) < cost(one) ? other : one))
  }

  return {
    untried: (hasWhole) => among(hasWhole).find((way) => !msEach.has(way)),
    best,
    took(way, count, ms) {
      if (count < TELLING_COUNT) return
      const known = msEach.get(way)
      const each = ms / count
      msEach.set(way, known === undefined ? each : known + (each - known) * SHARE_OF_NEW)
      if (++jobs % TRY_AGAIN_AFTER === 0) for (const other of WAYS) if (other !== way) msEach.delete(other)
    },
    refused(way) {
      refused.add(way)
      return !(refused.has('transaction') && refused.has('receipt'))
    },
    isRefused: (way) => refused.has(way),
  }
}
