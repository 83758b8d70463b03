/**
 * LFJ's Liquidity Book (Trader Joe 2.0, 2.1 and 2.2): a swap emits one log per bin it passes, published here as one
 * swap at the last of them. Reserves are the pair's `getReserves`: what lies in the bins, without fees set aside for
 * the protocol (in 2.0 without any fees).
 */

import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress } from '../../abi/log-fields.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import {
  type Applied,
  BadLog,
  type ChainContracts,
  type Protocol,
  type Reading,
  type Refusal,
  type VenueEvent,
} from '../../protocol.js'
import { movedReserves, sizeOf, type Venue } from '../../venue.js'
import type { BookState } from './liquidity-book-logs.js'
import * as logs from './liquidity-book-logs.js'

// joe-v2: ILBFactory.sol, the same in all versions.
const CREATED = topicOf('LBPairCreated(address,address,uint256,address,uint256)')

export const liquidityBook: Protocol<logs.BookState> = {
  name: 'liquidity-book',
  creationTopics: [CREATED],
  topics: logs.TOPICS,
  venueOf: (log) => log.address,
  created(log, contract) {
    expectShape(log, 4, 2)
    return {
      id: addressAt(log, 0),
      protocol: 'liquidity-book',
      amm: contract.amm,
      tokens: [indexedAddress(log, 1), indexedAddress(log, 2)],
      // The fee grows with volatility.
      fee: null,
      creator: null,
    }
  },
  describe: describeBook,
  emptyState: () => ({ reserves: [0n, 0n], open: null }),
  readState: readBookState,
  apply(log, _venue, state) {
    const swap = logs.binSwapOf(log)
    if (swap !== null) return applySwap(log, swap, state)
    const closed = close(state)
    const change = logs.changeOf(log)
    const reserves = movedReserves(closed.state.reserves, change.toBins)
    const event: VenueEvent =
      change.kind === 'fees'
        ? { kind: 'reserves', log, reserves, sender: change.sender }
        : {
            kind: 'liquidity',
            change: change.kind,
            log,
            reserves,
            sender: change.sender,
            amounts: change.toBins.map(sizeOf),
          }
    return { state: { reserves, open: null }, events: [...closed.events, event] }
  },
  refuse: (log, state) => (logs.isBinSwap(log) ? withoutSwapOf(log, state) : state),
  settle: (_venue, state) => close(state),
  isPricedByTrades: () => true,
}

function applySwap(log: EvmLog, swap: logs.BinSwap, state: logs.BookState): Applied<logs.BookState> {
  const { open } = state
  if (state.refused !== undefined && isRightBehind(state.refused, log))
    throw new BadLog(log, 'another bin of its swap was refused')
  if (open !== null && isNextBin(open, log, swap)) {
    return {
      state: { reserves: movedReserves(state.reserves, swap.toBins), open: joined(open, log, swap) },
      events: [],
    }
  }
  const closed = close(state)
  const reserves = movedReserves(closed.state.reserves, swap.toBins)
  return { state: { reserves, open: { ...swap, log } }, events: closed.events }
}

/** Two separate swaps always have a Transfer log between them. */
function isNextBin(open: logs.BinSwap & { log: EvmLog }, log: EvmLog, swap: logs.BinSwap): boolean {
  return (
    isRightBehind(open.log, log) &&
    open.sender === swap.sender &&
    open.recipient === swap.recipient &&
    open.tokenIn === swap.tokenIn
  )
}

function isRightBehind(before: EvmLog, log: EvmLog): boolean {
  return before.txHash === log.txHash && before.logIndex + 1 === log.logIndex
}

/** A swap with a malformed bin log is dropped whole: without that bin it would be another swap. */
function withoutSwapOf(refused: EvmLog, { reserves, open }: logs.BookState): logs.BookState {
  return { reserves, open: open !== null && isRightBehind(open.log, refused) ? null : open, refused }
}

function joined(open: logs.BinSwap, log: EvmLog, bin: logs.BinSwap): logs.BinSwap & { log: EvmLog } {
  return {
    ...bin,
    log,
    amountIn: open.amountIn + bin.amountIn,
    amountOut: open.amountOut + bin.amountOut,
  }
}

function close(state: logs.BookState): Applied<logs.BookState> {
  const { open, reserves } = state
  if (open === null) return { state: { reserves, open }, events: [] }
  const { log, sender, recipient, tokenIn, amountIn, amountOut } = open
  const swap = { kind: 'swap' as const, log, reserves, sender, recipient, tokenIn, tokenOut: 1 - tokenIn }
  return { state: { reserves, open: null }, events: [{ ...swap, amountIn, amountOut }] }
}

// joe-v2: ILBPair.sol of 2.1 and 2.2, then of 2.0.
const FACTORY = [selectorOf('getFactory()'), selectorOf('factory()')] as const
const TOKEN_X = [selectorOf('getTokenX()'), selectorOf('tokenX()')] as const
const TOKEN_Y = [selectorOf('getTokenY()'), selectorOf('tokenY()')] as const
/** 2.0 has it as the first of the fee's parameters. */
const BIN_STEP = [selectorOf('getBinStep()'), selectorOf('feeParameters()')] as const
const RESERVES = [selectorOf('getReserves()'), selectorOf('getReservesAndId()')] as const
const PAIR_INFORMATION = selectorOf('getLBPairInformation(address,address,uint256)')

const AMM_OF_UNKNOWN = 'lbfork'

export function* describeBook(id: string, _log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const answers = yield [...FACTORY, ...TOKEN_X, ...TOKEN_Y, ...BIN_STEP].map((selector) => callOf(id, selector))
  const eitherAddress = (place: number) => answeredAddress(answers[place]) ?? answeredAddress(answers[place + 1])
  const [factory, tokenX, tokenY] = [eitherAddress(0), eitherAddress(2), eitherAddress(4)]
  const binStep = answeredUint(answers[6]) ?? answeredUint(answers[7])
  if (factory === null || tokenX === null || tokenY === null || binStep === null) {
    return { refused: 'it does not answer like a Liquidity Book pair' }
  }
  const contract = chain.contracts.get(factory)
  const known = contract?.protocol === 'liquidity-book' ? contract : undefined
  if (known === undefined && !chain.named.has(id)) return { refused: `its factory ${factory} is unknown` }
  if (known !== undefined) {
    const pairOf = callOf(factory, PAIR_INFORMATION, addressWord(tokenX), addressWord(tokenY), uintWord(binStep))
    const [information] = yield [pairOf]
    if (answeredAddress(information, 1) !== id) return { refused: `its factory ${factory} does not list it` }
  }
  return {
    id,
    protocol: 'liquidity-book',
    amm: known?.amm ?? AMM_OF_UNKNOWN,
    tokens: [tokenX, tokenY],
    fee: null,
    creator: null,
  }
}

export function* readBookState({ id }: Venue): Reading<BookState> {
  const answers = yield RESERVES.map((selector) => callOf(id, selector))
  return { reserves: reservesIn(answers[0]) ?? reservesIn(answers[1]), open: null }
}

function reservesIn(answer: Answer): readonly bigint[] | null {
  const [reserveX, reserveY] = [answeredUint(answer, 0), answeredUint(answer, 1)]
  return reserveX === null || reserveY === null ? null : [reserveX, reserveY]
}
