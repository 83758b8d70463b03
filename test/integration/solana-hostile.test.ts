/**
 * The source against nodes that fail, lie and lag, with orphaned slots and the process killed at random.
 * It must publish what a clean run publishes.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { EventLog } from '../../services/core/log/port.js'
import type { IngestOutcome } from '../../services/ingest/main.js'
import { crashingLog } from '../rig/aggregate/crashing-log.js'
import { countOf, seedsOf } from '../rig/counts.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { acceptedBlocks, type RecordingBlock } from '../rig/reference/lines.js'
import { type HostileGate, hostileGate } from '../rig/solana/hostile.js'
import { createLedger, type Ledger } from '../rig/solana/ledger.js'
import { MOVING_POOL } from '../rig/solana/moving-pool.js'
import { type RpcServer, startRpcServer } from '../rig/solana/rpc-server.js'
import { openSolanaPlace, type SolanaPlace } from '../rig/solana/source-run.js'

const SEEDS = countOf('solanaHostileSeeds')
/** Long, because every attempt is slow on a busy machine. */
const WITHIN_MS = 60_000
const MAX_LINES = 3
const MAX_STARTS = 20
const HISTORY = { blocks: 40 }
const ORPHANS = { blocks: 5 }
const SURVIVORS = { blocks: 9 }

/** Plays up to the fork, then the blocks that will be orphaned. */
function playedToOrphans(): { ledger: Ledger; forkSlot: number } {
  const ledger = createLedger({ seed: 100, finalAfterSlots: 20 })
  ledger.advance(HISTORY)
  const forkSlot = ledger.tip.slot
  advanceToTrade(ledger, ORPHANS)
  return { ledger, forkSlot }
}

function reorganise(ledger: Ledger, forkSlot: number, sameSlots: boolean): void {
  ledger.die(forkSlot, { branch: 'survivors', sameSlots })
  advanceToTrade(ledger, SURVIVORS)
}

/** Ends at a block with a trade, which is always published. */
function advanceToTrade(ledger: Ledger, step: { blocks: number }): void {
  ledger.advance(step)
  while (ledger.tip.trades.length === 0) ledger.advance()
}

type Published = Omit<RecordingBlock, 'finalized_number'>
type Outcome = { blocks: Published[]; letters: string[] }
/** Keyed by whether the survivors use the slots of the orphans. */
const clean = new Map<boolean, Outcome>()
const happened = { kills: 0, retracts: 0, errors: 0, lies: 0, late: 0 }

describe('hostile nodes', () => {
  beforeAll(async () => {
    for (const sameSlots of [true, false]) {
      const { ledger, forkSlot } = playedToOrphans()
      reorganise(ledger, forkSlot, sameSlots)
      const server = await startRpcServer(ledger)
      const place = openSolanaPlace()
      const run = await place.start({ urls: [server.url] })
      expect(await place.reached(ledger.tip.blockhash, WITHIN_MS)).toBe(true)
      await run.stop()
      clean.set(sameSlots, await outcomeOf(place, ledger))
      await place.close()
      await server.stop()
    }
  })

  test('a clean run publishes every trade of the moving pool, in chain order', async () => {
    const { ledger, forkSlot } = playedToOrphans()
    reorganise(ledger, forkSlot, true)
    const { blocks, letters } = clean.get(true) ?? { blocks: [], letters: [] }
    const hashes = ledger.blocks.map(({ blockhash }) => blockhash)
    expect(blocks.map(({ hash }) => hash)).toEqual(hashes.filter((hash) => blocks.some((block) => block.hash === hash)))
    const trades = blocks.flatMap(({ hash, events }) =>
      events.flatMap((event) =>
        event.type === 'swap' && event.pool === MOVING_POOL ? [[hash, event.amount_in, event.amount_out]] : [],
      ),
    )
    expect(trades).toEqual(
      ledger.blocks.flatMap(({ blockhash, trades: made }) =>
        made.map(({ isBuy, sol, coin }) => [blockhash, `${isBuy ? sol : coin}`, `${isBuy ? coin : sol}`]),
      ),
    )
    expect(letters.length).toBeGreaterThan(0)
  })

  // Concurrent, because the runs mostly wait.
  test.concurrent.each(seedsOf('solanaHostileSeeds'))(
    'seed %i: publishes the blocks and dead letters of a clean run',
    async (seed) => {
      const random = createRandom(seed)
      const sameSlots = random.chance(0.5)
      const { ledger, forkSlot } = playedToOrphans()
      const orphanHash = ledger.tip.blockhash
      // Reorg while the history is read, or once the orphans are published.
      const isEarly = seed % 2 === 0
      let isSettled = !isEarly
      const isGoingOn = () => !isSettled
      const gates = [1, 2].map((node) => hostileGate(ledger, { seed: seed * 10 + node, silenceMs: 200, isGoingOn }))
      const servers = await startServers(ledger, gates, random)
      const place = openSolanaPlace()
      const reading = { place, random, urls: urlsOf(servers, random) }
      try {
        if (isEarly) {
          gates[0]?.after(random.int(5, 60), () => {
            reorganise(ledger, forkSlot, sameSlots)
            isSettled = true
          })
        } else {
          await readTo(orphanHash, random.int(0, 2), reading)
          reorganise(ledger, forkSlot, sameSlots)
        }
        const wanted = clean.get(sameSlots) ?? { blocks: [], letters: [] }
        await readTo(wanted.blocks.at(-1)?.hash ?? '', random.int(1, 3), reading)
        happened.retracts += (await place.lines()).filter(({ kind }) => kind === 'retract').length
        for (const { counts } of gates) {
          happened.errors += counts.errors
          happened.lies += counts.lies
          happened.late += counts.late
        }
        expect(differences(await outcomeOf(place, ledger), wanted)).toEqual([])
      } finally {
        await place.close()
        for (const server of servers) await server.stop()
      }
    },
  )

  test('the runs had kills, orphaned published blocks, errors, lies and late blocks', () => {
    const { kills, retracts, errors, lies, late } = happened
    expect({
      kills: kills > SEEDS,
      retracts: retracts > SEEDS / 10,
      errors: errors > 2 * SEEDS,
      lies: lies > SEEDS,
      late: late > SEEDS,
    }).toEqual({ kills: true, retracts: true, errors: true, lies: true, late: true })
  })
})

