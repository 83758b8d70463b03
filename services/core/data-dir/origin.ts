/** Where a data directory's blocks come from. Simulated and real data never share one: a made-up price must not pass for a real one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../domain/errors.js'
import type { DataDir } from './data-dir.js'

export type Origin = 'real' | 'simulated'

/**
 * A simulated market is one seed's for good: blocks of another would not follow its own. Neither would a live market's follow those of a recording,
 * which started at another time.
 */
export type Claim = { origin: 'real' } | { origin: 'simulated'; seed: number; isRecorded?: true }

const OTHER_DIR = 'Name another directory with DEXTAPE_DATA_DIR or --data-dir.'

/** Undefined: nothing was ever written here. A log without a mark was written before there were marks, and is real. */
export function originOf(path: string): Origin | undefined {
  return claimOf(path)?.origin
}

/** Marks the directory, or refuses where it held something else (`claimOf`, before a log was opened in it). */
export function claimOrigin(dir: DataDir, wanted: Claim, held: Claim | undefined): void {
  if (held !== undefined) assertSameOrigin(`The data directory ${dir.path}`, held, wanted, OTHER_DIR)
  if (!existsSync(markOf(dir.path))) writeFileSync(markOf(dir.path), `${claimText(wanted)}\n`)
}

export function assertSameOrigin(where: string, held: Claim, wanted: Claim, fix: string): void {
  if (claimText(held) !== claimText(wanted)) throw mixed(where, describeClaim(held), describeClaim(wanted), fix)
}

export function mixed(where: string, held: string, wanted: string, fix: string): ConfigError {
  return new ConfigError({
    code: 'data_mixed',
    what: `${where} holds ${held} data, and ${wanted} data must not be mixed with it`,
    fix,
  })
}

export function claimOf(path: string): Claim | undefined {
  const file = markOf(path)
  if (!existsSync(file)) return existsSync(join(path, 'log')) ? { origin: 'real' } : undefined
  const mark = readFileSync(file, 'utf8').trim()
  return readClaim(mark, file, OTHER_DIR)
}

/** As it stands in a mark: `real`, or `simulated`, the seed and whether it was recorded. */
export function claimText(claim: Claim): string {
  if (claim.origin === 'real') return 'real'
  return `simulated ${claim.seed}${claim.isRecorded === true ? ' recorded' : ''}`
}

export function readClaim(mark: string, where: string, fix: string): Claim {
  if (mark === 'real') return { origin: 'real' }
  const [, seed, recorded] = /^simulated (\d+)( recorded)?$/.exec(mark) ?? []
  if (seed !== undefined) return simulatedClaim(Number(seed), recorded !== undefined)
  throw new ConfigError({
    code: 'data_origin_unknown',
    what: `${where} does not say where the data comes from`,
    expected: '"real", or "simulated", a seed and perhaps "recorded"',
    got: JSON.stringify(mark.slice(0, 40)),
    fix,
  })
}

const markOf = (path: string): string => join(path, 'ORIGIN')

export function simulatedClaim(seed: number, isRecorded: boolean): Claim {
  return { origin: 'simulated', seed, ...(isRecorded ? { isRecorded } : {}) }
}

export function describeClaim(claim: Claim): string {
  if (claim.origin === 'real') return 'real'
  return claim.isRecorded === true ? `recorded simulated (seed ${claim.seed})` : `simulated (seed ${claim.seed})`
}
