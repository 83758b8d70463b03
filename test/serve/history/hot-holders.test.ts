/** The largest holders from memory are those of the store, through changes, epochs and deleted rows, with few queries. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { rowVersion } from '../../../services/core/store/tables.js'
import type { Balance } from '../../../services/serve/history/balances.js'
import { createHotHistory } from '../../../services/serve/history/hot/hot-history.js'
import { compareBalances, SortedBalances } from '../../../services/serve/history/hot/sorted-balances.js'
import { readTopHolders } from '../../../services/serve/history/top-holders.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain, trimFlushed } from '../../../services/serve/memory/served-chain.js'
import { row, storeOfFile } from '../rig.js'
import { firstUpdate, PAIR, pairUpdate, TOKEN, tokenUpdate, trade, update, WETH } from '../updates.js'

const store = storeOfFile('hot-holders')
const MAX_BYTES = 1_000_000
let chains = 0

/** A chain of its own for each test. */
function setUp(holdMs = 0) {
  const chain = `chain${++chains}`
  const state = createServedChain(chain)
  const queries: string[] = []
  const counted = {
    query: <Row>(sql: string, params?: Record<string, unknown>) => {
      queries.push(/SELECT (\w+)/.exec(sql)?.[1] ?? '')
      return store().query<Row>(sql, params)
    },
  }
  const clock = { ms: 0 }
  const flush = async () => {}
  const hold = { holdMs, nowMs: () => clock.ms }
  const hot = createHotHistory({ cheap: counted, dear: counted }, flush, { maxBytes: MAX_BYTES, ...hold })

  function apply(given: BlockUpdate): void {
    const outcome = applyUpdate(state, { ...given, chain }, 0)
    if (outcome.kind === 'applied') hot.apply(outcome.applied)
  }
  /** Stores balances as of an update, and tells memory that it is stored. */
  async function put(balances: Record<string, number>, seq: number, epoch = 1): Promise<void> {
    const rows = Object.entries(balances).map(([holder, balance]) =>
      row('holder_rows', {
        ...{ chain, token: TOKEN, holder, balance: String(balance), updated_at: 1, version: rowVersion(epoch, seq) },
        is_deleted: 0,
      }),
    )
    await store().insert('holder_rows', rows.join(''))
    trimFlushed(state, { epoch, seq })
  }
  /** From memory, and that it is what the store alone gives. */
  async function holders(native?: string): Promise<Record<string, number>> {
    const found = await hot.holders(state, TOKEN, native)
    const lanes = { cheap: store(), dear: store() }
    const expected = await readTopHolders(lanes, flush, state, TOKEN)
    expect({ balances: found.balances, trades: found.trades }).toEqual(expected)
    return Object.fromEntries(found.balances.map(({ holder, balanceRaw }) => [holder, Number(balanceRaw)]))
  }
  const asked = () => queries.splice(0)
  apply(firstUpdate())
  return { chain, state, hot, clock, apply, put, holders, asked }
}

const changed = (seq: number, given: Partial<BlockUpdate> = {}) =>
  update({ seq, number: 100 + seq, tokens: [tokenUpdate({ info: null })], ...given })

it('asks the store nothing until an update changes the token', async () => {
  const { put, holders, asked, apply } = setUp()
  await put({ ann: 5, ben: 70 }, 1)
  expect(await holders()).toEqual({ ben: 70, ann: 5 })
  expect(asked()).toEqual(['holder', 'toUInt32'])
  apply(changed(2, { tokens: [tokenUpdate({ token: WETH })] }))
  expect(await holders()).toEqual({ ben: 70, ann: 5 })
  expect(asked()).toEqual([])
})

it('reads only what changed, and the trades of those who traded or are new', async () => {
  const { put, holders, asked, apply } = setUp()
  await put({ ann: 5, ben: 70 }, 1)
  await holders()
  asked()
  apply(changed(2))
  await put({ ann: 80 }, 2)
  expect(await holders()).toEqual({ ann: 80, ben: 70 })
  expect(asked()).toEqual(['token'])
  const trades = [trade({ wallet: 'ben' }), trade({ wallet: 'eve', log_index: 8 })]
  apply(changed(3, { pairs: [pairUpdate({ pair: PAIR, info: null, trades })] }))
  await put({ ben: 60, cy: 1 }, 3)
  expect(await holders()).toEqual({ ann: 80, ben: 60, cy: 1 })
  expect(asked()).toEqual(['token', 'toUInt32'])
})

