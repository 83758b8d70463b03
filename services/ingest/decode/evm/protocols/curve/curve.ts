/**
 * Curve: pools of two to eight coins, plain, meta and crypto. Logs do not tell the pool's part of the fees nor what rebasing coins
 * gained, so reserves are the pool's own `balances`, read at the block's end. A pool counts if one of Curve's registries or factories
 * knows it, or if it is named.
 */

import type { EvmLog } from '../../log.js'
import { BadLog, type Happening, type Protocol, type Reading } from '../../protocol.js'
import type { Venue, VenueState } from '../../venue.js'
import { curveLogOf, TOPICS } from './curve-logs.js'
import { describeCurvePool, readCurveBalances } from './curve-reading.js'

export const curve: Protocol = {
  name: 'curve',
  // Registries are younger than the first pools, and take others in by vote.
  isVouchedLater: true,
  // Factories' logs leave out the pool's address or its coins: a pool is described at its first log.
  creationTopics: [],
  topics: TOPICS,
  venueOf: (log) => log.address,
  created: () => null,
  describe: describeCurvePool,
  emptyState: () => ({ reserves: null }),
  *readState(venue): Reading<VenueState> {
    return { reserves: yield* readCurveBalances(venue) }
  },
  apply: (log, venue, state) => ({ state, happenings: [happeningOf(log, venue)] }),
  isPricedByTrades: () => true,
  readReserves: readCurveBalances,
}

function happeningOf(log: EvmLog, { tokens, facts }: Venue): Happening {
  const told = curveLogOf(log, facts?.isCrypto === true)
  const base = { log, reserves: null, sender: told.who }
  switch (told.kind) {
    case 'swap': {
      const [tokenIn, tokenOut] = [told.sold, told.bought]
      if (tokenIn === tokenOut || Math.max(tokenIn, tokenOut) >= tokens.length)
        throw new BadLog(log, 'not two of its coins')
      const amounts = { amountIn: told.amountSold, amountOut: told.amountBought }
      return { kind: 'swap', ...base, recipient: told.who, tokenIn, tokenOut, ...amounts }
    }
    case 'add':
    case 'remove':
      if (told.amounts.length !== tokens.length) throw new BadLog(log, `${told.amounts.length} amounts`)
      return { kind: 'liquidity', change: told.kind, ...base, amounts: told.amounts }
    case 'remove-one': {
      if (told.coin >= tokens.length) throw new BadLog(log, `coin ${told.coin}`)
      const amounts = tokens.map((_, coin) => (coin === told.coin ? told.amount : 0n))
      return { kind: 'liquidity', change: 'remove', ...base, amounts }
    }
    case 'moved':
      return { kind: 'reserves', ...base }
  }
}
