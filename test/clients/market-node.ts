/** A market with reorgs and the node that serves it, on ports that stay the same when it restarts. */
import { vi } from 'vitest'
import type { Serve } from '../../services/serve/main.js'
import { generateRecording } from '../rig/market/generate.js'
import { isRetract, type RecordingBlock, type RecordingLine } from '../rig/reference/lines.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { playMarket } from '../serve/push/played-market.js'
import { startRig } from '../serve/rig.js'

const plan = {
  ...{ seed: 20_266, chain: 'eth', blocks: 140 },
  options: {
    ...{ secondsPerBlock: 3, swapsPerBlock: 8, quietHour: 0, quietDay: 0, maxTimeBackS: 0, nastiness: 0.2 },
    retracts: { probability: 0.12, maxDepth: 4 },
  },
}
export const KEEP_ALL = { ringSeconds: 1_000_000, ringBytes: 1_000_000_000 }
/** So short that whoever is away for a few blocks finds a gap. */
export const KEEP_LITTLE = { ringSeconds: 6, ringBytes: 1_000_000_000, keyCheckMs: 50 }
export const PATIENCE = { timeout: 60_000, interval: 20 }

/** Lines played before the clients connect, and before the gap begins. */
export const OPENING = 30
export const BEFORE_GAP = 90

export type MarketNode = Awaited<ReturnType<typeof openMarketNode>>

export async function openMarketNode() {
  const lines = generateRecording(plan)
  const { at, pairs } = findReorg(lines, BEFORE_GAP)
  const rig = await startRig({ push: KEEP_ALL })
  const market = playMarket(rig, plan)
  await market.play(OPENING)
  const ports = { httpPort: await steadyPort(), wsPort: await steadyPort() }
  const infos = market.updates.flatMap((update) => update.pairs)
  const token = infos.find(({ pair, info }) => pair === pairs[0] && info)?.info?.token0 ?? ''

  async function caughtUp(node: Serve): Promise<void> {
    await vi.waitFor(async () => {
      const [state] = (await node.status()).chains
      if (state?.seq !== market.last.seq) throw new Error(`served: ${JSON.stringify(state)}`)
    }, PATIENCE)
  }

  return {
    ...{ rig, market, pairs, token, caughtUp },
    url: `http://127.0.0.1:${ports.httpPort}`,
    /** Plays up to a retract that removes swaps of the first pair. */
    playToReorg: () => market.play(at - (lines.length - market.remainingLines)),
    async start(push: Partial<typeof KEEP_LITTLE>): Promise<Serve> {
      const node = rig.open({ push, config: { ...rig.config, ...ports } })
      await node.start()
      await caughtUp(node)
      return node
    },
  }
}

/** The first retract from a line on that removes a swap of a pair which traded before; that pair, then the busiest others. */
function findReorg(recorded: readonly RecordingLine[], from: number): { at: number; pairs: string[] } {
  const kept: RecordingBlock[] = []
  for (const [at, line] of recorded.entries()) {
    if (!isRetract(line)) {
      kept.push(line)
      continue
    }
    const removed = kept.splice(kept.findIndex(({ hash }) => hash === line.to_hash) + 1)
    const traded = new Set(busiest(removed))
    const pair = busiest(kept).find((one) => traded.has(one))
    if (at >= from && pair !== undefined) return { at, pairs: [...new Set([pair, ...busiest(kept)])] }
  }
  throw new Error('no reorg removes a swap: choose another seed')
}

function busiest(blocks: readonly RecordingBlock[]): string[] {
  const swaps = new Map<string, number>()
  for (const { events } of blocks)
    for (const event of events) if (event.type === 'swap') swaps.set(event.pool, (swaps.get(event.pool) ?? 0) + 1)
  return [...swaps].sort(([, a], [, b]) => b - a).map(([pair]) => pair.toLowerCase())
}
