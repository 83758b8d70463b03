/** Tokens of decoded blocks get the facts of their mints. */
import { describe, expect, it } from 'vitest'
import type { BalanceEvent, Event, TokenEvent } from '../../../../services/core/domain/records.js'
import { memoryBook } from '../../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../../services/ingest/decode/solana/block/decode-block.js'
import { WRAPPED_SOL } from '../../../../services/ingest/decode/solana/native-programs.js'
import { createFactsFiller, type FactsTarget } from '../../../../services/ingest/sources/solana/fill-facts.js'
import { createTokenFacts } from '../../../../services/ingest/sources/solana/token-facts.js'
import { readEvent } from '../../../../services/ingest/validate/validate-event.js'
import { createRandom } from '../../../rig/market/random.js'
import { recordedCases } from '../../../rig/recordings.js'
import { generatedTransactions } from '../../../rig/solana/generated/transactions.js'
import { key } from '../../decode/solana/anchor-calls.js'
import { rulesOf } from '../../decode/solana/block/decoded.js'
import { type RealTransaction, realTransactions } from '../../decode/solana/real-transactions.js'
import { PUMP_MINT, realAccounts, USDC } from '../../decode/solana/token/real-accounts.js'

const { signal } = new AbortController()
const kept = realAccounts()
const accounts = async (addresses: readonly string[]) => addresses.map((address) => kept.get(address) ?? null)
const newFiller = () => createFactsFiller(createTokenFacts(accounts))
const NOWHERE = key('nowhere')

type Place = readonly [tx_index: number, log_index: number, sub: number]

const at = ([tx_index, log_index, sub]: Place) => ({ tx_index, log_index, sub, tx_hash: `transaction ${tx_index}` })

function token(place: Place, mint: string, facts: Partial<TokenEvent> = {}): TokenEvent {
  const nothing = { name: null, symbol: null, decimals: null, total_supply: null }
  return { type: 'token', ...at(place), token: mint, ...nothing, ...facts }
}

function balance(place: Place): BalanceEvent {
  return { type: 'balance', ...at(place), token: USDC, holder: NOWHERE, delta: null, balance: '1' }
}

async function filled(...events: Event[]): Promise<Event[]> {
  const block = { events }
  await newFiller().fill([block], signal)
  return block.events
}

it('fills in missing facts, and adds further ones after the instruction’s last event without moving it', async () => {
  const [filledToken, other, meta, next] = await filled(token([3, 1, 0], USDC), balance([3, 1, 1]), balance([3, 2, 0]))
  expect(filledToken).toEqual(
    token([3, 1, 0], USDC, { name: 'USD Coin', symbol: 'USDC', decimals: 6, total_supply: '8436442105182029' }),
  )
  expect(other).toEqual(balance([3, 1, 1]))
  const owner = 'BJE5MMbqXjVwjAF7oxwPYXnTXDyspzZyt4vwenNw5ruG'
  const expected = {
    total_supply: null,
    owner,
    logo_url: null,
    links: null,
    holders_complete: null,
    risk: expect.any(String),
  }
  expect(meta).toEqual({ type: 'meta', ...at([3, 1, 2]), token: USDC, ...expected })
  expect(JSON.parse(meta?.type === 'meta' ? (meta.risk ?? '') : '')).toMatchObject({ is_mintable: 1 })
  expect(next).toEqual(balance([3, 2, 0]))
})

it('adds the metadata URI to the links', async () => {
  const [, meta] = await filled(token([0, 0, 0], PUMP_MINT))
  const metadata_uri = 'https://ipfs.io/ipfs/QmNnswE3ms7rLmUyg2knMZcowkVvxeLnaPE7M7cGRYRBt5'
  expect(meta).toMatchObject({ type: 'meta', owner: null, links: JSON.stringify({ metadata_uri }) })
})

it('drops a URI that cannot be opened', async () => {
  const facts = { name: null, symbol: null, decimals: 1, totalSupply: 1n, owner: null, risk: {} }
  const linksOf = async (uri: string) => {
    const block: FactsTarget = { events: [token([0, 0, 0], USDC)] }
    await createFactsFiller({ of: async () => new Map([[USDC, { ...facts, uri }]]) }).fill([block], signal)
    const meta = block.events[1]
    return meta?.type === 'meta' ? meta.links : undefined
  }
  expect(await linksOf('javascript:alert(1)')).toBeNull()
  expect(await linksOf('https://two words.example')).toBeNull()
  expect(await linksOf('ipfs://QmNnswE3ms7rLmUyg2knMZcowkVvxeLnaPE7M7cGRYRBt5')).not.toBeNull()
})

it('leaves a token unchanged if it is no longer a mint', async () => {
  expect(await filled(token([0, 0, 0], NOWHERE))).toEqual([token([0, 0, 0], NOWHERE)])
})

it('keeps the name from the token’s own program, in this block and later, unless it is blank', async () => {
  const [filler, own] = [newFiller(), { name: 'As created', symbol: 'OWN', decimals: 6 }]
  const blocks: FactsTarget[] = [
    { events: [token([0, 0, 0], PUMP_MINT, own), token([1, 0, 0], USDC, { name: ' ', symbol: '' })] },
    { events: [token([0, 0, 0], PUMP_MINT)] },
  ]
  await filler.fill(blocks, signal)
  const later: FactsTarget = { events: [token([0, 0, 0], PUMP_MINT)] }
  await filler.fill([later], signal)
  const tokens = [...blocks, later].flatMap(({ events }) => events).filter((event) => event.type === 'token')
  expect(tokens.map(({ name, symbol, total_supply }) => [name, symbol, total_supply])).toEqual([
    ['As created', 'OWN', '2000000000000000'],
    ['USD Coin', 'USDC', '8436442105182029'],
    ['As created', 'OWN', '2000000000000000'],
    ['As created', 'OWN', '2000000000000000'],
  ])
})

