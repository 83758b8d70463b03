/** All holders of a token that is older than what was read, on accounts of the real token programs, through the source and the fold. */
import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import type { EventLog } from '../../services/core/log/port.js'
import type { LogFields, Logger } from '../../services/core/runtime/logger.js'
import { TOKEN, TOKEN_2022, WRAPPED_SOL } from '../../services/ingest/decode/solana/native-programs.js'
import { crashingLog } from '../rig/aggregate/crashing-log.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import type { RpcAnswer } from '../rig/json-rpc/server.js'
import { createRandom } from '../rig/market/random.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { type Gate, type RpcServer, startRpcServer } from '../rig/solana/rpc-server.js'
import { keyFrom } from '../rig/solana/seeded.js'
import { openSolanaPlace, type SolanaPlace, type SolanaRunOptions } from '../rig/solana/source-run.js'
import { TokenMarket } from '../rig/solana/token-market.js'

const FACTS = BUILT_IN_CHAINS.find(({ chain }) => chain === 'solana') as ChainFacts
const WITHIN_MS = 20_000

const ends: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Decides about each answer to `getProgramAccounts`. */
type OnList = (answer: RpcAnswer) => RpcAnswer | Promise<RpcAnswer>

async function startNode({ chain }: TokenMarket, onList: OnList = (answer) => answer): Promise<RpcServer> {
  const gate: Gate = {
    async pass({ requests, batch }, answer) {
      const answers = await Promise.all(
        requests.map((one) => (one.method === 'getProgramAccounts' ? onList(answer(one)) : answer(one))),
      )
      return { kind: 'answer', body: batch ? answers : answers[0] }
    },
  }
  const node = await startRpcServer(chain.ledger, { accountsAt: chain.accountsAt, gate })
  ends.push(() => node.stop())
  return node
}

function openPlace(): SolanaPlace {
  const place = openSolanaPlace()
  ends.push(() => place.close())
  return place
}

const scopeOf = (holders: readonly string[]) =>
  ({ pools: [keyFrom('no pool')], tokens: [], amms: [], balances: 'off', holders }) as const

const optionsOf = ({ chain, mint }: TokenMarket, node: RpcServer): SolanaRunOptions => ({
  urls: [node.wsUrl],
  start: { kind: 'block', number: chain.ledger.tip.slot },
  scope: scopeOf([mint]),
  holderLists: { holdersPerBlock: 3, pollMs: 10, retryMs: 50 },
})

/** What a consumer knows after each block of the log; orphaned blocks too. */
function toldAt(lines: readonly RecordingLine[], mint: string) {
  const reader = new Reader()
  const fold = startFold(FACTS)
  return lines.flatMap((line) => {
    for (const result of foldLines(fold, [line])) reader.read(result)
    if (line.kind !== 'block') return []
    const token = reader.tokens.get(mint)
    const of = [...reader.holders].filter(([key, balance]) => key.startsWith(`${mint}|`) && balance > 0n)
    const held = new Map(of.map(([key, balance]) => [key.slice(mint.length + 1), balance]))
    const isComplete = (token?.info.holders_since ?? null) !== null
    return [{ hash: line.hash, isComplete, held, count: token?.holders }]
  })
}

type Told = ReturnType<typeof toldAt>[number]

const lastTold = async (place: SolanaPlace, { mint }: TokenMarket): Promise<Told | undefined> =>
  toldAt(await place.lines(), mint).at(-1)

const sorted = (held: ReadonlyMap<string, bigint> | undefined) => [...(held ?? [])].sort()

function expectOnChain({ hash, held, count }: Told, { heldAt }: TokenMarket): void {
  const onChain = heldAt.get(hash)
  expect(sorted(held)).toEqual(sorted(onChain))
  expect(count).toBe(onChain?.size)
}

/** At each block of the log that says so, up to the last. */
async function expectCompleteOnChain(market: TokenMarket, place: SolanaPlace): Promise<Told[]> {
  const complete = toldAt(await place.lines(), market.mint).filter((told) => told.isComplete)
  expect(complete.at(-1)?.hash).toBe(market.chain.ledger.tip.blockhash)
  for (const told of complete) expectOnChain(told, market)
  return complete
}

const hasSeen = ({ chain }: TokenMarket, place: SolanaPlace): Promise<boolean> =>
  place.reached(chain.ledger.tip.blockhash, WITHIN_MS)

