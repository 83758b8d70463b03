/** A transaction parses the same in every node encoding; an invalid one is reported with the path of the error. */
import { describe, expect, it } from 'vitest'
import { BadTransaction } from '../../../../../services/ingest/decode/solana/decode-errors.js'
import { balanceAfter, balanceBefore } from '../../../../../services/ingest/decode/solana/instruction/vaults.js'
import { inOrder, type SolanaTransaction } from '../../../../../services/ingest/decode/solana/transaction.js'
import { parseBalances, parseTransaction } from '../../../../../services/ingest/decode/solana/wire/parse-transaction.js'
import { describeRecorded, recordedCases } from '../../../../rig/recordings.js'
import {
  generatedTransaction,
  PUMP_CREATE,
  PUMP_SELL,
  RAYDIUM_V4_SWAP,
  ROUTE,
} from '../../../../rig/solana/generated/transactions.js'
import { asBareBase58, asBase58, asBase64, asYellowstone, type JsonTransaction } from '../encodings.js'
import { everyTransaction, parsed, realTransaction } from '../real-transactions.js'

const PLACE = { slot: 1, index: 0 }
const parse = (value: unknown): SolanaTransaction | null => parseTransaction(value, PLACE, () => true)
const jsonOf = (name: string) => {
  const { value } = name.startsWith('generated/') ? generatedTransaction(name) : realTransaction(name)
  return structuredClone(value) as unknown as JsonTransaction
}
const sale = () => jsonOf(PUMP_SELL)

const RECORDED = ['pumpfun_create_0', 'jupiterAggregatorV6_sharedAccountsRoute_1', 'OKXDEX_swap_0', 'pumpfun_sell_0']
/** In the `json` encoding, with nested calls. */
const names = (suite: string) => [
  ...[PUMP_CREATE, PUMP_SELL, RAYDIUM_V4_SWAP, ROUTE],
  ...recordedCases(suite, RECORDED.length, () => RECORDED.map((name) => `tx-parser/${name}.json`)),
]

