import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLine } from '../../services/ingest/validate/read-line.js'
import { family, letters, POOL, type Raw, rawBlock, rawSwap, read, USDC, WETH } from './samples.js'

const blockOf = (value: unknown) => {
  const result = read(value)
  if (result.kind !== 'block') throw new Error(`not a block: ${JSON.stringify(result)}`)
  return result
}

/** Validates one event, alone in a valid block. */
const fate = (event: unknown) => letters(blockOf(rawBlock({ events: [event] })))

describe('a valid line', () => {
  it('becomes a block of the log, with absent fields null and defaults for its parts', () => {
    expect(blockOf(rawBlock())).toEqual({
      kind: 'block',
      dead: [],
      block: {
        chain: 'eth',
        number: 100,
        hash: '0xb100',
        parent_hash: '0xb099',
        time: 1_704_412_811,
        finalized_number: 36,
        part: 0,
        last_part: 0,
        events: [{ ...rawSwap(), sub: 0, reserve0: null, reserve1: null, sqrt_price: null, profile: null }],
      },
    })
  })

  it('may have kind "block" and omit finalized_number', () => {
    const { finalized_number: _, ...rest } = rawBlock({ kind: 'block' })
    expect(blockOf(rest).block.finalized_number).toBe(0)
  })

  it('may be a retract', () => {
    const retract = { chain: 'eth', from_number: 9, from_hash: '0xA9', to_number: 7, to_hash: '0xA7' }
    expect(read({ kind: 'retract', ...retract })).toEqual({
      kind: 'retract',
      retract: { ...retract, from_hash: '0xa9', to_hash: '0xa7' },
    })
  })

  it('gets lower-case EVM ids and keeps Solana ids unchanged', () => {
    const ids = { pool: 'PoOl', tx_hash: '0xAB', token_in: 'AaA', token_out: 'BbB', wallet: 'WaL' }
    const event = rawSwap(ids)
    expect(blockOf(rawBlock({ events: [event] })).block.events[0]).toMatchObject({
      pool: 'pool',
      tx_hash: '0xab',
      token_in: 'aaa',
      token_out: 'bbb',
      wallet: 'wal',
    })
    expect(blockOf(rawBlock({ chain: 'solana', events: [event] })).block.events[0]).toMatchObject(ids)
  })

  it('gets its events sorted into chain order', () => {
    const at = (tx_index: number, log_index: number, sub: number) => rawSwap({ tx_index, log_index, sub })
    const { block } = blockOf(rawBlock({ events: [at(2, 0, 0), at(1, 5, 1), at(1, 5, 0), at(1, 4, 9)] }))
    expect(block.events.map((event) => [event.tx_index, event.log_index, event.sub])).toEqual([
      [1, 4, 9],
      [1, 5, 0],
      [1, 5, 1],
      [2, 0, 0],
    ])
  })

  it('accepts safe integers as amounts and drops leading zeros', () => {
    const [event] = blockOf(rawBlock({ events: [rawSwap({ amount_in: 123, amount_out: '007' })] })).block.events
    expect(event).toMatchObject({ amount_in: '123', amount_out: '7' })
  })

  it('accepts every event type', () => {
    const head = { tx_index: 0, tx_hash: '0x1' }
    const events = [
      { type: 'token', token: USDC, name: 'USD Coin', symbol: 'USDC', decimals: 6, total_supply: '1' },
      { type: 'pool', pool: POOL, amm: 'uniswapv3', token0: USDC, token1: WETH, fee: 500, creator: '0x9' },
      rawSwap({ sqrt_price: '5', reserve0: '1', reserve1: '2' }),
      { type: 'liquidity', pool: POOL, amm: 'x', kind: 'add', sender: '', wallet: '', amount0: '1', amount1: '0' },
      { type: 'balance', token: USDC, holder: '0x3', delta: '-5' },
      { type: 'launch', token: USDC, platform: 'pump', stage: 'curve', progress: 0.5, pool: POOL },
      { type: 'meta', token: USDC, risk: { honeypot: 0 }, links: '{"website":"x"}', logo_url: 'https://x' },
    ].map((event, index) => ({ ...event, ...head, log_index: index }))
    const { block, dead } = blockOf(rawBlock({ events }))
    expect(dead).toEqual([])
    expect(block.events.map(({ type }) => type)).toEqual([
      'token',
      'pool',
      'swap',
      'liquidity',
      'balance',
      'launch',
      'meta',
    ])
    expect(block.events[6]).toMatchObject({ risk: '{"honeypot":0}', links: '{"website":"x"}' })
  })
})

