/**
 * Repairs that are not finished: what was damaged, and up to which block each chain must be stored again. Kept in the data directory,
 * so that a process killed in the middle of one does not pass for whole at its next start.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonFile, writeJsonFile } from '../runtime/json-file.js'
import type { Logger } from '../runtime/logger.js'

export type DamagedPart = 'log' | 'state' | 'store' | 'sources' | 'book'

export type Damage = {
  part: DamagedPart
  /** What is wrong, with the file and its extent. */
  what: string
  /** What is done about it. */
  answer: string
}

export type Repair = Damage & {
  /** Epoch seconds. */
  found: number
  /** By chain: the block up to which its rows must be stored again, in this epoch or a later one. */
  until: Record<string, { block: number; epoch: number }>
  /** False until the damaged data is removed: before, what is stored is not what the repair stores. */
  isPrepared?: boolean
}

export interface Repairs {
  /** Unfinished ones. */
  list(): Repair[]
  /** When this process last found damage, in epoch seconds; 0: never. A repair may end before anyone looks. */
  lastFound(): number
  /** Logged and stored. Without chains there is nothing to wait for. */
  begin(damage: Damage, until: Repair['until'], isPrepared?: boolean): void
  /** The damaged data of all is removed. */
  prepared(): void
  /** A chain's rows are stored up to this block. */
  noteStored(chain: string, block: number, epoch: number): void
}

export const repairsFileOf = (dataDir: string): string => join(dataDir, 'repairs.json')

export function openRepairs(dataDir: string, logger: Logger, nowMs: () => number = Date.now): Repairs {
  const path = repairsFileOf(dataDir)
  let repairs = (readJsonFile(path) as Repair[] | undefined) ?? []
  let lastFound = 0

  function store(changed: Repair[]): void {
    repairs = changed
    if (repairs.length === 0) rmSync(path, { force: true })
    else writeJsonFile(path, repairs)
  }

  return {
    list: () => repairs,
    lastFound: () => lastFound,
    begin(damage, until, isPrepared = true) {
      logger.error('damage found', { part: damage.part, what: damage.what, answer: damage.answer })
      lastFound = Math.floor(nowMs() / 1000)
      if (Object.keys(until).length === 0) return
      store([...repairs, { ...damage, found: lastFound, until: { ...until }, isPrepared }])
    },
    prepared: () => store(repairs.map((repair) => ({ ...repair, isPrepared: true }))),
    noteStored(chain, block, epoch) {
      const isReached = ({ until: { [chain]: wanted }, isPrepared }: Repair): boolean =>
        wanted !== undefined && isPrepared !== false && block >= wanted.block && epoch >= wanted.epoch
      if (!repairs.some(isReached)) return
      const left = repairs.map((repair) => {
        const { [chain]: _reached, ...others } = repair.until
        return isReached(repair) ? { ...repair, until: others } : repair
      })
      for (const { until, part, what } of left)
        if (Object.keys(until).length === 0) logger.info('repair finished', { part, what })
      store(left.filter(({ until }) => Object.keys(until).length > 0))
    },
  }
}
