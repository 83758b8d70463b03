/** Where a data directory's blocks come from. Simulated and real data never share one: a made-up price must not pass for a real one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../domain/errors.js'
import type { DataDir } from './data-dir.js'

export type Origin = 'real' | 'simulated'

/** A simulated market is one seed's for good: blocks of another would not follow its own. */
export type Claim = { origin: 'real' } | { origin: 'simulated'; seed: number }

const OTHER_DIR = 'Name another directory with DEXTAPE_DATA_DIR or --data-dir.'

/** Undefined: nothing was ever written here. A log without a mark was written before there were marks, and is real. */
export function originOf(path: string): Origin | undefined {
  return claimOf(path)?.origin
}

/** Marks the directory, or refuses where it holds something else. */
export function claimOrigin(dir: DataDir, wanted: Claim): void {
  const held = claimOf(dir.path)
  if (held !== undefined && textOf(held) !== textOf(wanted)) {
    throw mixed(`The data directory ${dir.path}`, describe(held), describe(wanted), OTHER_DIR)
  }
  if (!existsSync(markOf(dir.path))) writeFileSync(markOf(dir.path), `${textOf(wanted)}\n`)
}

export function mixed(where: string, held: string, wanted: string, fix: string): ConfigError {
  return new ConfigError({
    code: 'data_mixed',
    what: `${where} holds ${held} data, and ${wanted} data must not be mixed with it`,
    fix,
  })
}

function claimOf(path: string): Claim | undefined {
  const file = markOf(path)
  if (!existsSync(file)) return existsSync(join(path, 'log')) ? { origin: 'real' } : undefined
  const mark = readFileSync(file, 'utf8').trim()
  if (mark === 'real') return { origin: 'real' }
  const [, seed] = /^simulated (\d+)$/.exec(mark) ?? []
  if (seed !== undefined) return { origin: 'simulated', seed: Number(seed) }
  throw new ConfigError({
    code: 'data_origin_unknown',
    what: `${file} does not say where the data comes from`,
    expected: '"real", or "simulated" and a seed',
    got: JSON.stringify(mark.slice(0, 40)),
    fix: OTHER_DIR,
  })
}

const markOf = (path: string): string => join(path, 'ORIGIN')
const textOf = (claim: Claim): string => (claim.origin === 'real' ? 'real' : `simulated ${claim.seed}`)
const describe = (claim: Claim): string => (claim.origin === 'real' ? 'real' : `simulated (seed ${claim.seed})`)