describe('an invalid event becomes a dead letter without its block', () => {
  const cases: [why: string, event: unknown, reason: string][] = [
    ['is not an object', 7, 'not_a_record'],
    ['has no type', { ...rawSwap(), type: undefined }, 'missing_field'],
    ['has an unknown type', rawSwap({ type: 'airdrop' }), 'unknown_event'],
    ['has the type of an inherited property', rawSwap({ type: 'constructor' }), 'unknown_event'],
    ['lacks a field', rawSwap({ pool: undefined }), 'missing_field'],
    ['has null in a required field', rawSwap({ wallet: null }), 'missing_field'],
    ['has a number instead of a string', rawSwap({ pool: 5 }), 'wrong_type'],
    ['has blanks in an id', rawSwap({ pool: '0x 1' }), 'wrong_type'],
    ['has an id that is too long', rawSwap({ pool: 'a'.repeat(129) }), 'too_long'],
    ['has a string as an index', rawSwap({ tx_index: '3' }), 'wrong_type'],
    ['has a negative index', rawSwap({ log_index: -1 }), 'out_of_range'],
    ['has an index above 32 bits', rawSwap({ sub: 2 ** 31 }), 'out_of_range'],
    ['has a fraction as an index', rawSwap({ tx_index: 1.5 }), 'wrong_type'],
    ['has a negative amount', rawSwap({ amount_in: '-1' }), 'out_of_range'],
    ['has an amount in hexadecimal', rawSwap({ amount_in: '0x10' }), 'not_an_integer'],
    ['has an amount with a decimal point', rawSwap({ amount_in: '1.0' }), 'not_an_integer'],
    ['has an empty amount', rawSwap({ amount_in: '' }), 'not_an_integer'],
    ['has an amount above 256 bits', rawSwap({ amount_in: (2n ** 256n).toString() }), 'out_of_range'],
    ['has an amount that JSON rounded', rawSwap({ amount_in: 2 ** 53 }), 'precision_lost'],
    ['has a fraction as an amount', rawSwap({ amount_in: 1.5 }), 'not_an_integer'],
    ['swaps a token for itself', rawSwap({ token_out: WETH.toUpperCase().replace('0X', '0x') }), 'same_token'],
    ['has an incomplete profile', rawSwap({ profile: { token0TotalHolding: 1 } }), 'missing_field'],
    ['is a pool of a single token', { ...rawSwap({ type: 'pool' }), token0: USDC, token1: USDC }, 'same_token'],
    ['has an unknown kind of liquidity change', rawSwap({ type: 'liquidity', kind: 'burn' }), 'wrong_type'],
    ['is a balance without an amount', rawSwap({ type: 'balance', token: USDC, holder: '0x1' }), 'missing_field'],
    [
      'is a balance with both a delta and an absolute amount',
      rawSwap({ type: 'balance', token: USDC, holder: '0x1', delta: '1', balance: '1' }),
      'wrong_type',
    ],
    [
      'is a launch with a progress above 1',
      rawSwap({ type: 'launch', token: USDC, platform: 'p', stage: 'curve', progress: 2 }),
      'out_of_range',
    ],
    ['is meta whose risk is not an object', rawSwap({ type: 'meta', token: USDC, risk: '[1]' }), 'wrong_type'],
    ['has a logo that is too long', rawSwap({ type: 'meta', token: USDC, logo_url: 'x'.repeat(4097) }), 'too_long'],
    ['has decimals out of range', rawSwap({ type: 'token', token: USDC, decimals: 256 }), 'out_of_range'],
  ]
  it.each(cases)('if it %s', (_, event, reason) => {
    expect(fate(event).map(([given]) => given)).toEqual([reason])
  })

  it('with its reason, position and raw form, and the rest of the block is published', () => {
    const bad = rawSwap({ log_index: 8, amount_in: 'x' })
    const result = blockOf(rawBlock({ events: [bad, rawSwap()] }))
    expect(result.block.events.map(({ log_index }) => log_index)).toEqual([7])
    expect(result.dead).toEqual([
      {
        chain: 'eth',
        reason: 'not_an_integer',
        detail: '"amount_in" must be a raw amount (a whole number, 0 or more, as text), got "x"',
        source: 'file:1',
        block_number: 100,
        position: '3:8:0',
        raw: Buffer.from(JSON.stringify(bad)),
        at: 1_704_412_811,
      },
    ])
  })

  it('if an earlier event has the same identity', () => {
    const result = blockOf(rawBlock({ events: [rawSwap(), rawSwap({ amount_in: '5' })] }))
    expect(result.block.events).toMatchObject([{ amount_in: '1000' }])
    expect(letters(result)).toEqual([['duplicate_event', '3:7:0', 100]])
  })
})