/** Plays on until it is so. */
async function playUntil(market: TokenMarket, place: SolanaPlace, isSo: () => unknown, blocks = 100): Promise<void> {
  for (let block = 0; block < blocks; block += 1) {
    market.mine(1)
    expect(await hasSeen(market, place)).toBe(true)
    if (await isSo()) return
  }
  throw new Error(`it was not so within ${blocks} blocks`)
}

const isComplete = async (market: TokenMarket, place: SolanaPlace) =>
  (await lastTold(place, market))?.isComplete === true

test.each(seedsOf('solanaHolderSeeds'))(
  'seed %i: at every block after their accounts were listed, holders are those of the chain, through reorgs, restarts and crashes',
  async (seed) => {
    const random = createRandom(seed)
    const market = new TokenMarket(seed, seed % 2 === 0 ? TOKEN : TOKEN_2022, random)
    market.mine(60)
    // The list is old when it arrives.
    const node = await startNode(market, async (answer) => {
      await setTimeout(random.int(0, 300))
      return answer
    })
    const place = openPlace()
    const first = market.chain.ledger.tip.slot
    const through = (log: EventLog) => crashingLog(log, random, 0.03)
    const options = { ...optionsOf(market, node), through }
    let run = await place.start(options)
    let crashes = 0
    const reach = async () => {
      for (;;) {
        const outcome = await Promise.race([run.ended, hasSeen(market, place)])
        if (typeof outcome === 'boolean') return expect(outcome).toBe(true)
        crashes += 1
        run = await place.start(options)
      }
    }
    for (let step = 0; step < 30; step += 1) {
      market.mine(random.int(1, 3))
      await reach()
      if (random.chance(0.3)) {
        market.reorg(first)
        await reach()
      }
      if (random.chance(0.1)) {
        await run.stop()
        run = await place.start(options)
      }
    }
    await run.stop()
    run = await place.start(optionsOf(market, node))
    await playUntil(market, place, () => isComplete(market, place))
    await playUntil(market, place, () => true)
    expect(await run.stop()).toEqual({ kind: 'stopped' })
    expect(await place.deadLetters()).toEqual([])
    const complete = await expectCompleteOnChain(market, place)
    console.log(
      `seed ${seed}: ${complete.length} blocks with all ${complete.at(-1)?.held.size} holders, ${crashes} crashes`,
    )
  },
  120_000,
)

/** A place that has read all holders of a token. */
async function readOnce(seed: number) {
  const market = new TokenMarket(seed, TOKEN, createRandom(seed))
  market.mine(40)
  const node = await startNode(market)
  const place = openPlace()
  const options = optionsOf(market, node)
  const run = await place.start(options)
  await playUntil(market, place, () => isComplete(market, place))
  await run.stop()
  return { market, place, options }
}

/** Reads on until all are known, and compares. */
async function readAgain(market: TokenMarket, place: SolanaPlace, options: SolanaRunOptions): Promise<void> {
  const run = await place.start(options)
  await playUntil(market, place, async () => !(await isComplete(market, place)), 1)
  await playUntil(market, place, () => isComplete(market, place))
  await run.stop()
  await expectCompleteOnChain(market, place)
}

test('a token that leaves the scope is no longer called complete, and is read again when it returns', async () => {
  const { market, place, options } = await readOnce(3)
  const run = await place.start({ ...options, scope: scopeOf([]) })
  market.mine(1)
  await expect.poll(() => isComplete(market, place), { timeout: WITHIN_MS }).toBe(false)
  // Read past, but not followed.
  const gone = market.leave()
  market.mine(1)
  const { slot } = market.chain.ledger.tip
  market.mine(40)
  const lastNumber = async () => {
    const last = (await place.lines()).at(-1)
    return last?.kind === 'block' ? last.number : 0
  }
  await expect.poll(lastNumber, { timeout: WITHIN_MS }).toBeGreaterThan(slot)
  await run.stop()
  expect((await lastTold(place, market))?.held.has(gone)).toBe(true)
  await readAgain(market, place, options)
}, 60_000)

test('without the state of the source nothing is called complete, until all accounts are listed again', async () => {
  const { market, place, options } = await readOnce(8)
  await readAgain(market, place, { ...options, isBookLost: true })
}, 60_000)

type Logged = { level: string; message: string; fields: LogFields }

