/** The first minute of a simulated market: its history is written and folded before a person is told to look. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../core/runtime/output.js'

type Served = { status(): Promise<{ chains: readonly { chain: string; lag_s: number; head: number }[] }> }

/** A chain this close to the clock is live. */
const LIVE_LAG_S = 10
const LOOK_EVERY_MS = 100
const TELL_EVERY_MS = 2000
/** After a long stop there is much to catch up: serving begins anyway, and /status tells the lag. */
const PATIENCE_MS = 60_000

export function createHistoryWatch(out: Output) {
  let written = 0
  return {
    /** 0 to 1: how much of the history the source has given. */
    onHistory(done: number): void {
      written = done
    },
    /** Until every chain is served up to the clock. */
    async untilLive(serve: Served, signal: AbortSignal): Promise<void> {
      const started = Date.now()
      let toldMs = started
      while (!signal.aborted && Date.now() - started < PATIENCE_MS) {
        const { chains } = await serve.status()
        if (chains.length > 0 && chains.every(({ head, lag_s }) => head > 0 && lag_s <= LIVE_LAG_S)) return
        if (Date.now() - toldMs >= TELL_EVERY_MS) {
          toldMs = Date.now()
          await out.line(progressLine(written, chains))
        }
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}

function progressLine(written: number, chains: readonly { chain: string; lag_s: number; head: number }[]): string {
  const behind = chains
    .filter(({ head }) => head > 0)
    .map(({ chain, lag_s }) => `${chain} ${span(lag_s)}`)
    .join(', ')
  const history =
    written < 1 ? `the simulated market's history is ${Math.floor(written * 100)} % written` : 'catching up'
  return behind === '' ? history : `${history}; behind the clock: ${behind}`
}

function span(seconds: number): string {
  if (seconds >= 7200) return `${Math.round(seconds / 3600)} h`
  return seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${seconds} s`
}