it('reads all again once too many holders have left', async () => {
  const { put, holders, asked, apply } = setUp()
  const names = Array.from({ length: 400 }, (_, at) => [`h${at}`, 1_000 + at])
  await put(Object.fromEntries(names), 1)
  await holders()
  asked()
  apply(changed(2))
  await put(Object.fromEntries(names.slice(-150).map(([name]) => [name, 0])), 2)
  expect(Object.keys(await holders())).toEqual(Array.from({ length: 100 }, (_, at) => `h${249 - at}`))
  expect(asked()).toEqual(['token', 'holder', 'toUInt32'])
})

it('forgets rows of an older epoch when they are deleted, which leaves no newer row', async () => {
  const { chain, put, holders, apply } = setUp()
  await put({ ann: 5, ben: 70 }, 1)
  await holders()
  apply(changed(1, { epoch: 2, tokens: [tokenUpdate()], pairs: [pairUpdate()] }))
  await put({ ann: 6 }, 1, 2)
  expect(await holders()).toEqual({ ann: 6, ben: 70 })
  await store().command(`DELETE FROM holder_rows WHERE chain = '${chain}' AND version < ${rowVersion(2, 0)}`)
  apply(changed(2, { epoch: 2 }))
  await put({}, 2, 2)
  expect(await holders()).toEqual({ ann: 6 })
})

it('keeps nothing after missing updates until the store has them', async () => {
  const { put, holders, apply, asked } = setUp()
  await put({ ann: 5 }, 1)
  await holders()
  apply(changed(4))
  await put({ ann: 7 }, 2)
  expect(await holders()).toEqual({ ann: 7 })
  await put({ ann: 8 }, 4)
  expect(await holders()).toEqual({ ann: 8 })
  asked()
  expect(await holders()).toEqual({ ann: 8 })
  expect(asked()).toEqual([])
})

it('reads trades again of all holders after a reorg', async () => {
  const { put, holders, apply, asked } = setUp()
  await put({ ann: 5, ben: 70 }, 1)
  await holders()
  asked()
  apply(changed(2, { kind: 'retract', number: 99 }))
  await put({ ben: 60 }, 2)
  expect(await holders()).toEqual({ ben: 60, ann: 5 })
  expect(asked()).toEqual(['token', 'toUInt32'])
})

it('tells when another reading may give more: after a second, or once it was read for another answer', async () => {
  const { chain, state, hot, clock, put, apply } = setUp(1_000)
  await put({ ann: 5 }, 1)
  const first = await hot.holders(state, TOKEN, WETH)
  expect(first.natives).toEqual(new Map())
  clock.ms = 5_000
  expect(first.isCurrent()).toBe(true)
  apply(changed(2))
  expect(first.isCurrent()).toBe(false)
  const second = await hot.holders(state, TOKEN, WETH)
  expect([first.isCurrent(), second.isCurrent(), state.chain]).toEqual([false, true, chain])
  clock.ms = 6_000
  expect(second.isCurrent()).toBe(false)
})

it('keeps any balances sorted as sorting all of them would', () => {
  const raw = fc.oneof(fc.nat(30).map(String), fc.constantFrom('-5', '100000000000000000000', '99999999999999999999'))
  const balance = fc.record({ holder: fc.nat(25).map((n) => `h${n}`), balanceRaw: raw })
  fc.assert(
    fc.property(fc.array(balance, { maxLength: 40 }), fc.array(fc.array(balance), { maxLength: 8 }), (start, steps) => {
      const all = new Map<string, Balance>()
      const sorted = () =>
        [...all.values()].filter(({ balanceRaw }) => BigInt(balanceRaw) > 0n).sort((a, b) => compareBalances(a, b))
      for (const one of start) all.set(one.holder, one)
      const kept = new SortedBalances(sorted().slice(0, 6), sorted().length < 6, 6)
      for (const step of steps) {
        const changes = new Map(step.map((one) => [one.holder, one]))
        for (const one of changes.values()) all.set(one.holder, one)
        kept.apply([...changes.values()])
        for (const count of [1, 3]) {
          const first = kept.first(count)
          if (first !== undefined) expect(first).toEqual(sorted().slice(0, count))
          else expect(kept.size).toBeLessThan(count)
        }
      }
    }),
  )
})