/** Without finality, which depends on when a block was read, without letters of orphans, and without repeated letters. */
async function outcomeOf(place: SolanaPlace, ledger: Ledger): Promise<Outcome> {
  const blocks = acceptedBlocks(await place.lines()).map(({ finalized_number: _, ...block }) => block)
  const alive = ledger.blocks.flatMap(({ transactions }) =>
    transactions.map(({ transaction }) => transaction.signatures[0] ?? ''),
  )
  const letters = (await place.deadLetters()).flatMap(({ reason, detail, block_number, position, raw }) => {
    const text = Buffer.from(raw).toString()
    return alive.some((signature) => text.includes(signature))
      ? [`${block_number} ${position} ${reason} ${detail}`]
      : []
  })
  return { blocks, letters: [...new Set(letters)].sort() }
}

/** The first few differences, one per line. */
function differences({ blocks, letters }: Outcome, wanted: Outcome): string[] {
  const found: string[] = []
  const linesOf = (each: readonly Published[]) => each.flatMap((block) => [headOf(block), ...eventsOf(block)])
  compare('blocks', linesOf(blocks), linesOf(wanted.blocks))
  compare('dead letters', letters, wanted.letters)
  return found

  function compare(what: string, got: readonly string[], expected: readonly string[]): void {
    const at = expected.findIndex((line, place) => line !== got[place])
    if (at < 0 && got.length === expected.length) return
    const from = at < 0 ? expected.length : at
    found.push(`${what}, line ${from} of ${expected.length}: got ${got.length}`)
    for (let line = from; line < from + MAX_LINES; line += 1) found.push(`got ${got[line]}`, `not ${expected[line]}`)
  }
}

const headOf = ({ number, hash, parent_hash, time }: Published): string =>
  `${number} ${hash} on ${parent_hash} at ${time}`
const eventsOf = ({ number, events }: Published): string[] =>
  events.map((event) => `${number} ${JSON.stringify(event)}`)

/** The second one lags at times. */
async function startServers(ledger: Ledger, gates: readonly HostileGate[], random: Random): Promise<RpcServer[]> {
  const options = { hasBlocks: random.chance(0.5), hasSlots: random.chance(0.7) }
  const behind = random.int(1, 4)
  return Promise.all(
    gates.map((gate, at) => {
      const isBehind = () => at === 1 && gate.counts.requests % 40 < 25
      return startRpcServer(ledger, { ...options, gate, behindSlots: () => (isBehind() ? behind : 0) })
    }),
  )
}

/** One or two nodes, over HTTP, sometimes with a WebSocket for notifications. */
function urlsOf([first, second]: readonly RpcServer[], random: Random): string[] {
  const urls = [first?.url ?? '']
  if (random.chance(0.5)) urls.push(first?.wsUrl ?? '')
  if (random.chance(0.6)) urls.push(second?.url ?? '')
  return urls
}

function inWords(outcome: IngestOutcome | { kind: 'failed' } | boolean): string {
  if (typeof outcome === 'boolean') return outcome ? 'reached' : 'not reached'
  return 'error' in outcome ? String(outcome.error) : outcome.kind
}

type Reading = { place: SolanaPlace; random: Random; urls: readonly string[] }

/** Runs until the block is published, with up to `kills` kills while the source waits or appends. */
async function readTo(hash: string, kills: number, { place, random, urls }: Reading): Promise<void> {
  for (let left = kills; left > -MAX_STARTS; left--) {
    const through = (log: EventLog) => crashingLog(log, random, left > 0 ? 0.3 : 0)
    const run = await place.start({ urls, through }).catch(() => null)
    const reached = place.reached(hash, left > 0 ? random.int(20, 400) : WITHIN_MS)
    const outcome = await Promise.race([run?.ended ?? { kind: 'failed' as const }, reached])
    await run?.stop()
    if (outcome === true) return
    // A failed start is retried, as a supervisor would.
    if (left <= 0 && run !== null) expect(inWords(outcome), 'the run without a kill').toBe('reached')
    happened.kills++
  }
  throw new Error(`did not start in ${MAX_STARTS} attempts`)
}
