/** Long work in short turns: what else the event loop has to do never waits for all of it. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 2

/** Runs `work` to its end. It can be interrupted at each of its yields; `check` runs before it goes on, and may throw. */
export async function inTurns<T>(work: Generator<void, T>, check: () => void = () => {}): Promise<T> {
  let endMs = performance.now() + TURN_MS
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (performance.now() < endMs) continue
    await nextTurn()
    check()
    endMs = performance.now() + TURN_MS
  }
}

/** Runs it in one go. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
