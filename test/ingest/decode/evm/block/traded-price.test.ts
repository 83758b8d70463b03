/** Pools whose reserves do not reflect their price: each trade still sets a price. */
import { expect, it } from 'vitest'
import { memoryBook } from '../../../../../services/ingest/decode/evm/block/book.js'
import { decodeBlock } from '../../../../../services/ingest/decode/evm/block/decode-block.js'
import { createRules } from '../../../../../services/ingest/decode/evm/block/decode-rules.js'
import { atBlock, nothingPrefetched } from '../../../../../services/ingest/decode/evm/block/prefetched.js'
import type { EvmLog } from '../../../../../services/ingest/decode/evm/log.js'
import { PROTOCOLS } from '../../../../../services/ingest/decode/evm/protocols.js'
import type { Venue } from '../../../../../services/ingest/decode/evm/venue.js'
import { foldLines, startFold } from '../../../../rig/aggregate/fold-lines.js'
import { Reader } from '../../../../rig/aggregate/reader.js'
import type { RecordingLine } from '../../../../rig/reference/lines.js'
import { MONDAY, MONEY } from '../../../../rig/tape.js'
import { address, FACTORY, makeLog, POOL, TOKEN0, TOKEN1, venue } from '../rig.js'

const WHO = address(0x99)
const POOL_ID = `${POOL}${'0'.repeat(24)}`
const UNIT = 10n ** 6n

type Case = {
  at: Venue
  reserves: readonly bigint[]
  log: (amountIn: bigint, amountOut: bigint, log: number) => EvmLog
}

/** Ten of token 1 for five of token 0: the price is 2, whatever the pool holds. */
const CASES: Record<string, Case> = {
  'a curve that has raised little': {
    at: venue('four-meme', { id: `${TOKEN0}_fo`, facts: { manager: FACTORY, maxOffers: `${10n ** 15n}` } }),
    reserves: [10n ** 15n, 1n],
    log: (amountIn, amountOut, log) =>
      makeLog(
        'TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)',
        [],
        [TOKEN0, WHO, 1, amountOut, amountIn, 0, 10n ** 15n - amountOut * BigInt(log + 1), amountIn * BigInt(log + 1)],
        { address: FACTORY, log },
      ),
  },
  'bins with almost only one token': {
    at: venue('liquidity-book'),
    reserves: [10n ** 12n, 100n * UNIT],
    log: (amountIn, amountOut, log) =>
      makeLog(
        'Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)',
        [WHO, WHO],
        [1, amountIn << 128n, amountOut, 0, 0, 0],
        { log: log * 2 },
      ),
  },
  'a weighted Balancer pool': {
    at: venue('balancer', { facts: { vault: FACTORY, poolId: POOL_ID } }),
    reserves: [10n ** 12n, 100n * UNIT],
    log: (amountIn, amountOut, log) =>
      makeLog('Swap(bytes32,address,address,uint256,uint256)', [POOL_ID, TOKEN1, TOKEN0], [amountIn, amountOut], {
        address: FACTORY,
        log,
      }),
  },
  'a stable pair out of balance': {
    at: venue('solidly', { facts: { stable: true } }),
    reserves: [10n ** 12n, 100n * UNIT],
    log: (amountIn, amountOut, log) =>
      makeLog('Swap(address,address,uint256,uint256,uint256,uint256)', [WHO, WHO], [0, amountIn, amountOut, 0], {
        log,
      }),
  },
  'a Curve pool out of balance': {
    at: venue('curve', { facts: { numbering: 'uint256', isCrypto: false } }),
    reserves: [10n ** 12n, 100n * UNIT],
    log: (amountIn, amountOut, log) =>
      makeLog('TokenExchange(address,int128,uint256,int128,uint256)', [WHO], [1, amountIn, 0, amountOut], { log }),
  },
}

it.each(Object.entries(CASES))('%s', (_, { at, reserves, log }) => {
  const contracts = [{ address: FACTORY, protocol: at.protocol, amm: 'test' }]
  const scope = {
    pools: new Set<string>(),
    tokens: new Set<string>(),
    amms: new Set<string>(),
    balances: 'off' as const,
  }
  const rules = createRules({
    ...{ chain: 't', money: new Set<string>(), protocols: PROTOCOLS, contracts, wrappedNative: undefined, scope },
  })
  const facts = { name: 'x', symbol: 'x', decimals: 6, totalSupply: null }
  const logs = [log(10n * UNIT, 5n * UNIT, 0), log(10n * UNIT, 4n * UNIT, 1)]
  const prefetched = {
    ...nothingPrefetched(),
    venues: new Map([[at.id, { venue: at, state: { reserves, open: null } }]]),
    tokens: new Map([TOKEN0, TOKEN1].map((token) => [token, facts])),
    reserves: new Map([1, 2].map((number) => [atBlock(number, at.id), reserves])),
  }
  const book = memoryBook()
  const lines = logs.map((one, place): RecordingLine => {
    const number = place + 1
    const block = {
      number,
      hash: `h${number}`,
      parentHash: `h${place}`,
      timeS: MONDAY,
      logs: [one],
      senders: new Map(),
    }
    const { events, lost } = decodeBlock(block, book, prefetched, rules)
    expect(lost).toEqual([])
    const links = { hash: block.hash, parent_hash: block.parentHash, time: MONDAY, finalized_number: 0 }
    return { chain: 't', number, ...links, events }
  })
  const reader = new Reader()
  for (const result of foldLines(startFold({ ...MONEY, anchor: TOKEN1 }), lines)) reader.read(result)
  expect([...reader.trades.values()].map(({ price_usd, flags }) => [price_usd, flags])).toEqual([
    [2, 0],
    [2.5, 0],
  ])
})
