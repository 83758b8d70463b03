/** Checkpoints of a simulated cluster: atomic sets, with one owner at a time, as the fenced topic has them. */
import type { StateChange, StateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import type { SimulatedProcess } from './faults.js'

/** What survives every process. `owner`: the number of the last claim. */
export type StateDisk = { owner: number; values: Map<string, Uint8Array> }

export const createStateDisk = (): StateDisk => ({ owner: 0, values: new Map() })

/** Takes the checkpoints over: whoever had them before can no longer write. */
export async function claimState(disk: StateDisk, { ask }: SimulatedProcess): Promise<StateStore> {
  const { owner, known } = await ask({
    part: 'state',
    apply: () => {
      disk.owner += 1
      return { owner: disk.owner, known: new Map(disk.values) }
    },
  })

  async function write(changes: readonly StateChange[]): Promise<void> {
    const copies = changes.map(({ key, value }) => ({ key, value: value === null ? null : Uint8Array.from(value) }))
    await ask({
      part: 'state',
      apply: () => {
        if (disk.owner !== owner) throw fenced()
        for (const { key, value } of copies) {
          if (value === null) disk.values.delete(key)
          else disk.values.set(key, value)
        }
      },
    })
    for (const { key, value } of copies) {
      if (value === null) known.delete(key)
      else known.set(key, value)
    }
  }

  return {
    get: (key) => known.get(key),
    *entries(prefix) {
      for (const key of [...known.keys()].filter((name) => name.startsWith(prefix)).sort()) {
        const value = known.get(key)
        if (value !== undefined) yield { key, value }
      }
    },
    commit: write,
    clear: () => write([...known.keys()].map((key) => ({ key, value: null }))),
    close: async () => {},
  }
}

function fenced(): DextapeError {
  return new DextapeError({ code: 'fenced', what: 'Another process has taken over these checkpoints' })
}
