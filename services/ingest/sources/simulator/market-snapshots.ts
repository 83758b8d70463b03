/**
 * The market's state on disk. Two snapshots are kept; the older is deleted only once a position after the newer is stored.
 * So after any crash one of them is at or before the position to resume from.
 */
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { DataDir } from '../../../core/data-dir/data-dir.js'
import type { MarketState } from './market-state.js'

export type SnapshotStore = { load(): Promise<string | undefined>; save(snapshot: string): Promise<void> }

/** What a run's blocks depend on, apart from the rates. */
export type Origin = { seed: number; chains: string[]; startS: number; historyS: number }

type Kept = { step: number; state: string }
type File = { origin: Origin; kept: Kept[] }

export type Snapshots = {
  /** The last run's; undefined: none, or another market's. */
  readonly origin: Origin | undefined
  /** Whether a position of that run must have been stored. */
  readonly wasPublished: boolean
  begin(origin: Origin): Promise<void>
  /** The latest at or before a step. */
  latest(origin: Origin, step: number): { step: number; states: MarketState[] } | undefined
  /** `storedStep`: a stored position is at least this far. False: the older snapshot is still needed. */
  keep(step: number, states: readonly MarketState[], storedStep: number): Promise<boolean>
}

export async function openSnapshots(store: SnapshotStore, seed: number, chains: readonly string[]): Promise<Snapshots> {
  let file = parseSnapshots(await store.load())
  if (file?.origin.seed !== seed || file.origin.chains.join() !== chains.join()) file = undefined
  return {
    get origin() {
      return file?.origin
    },
    get wasPublished() {
      return (file?.kept.length ?? 0) > 1
    },
    async begin(origin) {
      file = { origin, kept: [] }
      await store.save(JSON.stringify(file))
    },
    latest(origin, step) {
      if (file === undefined || JSON.stringify(file.origin) !== JSON.stringify(origin)) return undefined
      const found = file.kept.findLast((kept) => kept.step <= step)
      const states = found === undefined ? undefined : readStates(found.state)
      return found === undefined || states === undefined ? undefined : { step: found.step, states }
    },
    async keep(step, states, storedStep) {
      if (file === undefined) return false
      const newest = file.kept.at(-1)
      if (newest !== undefined && storedStep < newest.step) return false
      const state = serialize(states).toString('base64')
      file = { ...file, kept: [...(newest === undefined ? [] : [newest]), { step, state }] }
      await store.save(JSON.stringify(file))
      return true
    },
  }
}

/** An unreadable file counts as missing: the market is recomputed from its start. */
function parseSnapshots(text: string | undefined): File | undefined {
  if (text === undefined) return undefined
  try {
    const { origin, kept } = JSON.parse(text) as Partial<File>
    return origin === undefined || !Array.isArray(kept) ? undefined : { origin, kept }
  } catch {
    return undefined
  }
}

function readStates(text: string): MarketState[] | undefined {
  try {
    return deserialize(Buffer.from(text, 'base64')) as MarketState[]
  } catch {
    return undefined
  }
}

/** Replaced as a whole, so that a crash leaves the previous file. */
export function fileSnapshots(dir: Pick<DataDir, 'path'>): SnapshotStore {
  const folder = join(dir.path, 'simulator')
  const file = join(folder, 'market.json')
  return {
    async load() {
      try {
        return await readFile(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async save(snapshot) {
      await mkdir(folder, { recursive: true })
      const draft = await open(`${file}.draft`, 'w')
      try {
        await draft.writeFile(snapshot)
        await draft.sync()
      } finally {
        await draft.close()
      }
      await rename(`${file}.draft`, file)
    },
  }
}
