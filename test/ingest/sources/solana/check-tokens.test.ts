/** The decoder checks tokens when they trade and when their locks may have changed, within its budget. */
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Book, memoryBook } from '../../../../services/ingest/decode/solana/block/book.js'
import { createSolanaRules } from '../../../../services/ingest/decode/solana/block/decode-rules.js'
import { LOCKER_PROGRAMS } from '../../../../services/ingest/decode/solana/locks/inspect-locks.js'
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import { PROGRAMS as DEX_PROGRAMS } from '../../../../services/ingest/decode/solana/programs.js'
import { createTokenChecker } from '../../../../services/ingest/sources/solana/check-tokens.js'
import { openSolanaBook, solanaDecoder } from '../../../../services/ingest/sources/solana/solana-decoder.js'
import { createTokenFacts } from '../../../../services/ingest/sources/solana/token-facts.js'
import { removeScratchFolders, scratchFolder } from '../../../rig/http/command.js'
import { tokenTransfer } from '../../../rig/solana/made-transactions.js'
import { keyFrom } from '../../../rig/solana/seeded.js'
import { key } from '../../decode/solana/anchor-calls.js'
import type { JsonTransaction } from '../../decode/solana/encodings.js'
import { PROGRAMS, type Token, World } from '../../decode/solana/locks/stand-ins.js'
import { startMachine } from '../../decode/solana/token/machine.js'
import { burn } from '../../decode/solana/token/token-calls.js'

const { signal } = new AbortController()
const NOW_S = 1_800_000_000
const LOCK_S = 86_400

let count = 0
let world: World
let book: Book
let [token, shares]: Token[] = []
let pool: string
let slot: number
let decoder: ReturnType<typeof solanaDecoder>

const HASH = keyFrom('a blockhash')
const make = (name: string, raw: bigint) => world.token(`${name} ${count}`, raw)

afterAll(removeScratchFolders)
beforeEach(() => {
  count += 1
  slot = 1_000
  world = new World(startMachine(key('payer')))
  book = memoryBook()
  ;[token, shares] = [make('token', 1_000_000n), make('shares', 1_000n)]
  pool = world.pool('v4', the(shares), 1_000n)
  putKnown(book)
  decoder = decoderOf(book)
})

/** As after a trade. */
function putKnown(into: Book): void {
  into.putToken(the(token).mint, { decimals: 6, traded: true })
  into.putPool(pool, [the(token).mint, key('quote')])
  into.putRisk(the(token).mint, { checkedAtS: NOW_S - 10, isStale: false, pool, depth: 5n })
}

function decoderOf(of: Book): ReturnType<typeof solanaDecoder> {
  const nodes = { accounts: world.machine.accounts, listed: world.listed }
  const facts = createTokenFacts(nodes.accounts)
  return solanaDecoder({
    ...{ chain: 'solana', name: 'test', book: of, nowMs: () => NOW_S * 1000, facts: { fill: async () => {} } },
    rules: createSolanaRules({
      scope: { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'scoped' },
      ...{ money: new Set<string>(), programs: DEX_PROGRAMS, lockers: LOCKER_PROGRAMS },
    }),
    checker: createTokenChecker({ checksPerMinute: 5, recheckS: 600 }, nodes, facts, of.tokensOf),
  })
}

function the(one: Token | undefined): Token {
  if (one === undefined) throw new Error('not made yet')
  return one
}

/** The risk facts of the token that the block ends with; null: none. */
async function riskAfter(transactions: JsonTransaction[], timeS = NOW_S): Promise<Record<string, unknown> | null> {
  slot += 1
  const block = { number: slot, hash: HASH, parentHash: HASH, parentNumber: slot - 1, timeS }
  const decode = await decoder.prepare([], block, signal)
  const decoded = decode({ ...block, transactions: transactions.map((value, index) => ({ index, value })) })
  expect(decoded.lost).toEqual([])
  const events = (await decoded.later?.(signal)) ?? []
  const [meta] = events
  if (meta === undefined) return null
  expect(meta).toMatchObject({ type: 'meta', token: the(token).mint, total_supply: '1000000' })
  return JSON.parse(meta.type === 'meta' ? (meta.risk ?? '') : '')
}

const move = ({ mint, decimals }: Token) => {
  const moved = { mint, decimals, from: key('one'), to: key('another'), amount: 5n }
  return tokenTransfer(`${mint} ${slot}`, HASH, moved, { from: 9n, to: 0n })
}

