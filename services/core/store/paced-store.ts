/** A store that rests longer than it has worked, for work that can wait: the engine has the priority of the live fold. */
import { sleep } from '../runtime/backoff.js'
import type { Store } from './port.js'

/** After a statement that took long because the machine is busy, there is nothing to gain from more. */
const LONGEST_REST_MS = 2000
/** The engine works for it a quarter of the time. */
const REST_PER_WORK = 3
const NEVER = new AbortController().signal

/** No statement begins once `until` aborts: a process that stops needs the engine for its last rows. */
export function pacedStore(store: Store, until: AbortSignal = NEVER): Store {
  async function paced<T>(run: () => Promise<T>): Promise<T> {
    until.throwIfAborted()
    const beganMs = performance.now()
    const answer = await run()
    await sleep(Math.min(LONGEST_REST_MS, REST_PER_WORK * (performance.now() - beganMs)), until)
    return answer
  }
  return {
    ...store,
    insertRows: (table, rows) => paced(() => store.insertRows(table, rows)),
    query: (sql, params, limits) => paced(() => store.query(sql, params, limits)),
    command: (sql, params) => paced(() => store.command(sql, params)),
  }
}
