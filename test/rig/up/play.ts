/** Runs of `up` over a recording, to its end or cut short. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended, UpOptions, UpProcess } from './process.js'
import { startUp } from './process.js'

/** Much is written in little time, so that a stop at any moment meets writes; nothing is let go of for its age. */
export const BUSY = {
  intervals: { flush_ms: 50, checkpoint_ms: 50 },
  retention: { updates_h: 1_000_000, s1_candles_d: 100_000 },
}

/** A place for data directories and recordings; short, since a socket's path is. */
export const scratchFolder = (): string => mkdtempSync(join(tmpdir(), 'dx-up-'))

/** Until each chain's seq is folded and served: after a crash, updates are served that the fold comes to again only later. */
export async function untilSeqs(up: UpProcess, seqs: ReadonlyMap<string, number>): Promise<void> {
  await up.until(`seq ${[...seqs].map(([chain, seq]) => `${chain} ${seq}`).join(', ')}`, async () => {
    const status = await up.status()
    if ([...seqs].some(([chain, seq]) => status.get(chain)?.seq !== seq)) return false
    const metrics = await up.metrics()
    return [...seqs].every(([chain, seq]) => metrics.get(`dextape_fold_seq{chain="${chain}"}`) === seq)
  })
}

/** Until this run's fold has read so many records of each chain, also those it dropped as known. */
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

/** The same without the writes, for runs that nothing interrupts: an insert into the embedded engine costs 12 ms. */
const CALM = { ...BUSY, intervals: { flush_ms: 500, checkpoint_ms: 500 } }

/** Plays as fast as it goes until `reached`, then stops; a stop that is not clean is an error. */
export async function play(options: UpOptions, reached: (up: UpProcess) => Promise<void>): Promise<void> {
  const up = startUp({ speed: 'max', config: CALM, ...options })
  try {
    await reached(up)
  } catch (error) {
    await up.kill()
    throw error
  }
  stoppedCleanly(await up.stop())
}

export const STOP_WITHIN_MS = 5000

export function stoppedCleanly({ code, signal, err, tookMs }: Ended & { tookMs: number }): void {
  if (code !== 0) throw new Error(`up ended with ${code ?? signal} instead of 0 after SIGTERM\n${err}`)
  if (tookMs > STOP_WITHIN_MS) throw new Error(`up took ${Math.round(tookMs)} ms to stop`)
}
