/** Works while something stands still most of the time: it goes on for a moment after each pause. */
import { setTimeout as sleep } from 'node:timers/promises'

export type Pulse = { stop: () => void; stopMs: number; go: () => void; goMs: number }

export async function whilePulsing({ stop, stopMs, go, goMs }: Pulse, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const pulsing = (async () => {
    while (!ending.signal.aborted) {
      stop()
      await sleep(stopMs)
      go()
      await sleep(goMs)
    }
  })()
  try {
    await work()
  } finally {
    ending.abort()
    await pulsing
  }
}
