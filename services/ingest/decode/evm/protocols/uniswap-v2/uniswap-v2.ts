/**
 * Uniswap V2 and its forks with the same events (Pancake V2, Sushi, Camelot V2 …). Signatures: `IUniswapV2Pair`,
 * `IUniswapV2Factory` of @uniswap/v2-core. Reserves are the pair's own, from its Sync logs, so token taxes and rebases
 * are included.
 */
import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress, uintAt } from '../../abi/log-fields.js'
import { addressWord, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { describePool, type PoolKind, tokensOf, venueOf } from '../../pool-contract.js'
import {
  type Applied,
  type Call,
  completeEvent,
  type EventDraft,
  netSwap,
  type Protocol,
  type Reading,
  type VenueEvent,
} from '../../protocol.js'
import type { Venue, VenueState } from '../../venue.js'

const PAIR_CREATED = topicOf('PairCreated(address,address,address,uint256)')
const SYNC = topicOf('Sync(uint112,uint112)')
export const SWAP = topicOf('Swap(address,uint256,uint256,uint256,uint256,address)')
export const MINT = topicOf('Mint(address,uint256,uint256)')
export const BURN = topicOf('Burn(address,uint256,uint256,address)')

export const GET_RESERVES = selectorOf('getReserves()')
/** Solidly's pairs answer it, Uniswap's never do. */
export const STABLE = selectorOf('stable()')
const GET_PAIR = selectorOf('getPair(address,address)')

const KIND: PoolKind = {
  protocol: 'uniswap-v2',
  forkAmm: 'v2fork',
  asks: [GET_RESERVES, STABLE],
  factsOf: ([reserves, stable]) =>
    answeredUint(reserves, 1, 112) === null || answeredUint(stable) !== null ? null : { fee: null },
  confirm: (factory, [token0, token1]) => [callOf(factory, GET_PAIR, addressWord(token0), addressWord(token1))],
}

export const uniswapV2: Protocol<PairState> = {
  name: KIND.protocol,
  creationTopics: [PAIR_CREATED],
  topics: [SYNC, SWAP, MINT, BURN],
  shareTopics: [MINT, BURN],
  venueOf: (log) => log.address,

  created(log, contract) {
    expectShape(log, 3, 2)
    const tokens = tokensOf(indexedAddress(log, 1), indexedAddress(log, 2))
    const pool = addressAt(log, 0)
    return tokens === null ? null : venueOf(pool, KIND.protocol, contract.amm, tokens, { fee: contract.fee ?? null })
  },

  describe: (id, _log, chain) => describePool(id, KIND, chain),
  emptyState: () => pairState([0n, 0n]),
  readState: (venue) => readPairState(venue),

  apply(log, _venue, state) {
    if (log.topics[0] === SYNC) {
      expectShape(log, 1, 2)
      return sync(log, state, [uintAt(log, 0, 112), uintAt(log, 1, 112)])
    }
    return applyPairLog(log, state)
  },
  refuse: (log, state) => refuse(state, log.topics[0] === SYNC),
  settle: (_venue, state) => settle(state),
}

/** Logs that Solidly's first pairs share with Uniswap's. */
export function applyPairLog(log: EvmLog, state: PairState): Applied<PairState> {
  switch (log.topics[0]) {
    case SWAP: {
      expectShape(log, 3, 4)
      return claim(log, state, swapOf(log))
    }
    case MINT: {
      expectShape(log, 2, 2)
      return claim(log, state, liquidityOf(log, 'add'))
    }
    case BURN: {
      expectShape(log, 3, 2)
      return claim(log, state, liquidityOf(log, 'remove'))
    }
    default:
      return { state, events: [] }
  }
}

export function swapOf(log: EvmLog): EventDraft {
  const [in0, in1, out0, out1] = [uintAt(log, 0), uintAt(log, 1), uintAt(log, 2), uintAt(log, 3)]
  const [sender, recipient] = [indexedAddress(log, 1), indexedAddress(log, 2)]
  const [net0, net1] = [in0 - out0, in1 - out1]
  // The loan came back in the same token: a flash loan, whose fee stays in the pool.
  if (net0 === 0n || net1 === 0n) return { kind: 'reserves', sender }
  return netSwap([net0, net1], sender, recipient)
}

export function liquidityOf(log: EvmLog, change: 'add' | 'remove'): EventDraft {
  return { kind: 'liquidity', change, sender: indexedAddress(log, 1), amounts: [uintAt(log, 0), uintAt(log, 1)] }
}

export function* readPairState({ id }: Venue): Reading<PairState> {
  const call: Call = callOf(id, GET_RESERVES)
  const [answer] = yield [call]
  const [reserve0, reserve1] = [answeredUint(answer, 0), answeredUint(answer, 1)]
  return pairState(reserve0 === null || reserve1 === null ? null : [reserve0, reserve1])
}

/**
 * Reserves of a pair that publishes them: a Sync states them right before the Swap, Mint or Burn it belongs to. A Sync
 * that no other log of its transaction claims is a change without a trade: a donation, a rebase, a skim.
 */
export type PairState = VenueState & {
  /** The transaction's last Sync, until a log claims it. */
  unclaimed: { log: EvmLog; before: VenueState['reserves'] } | null
}

export function pairState(reserves: VenueState['reserves']): PairState {
  return { reserves, unclaimed: null }
}

export function sync(log: EvmLog, state: PairState, reserves: readonly bigint[]): Applied<PairState> {
  return {
    state: { reserves, unclaimed: { log, before: state.reserves } },
    events: unclaimedEvents(state),
  }
}

export function claim(log: EvmLog, state: PairState, draft: EventDraft): Applied<PairState> {
  return {
    state: { reserves: state.reserves, unclaimed: null },
    events: [completeEvent(draft, log, state.reserves)],
  }
}

/** A refused Swap, Mint or Burn takes its Sync with it: the reserves hold, but they did not change without a trade. */
export function refuse(state: PairState, isSync: boolean): PairState {
  return pairState(isSync ? null : state.reserves)
}

export function settle(state: PairState): Applied<PairState> {
  return { state: pairState(state.reserves), events: unclaimedEvents(state) }
}

function unclaimedEvents({ reserves, unclaimed }: PairState): readonly VenueEvent[] {
  if (unclaimed === null || reserves === null) return []
  const { log, before } = unclaimed
  if (before !== null && reserves.every((reserve, place) => reserve === before[place])) return []
  // A Sync names no sender: use the pool.
  return [{ kind: 'reserves', sender: log.address, log, reserves }]
}
