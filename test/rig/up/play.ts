/** Runs `up` over a recording, to its end or up to a stop. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended, UpOptions, UpProcess } from './process.js'
import { startUp } from './process.js'

/** Frequent writes, so that a stop at any moment interrupts some, and no expiry during a test. */
export const BUSY = {
  intervals: { flush_ms: 50, checkpoint_ms: 50 },
  retention: { updates_h: 1_000_000, s1_candles_d: 100_000 },
}

/** A folder for data directories and recordings; short, because socket paths are limited. */
export const scratchFolder = (): string => mkdtempSync(join(tmpdir(), 'dx-up-'))

/** Waits until each seq is folded and served: after a crash, serve can be ahead of the fold. */
export async function untilSeqs(up: UpProcess, seqs: ReadonlyMap<string, number>): Promise<void> {
  await up.until(`seq ${[...seqs].map(([chain, seq]) => `${chain} ${seq}`).join(', ')}`, async () => {
    const status = await up.status()
    if ([...seqs].some(([chain, seq]) => status.get(chain)?.seq !== seq)) return false
    const metrics = await up.metrics()
    return [...seqs].every(([chain, seq]) => metrics.get(`dextape_fold_seq{chain="${chain}"}`) === seq)
  })
}

/** Waits until the fold of this run has read this many records of each chain, dropped duplicates included. */
export async function untilRead(up: UpProcess, records: ReadonlyMap<string, number>): Promise<void> {
  await up.until('all records read', async () => {
    const metrics = await up.metrics()
    const read = (chain: string) =>
      ['blocks', 'retracts', 'repeated']
        .map((kind) => metrics.get(`dextape_fold_${kind}_total{chain="${chain}"}`) ?? 0)
        .reduce((sum, count) => sum + count, 0)
    return [...records].every(([chain, count]) => read(chain) >= count)
  })
}

/** Fewer writes, for uninterrupted runs: an insert into the embedded engine costs 12 ms. */
const CALM = { ...BUSY, intervals: { flush_ms: 500, checkpoint_ms: 500 } }

/** A stop gives the store a few seconds, which a busy machine may take for something else. */
async function untilStored(up: UpProcess): Promise<void> {
  await up.until('everything folded is stored', async () => {
    const metrics = await up.metrics()
    const folded = [...metrics].filter(([name]) => name.startsWith('dextape_fold_seq{'))
    return folded.every(([name, seq]) => metrics.get(name.replace('_fold_', '_store_')) === seq)
  })
}

/** Plays at full speed until `reached` and stored, then stops; throws if the exit code is not 0. */
export async function play(options: UpOptions, reached: (up: UpProcess) => Promise<void>): Promise<void> {
  const up = startUp({ speed: 'max', config: CALM, ...options })
  try {
    await reached(up)
    await untilStored(up)
  } catch (error) {
    await up.kill()
    throw error
  }
  exitedWithZero(await up.stop())
}

export const STOP_WITHIN_MS = 5000

export function stoppedCleanly({ tookMs, ...ended }: Ended & { tookMs: number }): void {
  exitedWithZero(ended)
  if (tookMs > STOP_WITHIN_MS) throw new Error(`up took ${Math.round(tookMs)} ms to stop`)
}

function exitedWithZero({ code, signal, err }: Ended): void {
  if (code !== 0) throw new Error(`up ended with ${code ?? signal} instead of 0 after SIGTERM\n${err}`)
}