describe('a transaction', () => {
  it.each(names('encodings'))('%s is the same in every encoding', (name) => {
    const json = jsonOf(name)
    const expected = parse(json)
    expect(expected?.instructions.length).toBeGreaterThan(0)
    const forms = {
      base64: asBase64(json),
      base58: asBase58(json),
      'base58 without its name': asBareBase58(json),
      'Yellowstone, bytes': asYellowstone(json, (bytes) => bytes),
      'Yellowstone, numbers': asYellowstone(json, (bytes) => [...bytes]),
      'Yellowstone, base64': asYellowstone(json, (bytes) => Buffer.from(bytes).toString('base64')),
      'Yellowstone, a printed Buffer': asYellowstone(json, (bytes) => Buffer.from(bytes).toJSON()),
    }
    for (const [form, value] of Object.entries(forms)) expect(plain(parse(value)), form).toEqual(plain(expected))
  })

  it.each(names('trees'))('%s has the same call tree from its logs if the node omits stack heights', (name) => {
    const json = jsonOf(name)
    const expected = plain(parse(json))
    for (const { instructions } of json.meta.innerInstructions)
      for (const instruction of instructions) delete instruction.stackHeight
    expect(plain(parse(json))).toEqual(expected)
    json.meta.logMessages = null
    const flat = parse(json)
    expect(Math.max(...depths(flat))).toBe(1)
    expect(inOrder(flat as SolanaTransaction).every(({ programLogs }) => programLogs === null)).toBe(true)
  })

  it.each(names('unrecorded calls'))('%s is rejected if the node did not record inner calls', (name) => {
    const json = jsonOf(name)
    for (const unrecorded of [null, undefined, []])
      expect(() => parse({ ...json, meta: { ...json.meta, innerInstructions: unrecorded } })).toThrow(BadTransaction)
  })

  it('balances before, with every transfer applied, equal balances after', () => {
    for (const real of everyTransaction()) {
      const transaction = parsed(real)
      const [first, last] = [transaction.instructions.at(0), transaction.instructions.at(-1)]
      if (first === undefined || last === undefined) throw new Error('nothing ran')
      for (const [account, { amount }] of transaction.postTokens) {
        const after = balanceAfter(transaction, account, last)
        // Lamports that become tokens only when synchronised leave the balance unknown.
        if (after !== null) expect(after, `${real.name} ${account}`).toBe(amount)
        const before = balanceBefore(transaction, account, first)
        if (before !== null) expect(before).toBe(transaction.preTokens.get(account)?.amount ?? 0n)
      }
    }
  })

  it('truncated logs leave later events unknown', () => {
    const json = jsonOf(ROUTE)
    const whole = inOrder(parse(json) as SolanaTransaction)
    const lines = json.meta.logMessages as string[]
    // Inside the second exchange’s call, after it began.
    const second = lines.indexOf('Program LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo invoke [2]')
    json.meta.logMessages = [...lines.slice(0, second + 1), 'Log truncated']
    const reported = inOrder(parse(json) as SolanaTransaction).map(({ programLogs }) => programLogs !== null)
    const isOver = whole.map(({ order }) => lines.slice(0, second).filter(isEnd).length > endsBefore(whole, order))
    expect(reported).toEqual(isOver)
    expect(reported.filter(Boolean).length).toBeGreaterThan(2)
    expect(reported.filter((hasMint) => !hasMint).length).toBeGreaterThan(4)
  })

  it('is not parsed further if it touches no wanted account', () => {
    const json = sale()
    json.transaction.message.instructions = 'garbage' as never
    expect(parseTransaction(json, PLACE, () => false)).toBeNull()
  })

  it('that failed or is a vote is ignored', () => {
    const json = sale()
    expect(parse({ ...json, isVote: true })).toBeNull()
    json.meta.err = { InstructionError: [0, { Custom: 1 }] }
    expect(parse(json)).toBeNull()
    expect(parseBalances(json, PLACE, () => true)).toBeNull()
  })

  it.each<[string, (json: JsonTransaction) => void]>([
    ['meta', (json) => Object.assign(json, { meta: null })],
    ['message.accountKeys', (json) => json.transaction.message.accountKeys.splice(0, 1, 'no key')],
    [
      'instructions.programIdIndex',
      (json) => Object.assign(json.transaction.message.instructions[0] ?? {}, { programIdIndex: 99 }),
    ],
    [
      'instructions.accounts',
      (json) => Object.assign(json.transaction.message.instructions[0] ?? {}, { accounts: [-1] }),
    ],
    [
      'instructions.data',
      (json) => Object.assign(json.meta.innerInstructions[0]?.instructions[0] ?? {}, { data: '0OIl' }),
    ],
    ['innerInstructions.index', (json) => Object.assign(json.meta.innerInstructions[0] ?? {}, { index: 9 })],
    ['stackHeight', (json) => Object.assign(json.meta.innerInstructions[0]?.instructions[0] ?? {}, { stackHeight: 7 })],
    ['preBalances', (json) => Object.assign(json.meta, { preBalances: [-1] })],
    ['logMessages', (json) => Object.assign(json.meta, { logMessages: [1] })],
    ['postTokenBalances', (json) => Object.assign(json.meta, { postTokenBalances: [{ accountIndex: 0, mint: 'x' }] })],
    ['signatures[0]', (json) => Object.assign(json.transaction, { signatures: [] })],
    ['transaction', (json) => Object.assign(json, { transaction: ['AAAA', 'base64'] })],
    ['transaction', (json) => Object.assign(json, { transaction: ['AAAA', 'zstd'] })],
  ])('with invalid data is reported with its path: %s', (place, spoil) => {
    const json = sale()
    spoil(json)
    expect(() => parse(json)).toThrow(BadTransaction)
    expect(() => parse(json)).toThrow(new RegExp(`^${place.replace(/[[\].]/g, '\\$&')} `))
  })
})

describeRecorded('logs truncated by a node', 1, () => {
  it('truncated logs leave later events unknown', () => {
    const transaction = parsed(realTransaction('tx-parser/transferChecked_0.json'))
    const reported = inOrder(transaction).map(({ programLogs }) => programLogs !== null)
    // The logs end inside instruction 38, after its first call.
    const withoutMint = reported.flatMap((hasMint, order) => (hasMint ? [] : [order]))
    expect(withoutMint).toEqual([38, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49])
  })
})

const isEnd = (line: string): boolean => line.endsWith(' success')

/** How many instructions end before this one: earlier ones that do not contain it, and all it contains. */
function endsBefore(whole: readonly { order: number; depth: number }[], order: number): number {
  const own = whole[order]
  if (own === undefined) return 0
  const next = whole.findIndex((each) => each.order > order && each.depth <= own.depth)
  const held = (next === -1 ? whole.length : next) - order - 1
  const holders = own.depth
  return order - holders + held
}

function depths(transaction: SolanaTransaction | null): number[] {
  return transaction === null ? [] : inOrder(transaction).map(({ depth }) => depth)
}

/** Comparable: bytes as plain bytes, whatever type holds them. */
function plain(transaction: SolanaTransaction | null): unknown {
  return JSON.parse(
    JSON.stringify(transaction, (_, value: unknown) => {
      if (value instanceof Map) return [...value]
      if (typeof value === 'bigint') return value.toString()
      const isBuffer = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
      if (isBuffer) return Buffer.from((value as unknown as { data: number[] }).data).toString('hex')
      return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
    }),
  )
}
