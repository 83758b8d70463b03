/** What a recording says of itself: whether its market is simulated, and whether it holds blocks at all. */
import { type Claim, simulatedClaim } from '../../../core/data-dir/origin.js'
import { ConfigError } from '../../../core/domain/errors.js'
import { isObject } from '../../validate/fields.js'
import { SEED_FIELD } from '../../validate/line.js'
import { isBlank, withoutByteOrderMark } from './lines.js'

type Bytes = { bytes: Buffer }

/** By the first line that is a record. Recordings without a mark are real. */
export function claimAmong(lines: readonly Bytes[], name: string): Claim {
  for (const [at, { bytes }] of lines.entries()) {
    const value = isBlank(bytes) ? undefined : recordOf(bytes)
    if (value === undefined) continue
    assertBlocks(bytes, name, at + 1)
    const seed = value[SEED_FIELD]
    return typeof seed === 'number' ? simulatedClaim(seed, true) : { origin: 'real' }
  }
  return { origin: 'real' }
}

export const seedOf = (claim: Claim): number | undefined => (claim.origin === 'simulated' ? claim.seed : undefined)

/** Other topics' exports are JSON lines too: refused by name, rather than dead-lettered line by line. */
export function assertBlocks(line: Buffer, name: string, at: number): void {
  const value = recordOf(line)
  const topic = value === undefined ? undefined : otherTopic(value)
  if (topic === undefined) return
  throw new ConfigError({
    code: 'recording_not_blocks',
    what: `${name} is no recording of blocks: line ${at} is ${topic}`,
    fix: 'Export the blocks instead: dextape topics export CHAIN --out blocks.jsonl.gz. Everything else is computed from them.',
  })
}

function otherTopic(value: Record<string, unknown>): string | undefined {
  if (Array.isArray(value.events)) return undefined
  if ('epoch' in value && 'seq' in value && Array.isArray(value.pairs)) return 'an update (topic dex.updates.*)'
  if ('epoch' in value && 'seq' in value && 'op' in value) return 'a trade (topic dex.trades.*)'
  if ('reason' in value && 'detail' in value && 'raw' in value) return 'a dead letter (topic dex.dead.*)'
  return undefined
}

function recordOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(bytes).toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