it('fills a token published twice in a block once', async () => {
  const events = await filled(token([0, 0, 0], USDC), token([0, 4, 0], USDC, { decimals: 6 }))
  expect(events.map(({ type, log_index, sub }) => [type, log_index, sub])).toEqual([
    ['token', 0, 0],
    ['meta', 0, 1],
    ['token', 4, 0],
  ])
})

it('passes on a node’s error and changes no event', async () => {
  const broken = new Error('the node is away')
  const filler = createFactsFiller(createTokenFacts(() => Promise.reject(broken)))
  const block = { events: [token([0, 0, 0], USDC)] }
  await expect(filler.fill([block], signal)).rejects.toBe(broken)
  expect(block.events).toEqual([token([0, 0, 0], USDC)])
})

it('requests nothing for blocks without tokens', async () => {
  const filler = createFactsFiller(createTokenFacts(() => Promise.reject(new Error('asked'))))
  await filler.fill([{ events: [balance([0, 0, 0])] }, { events: [] }], signal)
})

it('for any blocks in any batches: events stay sorted, unique, complete and valid', async () => {
  const random = createRandom(5)
  for (let n = 0; n < 80; n += 1) {
    const blocks = Array.from({ length: random.int(1, 4) }, () => anyBlock())
    const before = structuredClone(blocks)
    const oneByOne = structuredClone(blocks)
    await newFiller().fill(blocks, signal)
    const filler = newFiller()
    for (const block of oneByOne) await filler.fill([block], signal)
    expect(oneByOne).toEqual(blocks)
    for (const [place, { events }] of blocks.entries()) {
      const keys = events.map(({ tx_index, log_index, sub }) => (tx_index * 100 + log_index) * 100 + sub)
      expect(keys).toEqual([...new Set(keys)].sort((one, other) => one - other))
      const old = events
        .filter(({ type }) => type !== 'meta')
        .map(({ type, tx_index, log_index, sub }) => [type, tx_index, log_index, sub])
      expect(old).toEqual(
        before[place]?.events.map(({ type, tx_index, log_index, sub }) => [type, tx_index, log_index, sub]),
      )
      for (const event of events) expect(readEvent(event, 'solana').ok).toBe(true)
    }
  }

  function anyBlock(): FactsTarget {
    const events: Event[] = []
    for (let tx = 0; tx < random.int(0, 4); tx += 1)
      for (let log = 0; log < random.int(0, 4); log += 1)
        for (let sub = 0; sub < random.int(1, 4); sub += 1) {
          const place = [tx, log, sub] as const
          const mint = random.pick([USDC, PUMP_MINT, NOWHERE])
          const event = random.chance(0.5)
            ? balance(place)
            : token(place, mint, random.chance(0.2) ? { name: 'Own' } : {})
          events.push({ ...event, tx_hash: `transaction-${tx}` })
        }
    return { events }
  }
})

const SETS: readonly (readonly [kind: string, read: () => readonly RealTransaction[]])[] = [
  ['generated', () => generatedTransactions()],
  ...recordedCases('transactions as one block', 1, () => [['recorded', realTransactions] as const]),
]

describe('transactions as one block', () => {
  it.each(SETS)('%s ones keep all their events, except for the facts of their tokens', async (_, read) => {
    const transactions = read().map(({ value }, index) => ({ index, value }))
    const decode = () => decodeSolanaBlock(1, transactions, memoryBook(), rulesOf({ balances: 'all' })).events
    const [before, block] = [decode(), { events: decode() }]
    // As if all mints were alike: with USDC's authorities, each without metadata.
    const usdc = kept.get(USDC) ?? null
    const mints = new Set(before.flatMap((event) => (event.type === 'token' ? [event.token] : [])))
    const alike = async (addresses: readonly string[]) => addresses.map((address) => (mints.has(address) ? usdc : null))
    await createFactsFiller(createTokenFacts(alike)).fill([block], signal)
    const otherEvents = (events: readonly Event[]) => events.filter(({ type }) => type !== 'meta' && type !== 'token')
    expect(otherEvents(block.events)).toEqual(otherEvents(before))
    const tokens = block.events.filter((event) => event.type === 'token')
    expect(tokens.map(({ name }) => name)).toEqual(
      before.flatMap((event) => (event.type === 'token' ? [event.name] : [])),
    )
    expect(tokens.some(({ name }) => name !== null)).toBe(true)
    expect(tokens.filter(({ total_supply }) => total_supply === null).map(({ token }) => token)).toEqual([WRAPPED_SOL])
    expect(block.events.filter(({ type }) => type === 'meta')).toHaveLength(mints.size)
    const keys = block.events.map(({ tx_index, log_index, sub }) => (tx_index * 1000 + log_index) * 1000 + sub)
    expect(keys).toEqual([...new Set(keys)].sort((one, other) => one - other))
    for (const event of block.events) expect(readEvent(event, 'solana')).toEqual({ ok: true, event })
  })
})
