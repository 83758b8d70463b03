import { describe, expect, test } from 'vitest'
import { normalAddress } from '../../services/core/domain/chains.js'
import { deliverTwice, generateRecording, withoutOrphans } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { differences } from '../rig/reference/compare.js'
import { isRetract, type RecordingBlock, type RecordingEvent, type RecordingLine } from '../rig/reference/lines.js'
import { type Reference, recompute } from '../rig/reference/recompute.js'

const retracts = { probability: 0.06, maxDepth: 20 }
const runs = (['eth', 'bsc', 'solana', 'lonely'] as const).map((chain, at) => {
  const lines = generateRecording({ seed: 20 + at, chain, blocks: 350, options: { retracts } })
  return { chain, lines, reference: recompute(lines, marketMoney(chain)) }
})
const blocksOf = (lines: RecordingLine[]): RecordingBlock[] =>
  lines.filter((line) => !isRetract(line)) as RecordingBlock[]
const eventsOf = (lines: RecordingLine[]): RecordingEvent[] => blocksOf(lines).flatMap((block) => block.events)

describe('the generator', () => {
  test('the same seed gives the same lines, another seed gives others', () => {
    const text = (seed: number) =>
      JSON.stringify(generateRecording({ seed, chain: 'eth', blocks: 80, options: { retracts } }))
    expect(text(7)).toBe(text(7))
    expect(text(7)).not.toBe(text(8))
  })
  test.each(runs)('$chain: every line links, events are in order, nothing final is retracted', ({ chain, lines }) => {
    let finalized = 0
    for (const line of lines) {
      if (isRetract(line)) {
        expect(line.to_number).toBeGreaterThanOrEqual(finalized)
        continue
      }
      finalized = Math.max(finalized, line.finalized_number)
      expect(line.finalized_number).toBe(line.number - 24)
      const places = line.events.map((event) => event.tx_index * 1e8 + event.log_index * 1e4 + (event.sub ?? 0))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      if (chain !== 'solana') {
        const logs = line.events.map((event) => event.log_index)
        expect(logs).toEqual(logs.toSorted((a, b) => a - b))
      }
    }
    expect(blocksOf(withoutOrphans(lines))).toHaveLength(350)
  })
  test.each(runs)('$chain: addresses and hashes have the chain’s format', ({ chain, lines }) => {
    const shape = chain === 'solana' ? /^[1-9A-HJ-NP-Za-km-z]{32,44}$/ : /^0x[0-9a-f]{40}$/
    for (const event of eventsOf(lines)) {
      const address = 'pool' in event && event.pool ? event.pool : 'token' in event ? event.token : ''
      expect(address).toMatch(shape)
      expect(normalAddress(marketMoney(chain).family, address)).toBe(address)
    }
    for (const block of blocksOf(lines)) expect(block.hash).toMatch(chain === 'solana' ? shape : /^0x[0-9a-f]{64}$/)
  })
  test.each(runs)('$chain: orphaned and repeated blocks do not affect the reference', ({ chain, lines, reference }) => {
    expect(lines.some(isRetract)).toBe(true)
    expect(differences(recompute(withoutOrphans(lines), marketMoney(chain)), reference)).toEqual([])
    expect(differences(recompute(deliverTwice(lines), marketMoney(chain)), reference)).toEqual([])
  })
})

