/** Reference pools as they were chosen at the first start, beside the book: the same ones after a restart, however liquidity moved meanwhile. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface KeptReferences {
  /** Undefined: none were chosen for these pools, or what was written is not whole. */
  read(): string[] | undefined
  write(pools: readonly string[]): void
}

/** `named`: the pools they were chosen for. */
export function keptReferences(folder: string, named: readonly string[]): KeptReferences {
  const file = join(folder, 'reference-pools.json')
  const key = [...named].sort().join()
  return {
    read() {
      const kept = existsSync(file) ? parsed(readFileSync(file, 'utf8')) : null
      return kept?.key === key && Array.isArray(kept.pools) ? kept.pools : undefined
    },
    write(pools) {
      mkdirSync(folder, { recursive: true })
      // A crash must not leave half of it.
      writeFileSync(`${file}.new`, JSON.stringify({ key, pools }))
      renameSync(`${file}.new`, file)
    },
  }
}

function parsed(text: string): { key?: unknown; pools?: string[] } | null {
  try {
    return JSON.parse(text) as { key?: unknown; pools?: string[] } | null
  } catch {
    return null
  }
}
