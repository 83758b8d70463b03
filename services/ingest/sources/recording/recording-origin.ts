/** Checks a recording's first lines: whether its market is simulated, and whether it holds blocks. */
import { type Claim, simulatedClaim } from '../../../core/data-dir/origin.js'
import { isObject } from '../../validate/check-fields.js'
import { SEED_FIELD } from '../../validate/read-line.js'
import { notBlocks } from './not-blocks.js'
import { isBlank, withoutByteOrderMark } from './split-lines.js'

type Bytes = { bytes: Buffer }

/** From the first line that is a record. Recordings without a mark are real. */
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

/** Exports of other topics are JSON lines too: they are refused as a whole instead of dead-lettered line by line. */
export function assertBlocks(line: Buffer, name: string, at: number): void {
  const value = recordOf(line)
  const topic = value === undefined ? undefined : otherTopic(value)
  if (topic === undefined) return
  throw notBlocks(name, `line ${at} is ${topic}`)
}

function otherTopic(value: Record<string, unknown>): string | undefined {
  if (Array.isArray(value.events)) return undefined
  if ('epoch' in value && 'seq' in value && Array.isArray(value.pairs)) return 'an update (topic dex.updates.*)'
  if ('epoch' in value && 'seq' in value && 'op' in value) return 'a trade (topic dex.trades.*)'
  if ('reason' in value && 'detail' in value && 'raw' in value) return 'a dead letter (topic dex.dead.*)'
  if ('key' in value && 'value' in value && !('chain' in value))
    return 'of an internal topic (dex.keys, dex.state.*, …)'
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