describe.each(runs)('edge cases on $chain', ({ chain, lines, reference }) => {
  const money = marketMoney(chain)
  const events = eventsOf(withoutOrphans(lines))
  const blocks = blocksOf(withoutOrphans(lines))
  const symbolOf = (token: string): string | null => reference.tokens.get(token)?.symbol ?? null
  const tokenNamed = (symbol: string) => [...reference.tokens.values()].find((token) => token.symbol === symbol)
  const quoteOfMain = (symbol: string): string | null => {
    const main = reference.pairs.get(tokenNamed(symbol)?.main_pair ?? '')
    return main === undefined ? null : symbolOf(main.quote_token)
  }
  const changesOf = (symbol: string) => reference.mainPairChanges.filter(({ token }) => symbolOf(token) === symbol)

  test('all flags, and both valid and invalid combinations of them', () => {
    expect(new Set(reference.trades.map(({ flags }) => flags))).toEqual(new Set([0, 1, 2, 3, 4, 5]))
  })
  test('dead letters of both kinds', () => {
    expect(new Set(reference.dead.map(({ reason }) => reason))).toEqual(new Set(['pool_unknown', 'pool_mismatch']))
  })
  test('a stablecoin that loses its peg', () => {
    const rates = reference.trades
      .filter(({ pair }) => reference.pairs.get(pair)?.quote_token === money.stables[0])
      .map(({ quote_usd }) => quote_usd)
    expect(Math.min(...rates)).toBeLessThan(0.96)
    expect(Math.max(...rates)).toBeGreaterThan(0.99)
  })
  test('native priced by a median and by the deepest pool', () => {
    const counts = liveReferencePools(reference, money.native ?? '', blocks)
    expect(counts.some((count) => count >= 3)).toBe(true)
    expect(counts.some((count) => count === 1 || count === 2)).toBe(true)
  })
  test('main pairs that change, and change back', () => {
    expect(changesOf('MEME').length).toBeGreaterThan(3)
    expect(reference.mainPairChanges.some(({ new_pair }) => new_pair === null)).toBe(true)
  })
  test('price paths of several hops, a loop with an exit, a worthless quote token', () => {
    expect(tokenNamed('DEEPER')?.price_usd).toBeGreaterThan(0)
    expect([quoteOfMain('LOOPA'), quoteOfMain('LOOPB')]).not.toEqual(['LOOPB', 'LOOPA'])
    expect(tokenNamed('LOOPA')?.price_usd).toBeGreaterThan(0)
    const fake = [...reference.pairs.values()].find(({ target_token }) => symbolOf(target_token) === 'FAKE')
    expect(fake?.quote_token && symbolOf(fake.quote_token)).toBe('TRASH')
    expect(fake?.liquidity_usd).toBeGreaterThan(1e8)
    expect(fake?.tvl).toBeLessThan(1e5)
  })
  test('decimals that are 0, unknown or learned late; reserves and square-root prices', () => {
    expect(tokenNamed('ZERO')).toMatchObject({ decimals: 0 })
    expect(tokenNamed('MYST')).toMatchObject({ decimals: null, price_usd: Number.NaN })
    const late = reference.trades.filter(
      ({ pair }) => symbolOf(reference.pairs.get(pair)?.target_token ?? '') === 'LATE',
    )
    expect(late.some(({ flags }) => flags === 4) && late.some(({ flags }) => flags === 0)).toBe(true)
    expect(reference.trades.some(({ reserve0 }) => reserve0 === null)).toBe(true)
    expect(events.some((event) => event.type === 'swap' && event.sqrt_price !== undefined)).toBe(true)
  })
  test('launches from created to graduated, described before and after', () => {
    const stages = events.flatMap((event) => (event.type === 'launch' ? [event.stage] : []))
    expect(new Set(stages)).toEqual(new Set(['created', 'curve', 'graduated']))
    const graduated = events.flatMap((event, at) =>
      event.type === 'launch' && event.stage === 'graduated' ? [{ pool: event.pool, at }] : [],
    )
    const described = (pool: string | null | undefined) =>
      events.findIndex((event) => event.type === 'pool' && event.pool === pool)
    expect(graduated.some(({ pool, at }) => described(pool) >= 0 && described(pool) < at)).toBe(true)
    expect(graduated.some(({ pool, at }) => described(pool) > at)).toBe(true)
  })
  test('every kind of event, balance changes and absolute balances, several events of one log, a pool described twice', () => {
    expect(new Set(events.map(({ type }) => type)).size).toBe(7)
    const balances = events.filter((event) => event.type === 'balance')
    expect(
      balances.some(({ delta }) => delta !== undefined) && balances.some(({ balance }) => balance !== undefined),
    ).toBe(true)
    expect(events.some((event) => event.type === 'swap' && (event.sub ?? 0) > 0)).toBe(true)
    const kinds = new Set(events.flatMap((event) => (event.type === 'liquidity' ? [event.kind] : [])))
    expect(kinds).toEqual(new Set(['create', 'add', 'remove']))
    const pools = events.flatMap((event) => (event.type === 'pool' ? [event.pool] : []))
    expect(new Set(pools).size).toBeLessThan(pools.length)
  })
  test('repeated timestamps, timestamps that go back, a silence of an hour, empty blocks, a missing kind', () => {
    const steps = blocks.slice(1).map((block, at) => block.time - (blocks[at]?.time ?? 0))
    expect([steps.includes(0), steps.some((step) => step < 0), steps.some((step) => step > 3600)]).toEqual([
      true,
      true,
      true,
    ])
    expect(blocks.some(({ events }) => events.length === 0)).toBe(true)
    expect(new Set(blocks.map(({ kind }) => kind))).toEqual(new Set(['block', undefined]))
  })
  test('a wallet that buys and sells in several pairs, and swaps without a wallet', () => {
    const [wallet] = reference.trades.map((trade) => trade.wallet).filter((name) => name !== '')
    const mine = reference.trades.filter((trade) => trade.wallet === wallet)
    expect(new Set(mine.map(({ pair }) => pair)).size).toBeGreaterThan(2)
    expect(new Set(mine.map(({ sell }) => sell)).size).toBe(2)
    expect(reference.trades.some((trade) => trade.wallet === '')).toBe(true)
  })
})

test('across runs, rare cases occur: a silence of over a day, a native price kept from earlier', () => {
  expect(runs.some((run) => silence(run.lines) > 86_400)).toBe(true)
  const isPriceKept = runs.some(({ chain, lines, reference }) =>
    liveReferencePools(reference, marketMoney(chain).native ?? '', blocksOf(withoutOrphans(lines)))
      .slice(20)
      .includes(0),
  )
  expect(isPriceKept).toBe(true)
})

function silence(lines: RecordingLine[]): number {
  const times = blocksOf(withoutOrphans(lines)).map(({ time }) => time)
  return times.slice(1).reduce((longest, time, at) => Math.max(longest, time - (times[at] ?? time)), 0)
}

/** At each block, how many pools with the token as target traded within the hour; all but the smallest are deep. */
function liveReferencePools(reference: Reference, token: string, blocks: RecordingBlock[]): number[] {
  const trades = reference.trades.filter(({ pair }) => reference.pairs.get(pair)?.target_token === token)
  let now = 0
  return blocks.map((block) => {
    now = Math.max(now, block.time)
    const live = trades.filter((trade) => trade.block_number <= block.number && trade.time > now - 3600)
    return new Set(live.map(({ pair }) => pair)).size
  })
}