/** The same transaction, which also calls a locker. */
function calling(transaction: JsonTransaction, ...accounts: string[]): JsonTransaction {
  const made = structuredClone(transaction)
  const { message } = made.transaction
  message.accountKeys.push(...accounts)
  message.header.numReadonlyUnsignedAccounts += accounts.length
  const balances = made.meta as unknown as { preBalances: number[]; postBalances: number[] }
  balances.preBalances.push(...accounts.map(() => 1))
  balances.postBalances.push(...accounts.map(() => 1))
  return made
}

test('a lock of the token is read in its block', async () => {
  expect(await riskAfter([move(the(token))])).toBeNull()
  world.stream('a stream', the(token), { cliffAt: NOW_S + LOCK_S, cliffAmount: 400n, period: 1, rate: 0n, periods: 0 })
  const risk = await riskAfter([calling(move(the(token)), PROGRAMS.streamflow)])
  expect(risk).toMatchObject({ lock_raw: '400', is_lp_not_locked: 1, lock_platform: 'Streamflow' })
})

test('a lock of the pool is read in its block, by the pool among the accounts', async () => {
  world.send(the(shares), '3f7GcQFG397GAaEnv51zR6tsTVihYRydnydDD1cXekxH', 950n)
  const risk = await riskAfter([calling(move(the(shares)), PROGRAMS.raydiumLock, pool)])
  expect(risk).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 0.95, lock_platform: 'Raydium' })
})

test('burnt shares are read in their block once the pool was checked', async () => {
  const call = calling(move(the(token)), PROGRAMS.jupiter)
  expect(await riskAfter([call])).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0 })
  const { machine } = world
  machine.run(burn(TOKEN, the(shares).account, the(shares).mint, the(shares).owner, 1_000n))
  // The mint of the shares is in the book from the next block on.
  expect(await riskAfter([])).toBeNull()
  expect(await riskAfter([move(the(shares))])).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 1 })
})

test('history is not checked, but when the token trades next', async () => {
  const call = calling(move(the(token)), PROGRAMS.jupiter)
  expect(await riskAfter([call], NOW_S - 3600)).toBeNull()
  expect(book.risk(the(token).mint)).toMatchObject({ isStale: true })
})

test('a check that a reorg orphaned is made again', async () => {
  const kept = openSolanaBook({ path: join(scratchFolder(), 'book') })
  const block = (number: number, hash: string) => ({ number, hash: keyFrom(hash), parentHash: HASH, timeS: NOW_S })
  kept.begin(block(slot, 'first'))
  putKnown(kept)
  kept.end(true)
  const decoding = decoderOf(kept)
  const run = async (hash: string, transactions: JsonTransaction[]): Promise<unknown> => {
    const at = { ...block(slot + 1, hash), parentNumber: slot }
    const decode = await decoding.prepare([], at, signal)
    kept.begin(at)
    const decoded = decode({ ...at, transactions: transactions.map((value, index) => ({ index, value })) })
    kept.end(true)
    const [meta] = (await decoded.later?.(signal)) ?? []
    return meta?.type === 'meta' ? JSON.parse(meta.risk ?? '') : null
  }
  const terms = { cliffAt: NOW_S + LOCK_S, cliffAmount: 400n, period: 1, rate: 0n, periods: 0 }
  const call = calling(move(the(token)), PROGRAMS.streamflow)
  expect(await run('orphaned', [call])).toMatchObject({ lock_raw: '0' })
  expect(kept.risk(the(token).mint)?.checkedAtS).toBe(NOW_S)
  kept.rollback(slot)
  expect(kept.risk(the(token).mint)?.checkedAtS).toBe(NOW_S - 10)
  world.stream('a stream of the other branch', the(token), terms)
  expect(await run('canonical', [call])).toMatchObject({ lock_raw: '400' })
  await kept.close()
})

test('a minute has a budget, and what is left over is not forgotten', async () => {
  for (let n = 0; n < 5; n += 1) expect(await riskAfter([calling(move(the(token)), PROGRAMS.jupiter)])).not.toBeNull()
  expect(await riskAfter([calling(move(the(token)), PROGRAMS.jupiter)])).toBeNull()
  expect(book.risk(the(token).mint)).toMatchObject({ isStale: true })
})
