import { setImmediate as nextTurn } from 'node:timers/promises'

type Batch<Asked, Found> = { asked: Asked[]; found: Promise<readonly Found[]> }

/**
 * One reading at a time for each key: what is asked for meanwhile is read together in the next. A query takes the engine some 20 ms,
 * however little it reads. `read` answers in the order of what was asked.
 */
export function createMergedReads<Asked, Found>(
  keyOf: (asked: Asked) => string,
  read: (asked: readonly Asked[]) => Promise<readonly Found[]>,
): (asked: Asked) => Promise<Found> {
  const waiting = new Map<string, Batch<Asked, Found>>()
  const running = new Map<string, Promise<unknown>>()

  async function run(key: string, asked: readonly Asked[], before: Promise<unknown> | undefined) {
    await before?.catch(() => undefined)
    // Others that waited for the same flush ask in this turn.
    await nextTurn()
    waiting.delete(key)
    return read(asked)
  }

  function open(key: string): Batch<Asked, Found> {
    const asked: Asked[] = []
    const batch = { asked, found: run(key, asked, running.get(key)) }
    const done = batch.found.then(
      () => undefined,
      () => undefined,
    )
    waiting.set(key, batch)
    running.set(key, done)
    void done.then(() => {
      if (running.get(key) === done) running.delete(key)
    })
    return batch
  }

  return async (asked) => {
    const key = keyOf(asked)
    const batch = waiting.get(key) ?? open(key)
    const at = batch.asked.push(asked) - 1
    return (await batch.found)[at] as Found
  }
}
