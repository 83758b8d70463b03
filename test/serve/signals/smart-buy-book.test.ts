/** Followed update by update, with reorgs and late rankings, the book has the signals that a recomputation finds. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { smartBuys } from '../../../services/serve/signals/signal-rules.js'
import { type SmartBuy, SmartBuyBook, smartDayOf } from '../../../services/serve/signals/smart-buy-book.js'
import { DAY_S } from '../updates.js'

const SMART_OF_DAY = [
  ['ann', 'ben', 'cy', 'dan'],
  ['ben', 'cy', 'dan', 'eve'],
] as const
const wallets = (dayS: number) => [...(dayS < DAY_S ? SMART_OF_DAY[0] : SMART_OF_DAY[1])]

const buy = fc.record({
  wallet: fc.constantFrom('ann', 'ben', 'cy', 'dan', 'eve', 'fay'),
  token: fc.constantFrom('t0', 't1'),
  pool: fc.constantFrom('a', 'b'),
})
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      seconds: fc.integer({ min: 0, max: 200 }),
      buys: fc.array(buy, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retract' as const), depth: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rank' as const) }) },
)

it('has the signals of a recomputation after every step', () => {
  let found = 0
  const property = fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
    const book = new SmartBuyBook()
    const blocks: SmartBuy[][] = []
    let timeS = DAY_S - 1_500
    const rankAll = () => [DAY_S - 86_400, DAY_S].map((dayS) => book.rank(dayS, wallets(dayS)))
    for (const one of steps) {
      if (one.kind === 'rank') rankAll()
      else if (one.kind === 'retract') {
        for (const gone of blocks.splice(-one.depth).flat()) book.remove(gone.pair, [gone.id])
      } else {
        timeS += one.seconds
        const blockNumber = blocks.length + 1
        const made = one.buys.map(({ wallet, token, pool }, n) => ({
          ...{ wallet, token, pair: `${token}${pool}`, id: `${blockNumber}-${n}` },
          ...{ timeS, blockNumber, tx_index: n, log_index: n, sub: 0 },
        }))
        blocks.push(made)
        book.add(made)
      }
    }
    rankAll()
    const all = blocks.flat()
    const smart = all.filter((made) => wallets(smartDayOf(made.timeS)).includes(made.wallet as never))
    const expected = smartBuys(smart).map(({ last }) => `${last.pair} ${last.id}`)
    const got = all
      .filter(({ token, pair, id }) => book.isSignal(token, pair, id))
      .map(({ pair, id }) => `${pair} ${id}`)
    expect(got).toEqual(expected)
    found += expected.length
  })
  fc.assert(property, { numRuns: 200, seed: 23 })
  expect(found).toBeGreaterThan(50)
})
