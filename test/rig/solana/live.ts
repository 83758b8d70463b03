/** A made chain that goes on by itself, a slot every so often, as a real one does; what became of its blocks is timed. */
import type { Ledger } from './ledger.js'

export type LiveLedger = {
  /** When each block came to be, by hash, on the clock of `performance.now`. */
  readonly madeAtMs: ReadonlyMap<string, number>
  stop(): void
}

export function keepGoing(ledger: Ledger, slotMs: number): LiveLedger {
  const madeAtMs = new Map<string, number>()
  const ended = ledger.onBlock(({ blockhash }) => madeAtMs.set(blockhash, performance.now()))
  const timer = setInterval(() => ledger.advance(), slotMs)
  return {
    madeAtMs,
    stop() {
      clearInterval(timer)
      ended()
    },
  }
}