function recordingLogger(): { logged: Logged[]; logger: Logger } {
  const logged: Logged[] = []
  const note =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void logged.push({ level, message, fields })
  const logger: Logger = { info: note('info'), warn: note('warn'), error: note('error'), child: () => logger }
  return { logged, logger }
}

const ofLevel = (logged: readonly Logged[], level: string) =>
  logged
    .filter((line) => line.level === level)
    .map(({ message, fields: { error, expected, got } }) => ({
      ...{ message, expected, got },
      code: (error as { code?: string } | undefined)?.code,
    }))

const REFUSAL = {
  code: -32010,
  message: 'excluded from account secondary indexes; this RPC method unavailable for key',
}

test('nodes that do not list accounts are one error, keep no block waiting, and are asked again', async () => {
  const market = new TokenMarket(4, TOKEN, createRandom(4))
  market.mine(10)
  let isRefused = true
  const node = await startNode(market, ({ id, jsonrpc, result }) =>
    isRefused ? { id, jsonrpc, error: REFUSAL } : { id, jsonrpc, result },
  )
  const place = openPlace()
  const { logged, logger } = recordingLogger()
  const run = await place.start({ ...optionsOf(market, node), logger })
  const asked = () => node.asked.get('getProgramAccounts') ?? 0
  await playUntil(market, place, () => asked() > 2)
  expect(await isComplete(market, place)).toBe(false)
  expect(ofLevel(logged, 'error')).toEqual([
    { message: 'the accounts of a token cannot be listed: not all its holders are known', code: 'node_error' },
  ])
  isRefused = false
  await playUntil(market, place, () => isComplete(market, place))
  expect(await run.stop()).toEqual({ kind: 'stopped' })
  expect(ofLevel(logged, 'error')).toHaveLength(1)
  expect(ofLevel(logged, 'warn')).toEqual([])
}, 60_000)

test('a token with too many accounts is one error, and its accounts are not asked for again', async () => {
  const market = new TokenMarket(5, TOKEN, createRandom(5))
  market.mine(20)
  const node = await startNode(market)
  const place = openPlace()
  const { logged, logger } = recordingLogger()
  const options = optionsOf(market, node)
  const run = await place.start({ ...options, logger, holderLists: { ...options.holderLists, mostAccounts: 3 } })
  await playUntil(market, place, () => ofLevel(logged, 'error').length > 0)
  const asked = node.asked.get('getProgramAccounts')
  await setTimeout(100)
  await playUntil(market, place, () => true)
  await playUntil(market, place, () => true)
  expect(await run.stop()).toEqual({ kind: 'stopped' })
  expect(ofLevel(logged, 'error').map(({ code }) => code)).toEqual(['holders_too_many'])
  expect(node.asked.get('getProgramAccounts')).toBe(asked)
}, 60_000)

test('accounts that a node keeps back show in the sum, and the holders are not called complete', async () => {
  const market = new TokenMarket(6, TOKEN, createRandom(6))
  market.mine(20)
  const node = await startNode(market, (answer) => {
    const { value, ...rest } = answer.result as { value: { pubkey: string }[] }
    return { ...answer, result: { ...rest, value: value.slice(1) } }
  })
  const place = openPlace()
  const { logged, logger } = recordingLogger()
  const run = await place.start({ ...optionsOf(market, node), logger })
  await playUntil(market, place, () => ofLevel(logged, 'warn').length > 0)
  expect(await run.stop()).toEqual({ kind: 'stopped' })
  expect(await isComplete(market, place)).toBe(false)
  const [warning] = ofLevel(logged, 'warn')
  expect(warning?.message).toBe('the accounts of a token do not add up to its supply: not all holders may be known')
  expect(BigInt(String(warning?.got))).toBeLessThan(BigInt(String(warning?.expected)))
}, 60_000)

test('SOL, and what is not a mint, are refused at the start', async () => {
  const market = new TokenMarket(7, TOKEN, createRandom(7))
  const node = await startNode(market)
  const nobody = keyFrom('no mint')
  const start = openPlace().start({ ...optionsOf(market, node), scope: scopeOf([market.mint, WRAPPED_SOL, nobody]) })
  await expect(start).rejects.toMatchObject({
    code: 'scope_token',
    message: `Cannot know all holders of a token: ${WRAPPED_SOL} is SOL, whose accounts nodes do not list; ${nobody} is not a mint on this cluster (chain solana). Check the addresses in "chains.solana.holders" (--holders), and the chain`,
  })
})
