/** A simulated chain that advances in real time, one slot per interval, and records when each block was created. */
import type { Ledger } from './ledger.js'

export type LiveLedger = {
  /** When each block was created, by hash, on the clock of `performance.now`. */
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
