/** Which tokens are checked at a block, and in which pool. */
import { expect, test } from 'vitest'
import type { Event } from '../../../../../services/core/domain/records.js'
import { memoryBook } from '../../../../../services/ingest/decode/evm/block/book.js'
import { createRules } from '../../../../../services/ingest/decode/evm/block/decode-rules.js'
import { planChecks } from '../../../../../services/ingest/decode/evm/block/risk-checks.js'
import { PROTOCOLS } from '../../../../../services/ingest/decode/evm/protocols.js'
import { address, makeLog } from '../rig.js'

const [MONEY, OTHER_MONEY, COIN, CAT] = [address(0xe7), address(0xe8), address(0xc0), address(0xca)]
const scope = { pools: new Set<string>(), tokens: new Set<string>(), amms: new Set<string>(), balances: 'off' as const }
const rules = createRules({
  ...{ chain: 'eth', scope, protocols: PROTOCOLS, contracts: [], wrappedNative: MONEY },
  money: new Set([MONEY, OTHER_MONEY]),
})
const RISK = { checksPerMinute: 4, recheckS: 100 }

function world() {
  const book = memoryBook()
  const pool = (
    name: number,
    tokens: readonly string[],
    reserves: bigint[] | null,
    protocol = 'uniswap-v2',
  ): string => {
    const id = address(name)
    const venue = { id, protocol, amm: 'x', tokens, fee: 3000, creator: null }
    book.putVenue(id, { venue, state: { reserves }, pairs: [id], funded: true })
    for (const token of tokens) book.putToken(token, { traded: true })
    return id
  }
  /** Plans a block in which these pools trade and these tokens' contracts report a new owner. */
  const plan = (timeS: number, pools: readonly string[], changed: readonly string[] = [], isLive = true) => {
    const events = pools.map((id) => ({ type: 'swap', pool: id }) as Event)
    const signature = 'OwnershipTransferred(address,address)'
    const logs = changed.map((token) => ({ ...makeLog(signature, [address(1), address(2)], []), address: token }))
    return planChecks({ timeS, logs }, events, book, rules, RISK, isLive)
  }
  return { pool, plan }
}

test('a token is checked when it first trades, then after a while, and not in between', () => {
  const { pool, plan } = world()
  const id = pool(1, [COIN, MONEY], [50n, 7n])
  const found = { pool: id, kind: 'v2', quote: MONEY, fee: 3000, quoteReserve: 7n, tokenReserve: 50n }
  expect(plan(1000, [id, id])).toEqual([{ token: COIN, pool: found, positions: null }])
  expect(plan(1099, [id])).toEqual([])
  expect(plan(1100, [id])).toHaveLength(1)
})

test('the pool with most of the token is used, wherever it trades now', () => {
  const { pool, plan } = world()
  const [shallow, deep] = [pool(1, [COIN, MONEY], [50n, 7n]), pool(2, [OTHER_MONEY, COIN], [9n, 51n], 'uniswap-v3')]
  expect(plan(1000, [shallow, deep])[0]?.pool).toMatchObject({
    pool: deep,
    kind: 'v3',
    quote: OTHER_MONEY,
    quoteReserve: 9n,
  })
  expect(plan(1100, [shallow])[0]?.pool?.pool).toBe(deep)
})

test('a token without a usable pool is checked without a trial: unknown reserves, no money, another exchange', () => {
  const { pool, plan } = world()
  const pools = [
    pool(1, [COIN, MONEY], null),
    pool(2, [COIN, CAT], [1n, 1n]),
    pool(3, [COIN, MONEY], [1n, 1n], 'liquidity-book'),
  ]
  expect(plan(1000, pools)).toEqual([
    { token: COIN, pool: null, positions: null },
    { token: CAT, pool: null, positions: null },
  ])
})

test('pools of several coins are tried against their money', () => {
  const { pool, plan } = world()
  const id = pool(1, [CAT, COIN, OTHER_MONEY], [3n, 4n, 5n], 'curve')
  const found = { pool: id, kind: 'curve', quote: OTHER_MONEY, fee: 3000, quoteReserve: 5n, quotePlace: 2 }
  expect(plan(1000, [id])).toEqual([
    { token: CAT, pool: { ...found, tokenReserve: 3n, tokenPlace: 0 }, positions: null },
    { token: COIN, pool: { ...found, tokenReserve: 4n, tokenPlace: 1 }, positions: null },
  ])
})

test('money is not checked', () => {
  const { pool, plan } = world()
  expect(plan(1000, [pool(1, [MONEY, OTHER_MONEY], [5n, 5n])], [MONEY])).toEqual([])
})

test('a reported change is checked at once, also without a trade, and of tokens that trade alone', () => {
  const { pool, plan } = world()
  const id = pool(1, [COIN, MONEY], [50n, 7n])
  plan(1000, [id])
  expect(plan(1001, [], [COIN, CAT])).toMatchObject([{ token: COIN, pool: { pool: id } }])
})

test('a minute has a budget; repeated checks get half of it, changes that did not fit are caught up', () => {
  const { pool, plan } = world()
  const pools = [0xc1, 0xc2, 0xc3, 0xc4, 0xc5].map((coin, place) => pool(place + 1, [address(coin), MONEY], [50n, 7n]))
  expect(plan(1020, pools)).toHaveLength(4)
  expect(plan(1021, pools, [address(0xc1)])).toHaveLength(0)
  const next = plan(1080, pools).map(({ token }) => token)
  expect(next).toEqual([address(0xc1), address(0xc5)])
  expect(plan(1200, pools)).toHaveLength(2)
})

test('history is not checked: its tokens are when they trade next', () => {
  const { pool, plan } = world()
  const id = pool(1, [COIN, MONEY], [50n, 7n])
  expect(plan(1000, [id], [], false)).toEqual([])
  expect(plan(1001, [id])).toHaveLength(1)
  expect(plan(1002, [id], [COIN], false)).toEqual([])
  expect(plan(1003, [id])).toHaveLength(1)
})