describe('a line that is not a record becomes a dead letter', () => {
  const without = (name: string): Raw => ({ ...rawBlock(), [name]: undefined })
  const cases: [why: string, line: unknown, chain: string, reason: string][] = [
    ['invalid JSON', '{broken', 'unknown', 'malformed_json'],
    ['truncated JSON that names its chain', '{"chain":"eth","number":1', 'eth', 'malformed_json'],
    ['a list', '[1]', 'unknown', 'not_a_record'],
    ['null', 'null', 'unknown', 'not_a_record'],
    ['without a chain', without('chain'), 'unknown', 'missing_field'],
    ['with an invalid chain name', rawBlock({ chain: '../etc' }), 'unknown', 'bad_chain'],
    ['with the chain "unknown"', rawBlock({ chain: 'unknown' }), 'unknown', 'bad_chain'],
    ['with an unknown kind', rawBlock({ kind: 'uncle' }), 'eth', 'unknown_kind'],
    ['without number', without('number'), 'eth', 'missing_field'],
    ['without hash', without('hash'), 'eth', 'missing_field'],
    ['without parent_hash', without('parent_hash'), 'eth', 'missing_field'],
    ['without time', without('time'), 'eth', 'missing_field'],
    ['without events', without('events'), 'eth', 'missing_field'],
    ['with an object as events', rawBlock({ events: {} }), 'eth', 'wrong_type'],
    ['with a negative number', rawBlock({ number: -1 }), 'eth', 'out_of_range'],
    ['with a number above 2^53', rawBlock({ number: 2 ** 53 }), 'eth', 'out_of_range'],
    ['with milliseconds instead of seconds', rawBlock({ time: 1_704_412_811_000 }), 'eth', 'out_of_range'],
    ['that is part of a block', rawBlock({ part: 1, last_part: 2 }), 'eth', 'out_of_range'],
    [
      'a retract of no blocks',
      { kind: 'retract', chain: 'eth', from_number: 5, from_hash: 'a', to_number: 5, to_hash: 'a' },
      'eth',
      'out_of_range',
    ],
    [
      'a retract without its tip hash',
      { kind: 'retract', chain: 'eth', from_number: 5, to_number: 4, to_hash: 'a' },
      'eth',
      'missing_field',
    ],
  ]
  it.each(cases)('%s', (_, line, chain, reason) => {
    const result = read(line)
    expect(result).toMatchObject({ kind: 'dead', letter: { chain, reason, source: 'file:1' } })
    if (result.kind === 'dead')
      expect(Buffer.from(result.letter.raw).toString()).toBe(typeof line === 'string' ? line : JSON.stringify(line))
  })

  it('bytes that are not UTF-8', () => {
    const result = readLine(Buffer.from([0x7b, 0xff, 0x7d]), { source: 'f:1', family })
    expect(result).toMatchObject({ kind: 'dead', letter: { reason: 'not_utf8', raw: Buffer.from([0x7b, 0xff, 0x7d]) } })
  })
})

describe('every line is published or dead-lettered, and nothing is lost', () => {
  const context = { source: 'f:1', family }
  const words = fc.constantFrom('eth', 'swap', 'block', 'retract', '0xab', '1', '-1', '', 'constructor')
  const value = fc.oneof(words, fc.jsonValue(), fc.integer(), fc.double(), fc.constant(null))
  const names = Object.keys({ ...rawBlock(), ...rawSwap(), kind: 1, delta: 1, balance: 1, profile: 1, sub: 1 })
  const record = fc.dictionary(fc.constantFrom(...names, '__proto__'), value)

  it('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(['block', 'retract', 'dead']).toContain(readLine(Buffer.from(bytes), context).kind)
      }),
      { numRuns: 3000 },
    )
  })

  it('random JSON', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          record.map((object) => JSON.stringify(object)),
        ),
        (text) => {
          expect(['block', 'retract', 'dead']).toContain(readLine(Buffer.from(text), context).kind)
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('random events in a valid block: each becomes an event or a dead letter', () => {
    const event = fc.oneof(
      record,
      fc.record({ over: record }).map(({ over }) => rawSwap(over)),
      value,
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        const result = read(JSON.stringify(rawBlock({ events })))
        if (result.kind !== 'block') throw new Error('the block itself is good')
        expect(result.block.events.length + result.dead.length).toBe(events.length)
      }),
      { numRuns: 3000 },
    )
  })

  it('events nested deeper than the stack', () => {
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
    expect(letters(read(JSON.stringify(rawBlock()).replace('"events":[', `"events":[${deep},`)))).toEqual([
      ['missing_field', null, 100],
    ])
  })
})
