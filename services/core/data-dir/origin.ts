/** Where a data directory's blocks come from. Simulated and real data are never mixed: a made-up price must not look real. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../domain/errors.js'
import type { DataDir } from './data-dir.js'

export type Origin = 'real' | 'simulated'

/**
 * A simulated market keeps its seed: blocks of another seed would not continue it. Nor would those of a live market
 * continue a recording, which started at another time.
 */
export type Claim = { origin: 'real' } | { origin: 'simulated'; seed: number; isRecorded?: true }

const OTHER_DIR = 'Use another directory (DEXTAPE_DATA_DIR or --data-dir).'

/** Undefined: nothing was ever written here. A log without a mark is older than marks, and real. */
export function originOf(path: string): Origin | undefined {
  return claimOf(path)?.origin
}

/** Marks the directory; throws if it held other data. `held` is from `claimOf`, before a log was opened in it. */
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
    what: `${where} holds ${held} data; it cannot be mixed with ${wanted} data`,
    fix,
  })
}

export function claimOf(path: string): Claim | undefined {
  const file = markOf(path)
  if (!existsSync(file)) return existsSync(join(path, 'log')) ? { origin: 'real' } : undefined
  const mark = readFileSync(file, 'utf8').trim()
  return readClaim(mark, file, OTHER_DIR)
}

/** The text of a mark: `real`, or `simulated`, the seed and whether it was recorded. */
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
    what: `${where} has an unknown origin mark`,
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
