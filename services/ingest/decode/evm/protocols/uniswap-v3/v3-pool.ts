/** A protocol of concentrated-liquidity pools, composed of what its logs do, how its factory tells new pools and how a pool is known. */
import type { KnownContract } from '../../../../../core/domain/evm-contracts.js'
import { readBalances } from '../../erc20.js'
import type { EvmLog } from '../../log.js'
import { describePool, type PoolKind } from '../../pool-contract.js'
import { BadLog, type Protocol, type Reading } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { move, settle, type V3State, v3State } from './v3-ledger.js'
import type { ReadMove } from './v3-logs.js'

export type V3Parts = {
  kind: PoolKind
  moves: ReadonlyMap<string, ReadMove>
  /** By topic0 of the factory's log. */
  creations: ReadonlyMap<string, (log: EvmLog, contract: KnownContract) => Venue | null>
}

export function v3Protocol({ kind, moves, creations }: V3Parts): Protocol<V3State> {
  return {
    name: kind.protocol,
    creationTopics: [...creations.keys()],
    topics: [...moves.keys()],
    venueOf: (log) => log.address,
    created: (log, contract) => creations.get(log.topics[0] ?? '')?.(log, contract) ?? null,
    describe: (id, _log, chain) => describePool(id, kind, chain),
    emptyState: () => v3State([0n, 0n]),
    *readState(venue): Reading<V3State> {
      return v3State(yield* readBalances(venue.tokens, venue.id))
    },
    apply(log, _venue, state) {
      const read = moves.get(log.topics[0] ?? '')
      if (read === undefined) throw new BadLog(log, `no log of ${kind.protocol}`)
      return move(log, state, read(log))
    },
    settle: (_venue, state) => settle(state),
  }
}
