/** A cluster that folds generated chains while they are replayed and clients listen at its serve nodes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { blocksTopic } from '../../../services/core/log/port.js'
import { KEY, startCluster } from '../cluster/cluster.js'
import { openedLogOf } from '../cluster/contents.js'
import { type Started, scratchFolder, startCommand } from '../http/command.js'
import { marketMoney, moneySections } from '../market/money.js'
import { updatesIn } from '../up/contents.js'
import { generateTape, seqsOf, writeTape } from '../up/recording.js'
import { expectPushes } from './expect-pushes.js'
import { type Listener, listenTo } from './listeners.js'

export type ReplayedClusterPlan = {
  seed: number
  chains: readonly string[]
  aggregates: number
  serves: number
  /** How many replays of each chain there will be: so much is played live. */
  replays: number
}

export type ReplayedCluster = Awaited<ReturnType<typeof startReplayedCluster>>

const HISTORY = 600
const LIVE_PER_REPLAY = 400

export async function startReplayedCluster({ seed, chains, aggregates, serves, replays }: ReplayedClusterPlan) {
  const folder = scratchFolder()
  const options = {
    ...{ quietDay: 0, quietHour: 0, maxTimeBackS: 0, swapsPerBlock: 3, secondsPerBlock: 4 },
    retracts: { probability: 0.03, maxDepth: 4 },
  }
  const lines = generateTape({ seed, chains, blocksPerChain: HISTORY + LIVE_PER_REPLAY * replays, options })
  const opening = lines.slice(0, HISTORY * chains.length)
  const tape = writeTape(join(folder, 'tape.jsonl'), lines)
  const cluster = await startCluster({
    ...{ ingest: ['--events', writeTape(join(folder, 'opening.jsonl'), opening)], aggregates, serves },
    chains: chains.map(marketMoney),
    settings: {
      ...{ intervals: { flush_ms: 500, checkpoint_ms: 1000 } },
      retention: { updates_h: 1_000_000, s1_candles_d: 3650 },
    },
  })
  await cluster.untilSeqs(seqsOf(opening), 120_000).catch((error: unknown) => {
    throw new Error(`${error}\n${cluster.tails()}`)
  })
  await cluster.ingest.restart(['--events', tape, '--speed', '8'])

  /** Of a command that is configured with this money. */
  function environmentWith(money: readonly ChainFacts[]): Record<string, string> {
    const file = join(folder, 'replay.json')
    const settings = JSON.parse(readFileSync(join(cluster.folder, 'dextape.json'), 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...settings, chains: moneySections(money) }))
    return { DEXTAPE_CONFIG: file, DEXTAPE_API_KEY: KEY, CLICKHOUSE_URL: cluster.store.url }
  }

  return {
    ...{ cluster, folder, environmentWith },
    begin: (chain: string, env: Record<string, string>): Started =>
      startCommand(['replay', '--chain', chain], { cwd: folder, env }),
    async listen(clients: number): Promise<Listener[]> {
      const listeners: Listener[] = []
      for (let at = 0; at < clients; at += 1) {
        const url = cluster.wsUrls[at % serves] ?? ''
        listeners.push(await listenTo(url, KEY, chains[Math.floor(at / serves) % chains.length] ?? '', () => {}))
      }
      return listeners
    },
    /** Stops the source and compares every push of each chain with its updates, which are returned. */
    async finish(listeners: readonly Listener[]): Promise<Map<string, BlockUpdate[]>> {
      await cluster.ingest.stop()
      const ends = new Map<string, number>()
      for (const chain of chains) ends.set(chain, (await cluster.log.info(blocksTopic(chain))).end)
      await cluster.untilSeqs(ends)
      await sleep(2000)
      expect(listeners.filter((listener) => listener.isClosed())).toEqual([])
      const found = new Map<string, BlockUpdate[]>()
      for (const chain of chains) {
        const updates = await updatesIn(openedLogOf(cluster), chain)
        const ofChain = listeners.filter((listener) => listener.chain === chain)
        expect(expectPushes(ofChain, updates).length).toBe(replays)
        found.set(chain, updates)
      }
      for (const listener of listeners) listener.close()
      return found
    },
    /** With the configuration of the servers, which has the money from before the first replay. */
    async verify(): Promise<void> {
      const { code, out, err } = await cluster.run('verify')
      expect({ code, err: code === 0 ? '' : out + err }).toEqual({ code: 0, err: '' })
    },
  }
}

/** It came to its end and was switched to. */
export async function expectSwitched(chain: string, running: Started): Promise<void> {
  const { code, out, err } = await running.ended
  expect({ code, out, err: code === 0 ? '' : err }).toEqual({
    ...{ code: 0, out: expect.stringMatching(`^${chain} continues in epoch \\d+, as replayed\\.\n$`), err: '' },
  })
}
