/** Reads the risk of tokens at a block's end, as meta events that end the block. */

import type { KnownLocker } from '../../../core/config/contracts/lockers.js'
import type { DextapeError } from '../../../core/domain/errors.js'
import type { Event, MetaEvent } from '../../../core/domain/records.js'
import { placeAfter } from '../../decode/evm/block/place-after.js'
import type { TokenCheck } from '../../decode/evm/block/risk-checks.js'
import type { EvmBlock } from '../../decode/evm/log.js'
import { inspectLocks } from '../../decode/evm/risk/inspect-locks.js'
import { inspectPositions } from '../../decode/evm/risk/inspect-positions.js'
import { type Inspection, inspectToken, type TokenInspection } from '../../decode/evm/risk/inspect-token.js'
import { riskOf } from '../../decode/evm/risk/token-risk.js'
import type { LockInspection } from '../../decode/lock-facts.js'
import { isPruned } from '../nodes/node-fault.js'
import type { ChainReader } from './chain-reader.js'

type ReadState = NonNullable<ChainReader['state']>

export type CheckParts = {
  readState: ReadState
  /** Who created a token; null: unknown. */
  creatorOf: (token: string, block: EvmBlock, signal: AbortSignal) => Promise<string | null>
  /** Undefined: locks are not read. */
  lockers: readonly KnownLocker[] | undefined
  onPruned: (error: DextapeError) => void
}

/** `last`: the block's last event. A token that could not be read at all has no event. */
export async function checkTokens(
  checks: readonly TokenCheck[],
  block: EvmBlock,
  last: Event | undefined,
  { readState, creatorOf, lockers, onPruned }: CheckParts,
  signal: AbortSignal,
): Promise<MetaEvent[]> {
  const read = await Promise.all(
    checks.map(async ({ token, pool, positions }): Promise<Read | null> => {
      const [found, held, ranges, creator] = await Promise.all([
        inspected(inspectToken(token, pool, block.hash)),
        lockers === undefined ? null : inspected(inspectLocks(token, sharesOf(pool), lockers, block.timeS)),
        positions === null ? null : inspected(inspectPositions(positions, lockers ?? [], block.timeS)),
        creatorOf(token, block, signal),
      ])
      const locks = held === null ? null : { ...held, pair: held.pair ?? ranges }
      return found === null ? null : { found, locks, creator }
    }),
  )
  const place = placeAfter(last, block)
  const metas: MetaEvent[] = []
  for (const one of read) {
    const risk = one === null ? null : riskOf(one.found, block.number, one)
    if (one === null || risk === null) continue
    const facts = {
      total_supply: null,
      owner: risk.owner,
      risk: JSON.stringify(risk.risk),
      logo_url: null,
      links: null,
      holders_complete: null,
    }
    metas.push({ type: 'meta', ...place, sub: place.sub + metas.length, token: one.found.token, ...facts })
  }
  return metas

  async function inspected<Found>(inspection: Inspection<Found>): Promise<Found | null> {
    let answers: readonly (string | null)[] = []
    try {
      for (;;) {
        const { done, value } = inspection.next(answers)
        if (done === true) return value
        answers = await readState(value, block, signal)
      }
    } catch (error) {
      if (!isPruned(error)) throw error
      onPruned(error)
      return null
    }
  }
}

type Read = { found: TokenInspection; locks: LockInspection | null; creator: string | null }

/** The pools whose shares are a token at their own address. */
const sharesOf = (pool: TokenCheck['pool']): string | null =>
  pool !== null && (pool.kind === 'v2' || pool.kind === 'solidly') ? pool.pool : null
