/**
 * LFJ's Liquidity Book (Trader Joe 2.0, 2.1 and 2.2): one log for each bin a swap passes, told here as one swap at the last of them.
 * Reserves are the pair's own `getReserves`: what lies in the bins, without fees set aside for the protocol (in 2.0 without any fees).
 */
import { addressAt, expectShape, indexedAddress } from './abi.js'
import { topicOf } from './keccak.js'
import * as logs from './liquidity-book-logs.js'
import { describeBook, readBookState } from './liquidity-book-reading.js'
import type { EvmLog } from './log.js'
import { movedReserves, sizeOf } from './moved-reserves.js'
import { type Applied, BadLog, type Happening, type Protocol } from './protocol.js'

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
      // The base fee grows with volatility.
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
    const happening: Happening =
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
    return { state: { reserves, open: null }, happenings: [...closed.happenings, happening] }
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
      happenings: [],
    }
  }
  const closed = close(state)
  const reserves = movedReserves(closed.state.reserves, swap.toBins)
  return { state: { reserves, open: { ...swap, log } }, happenings: closed.happenings }
}

/** Between two swaps lies at least the transfer of what the first one bought. */
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

/** A swap with a bin that cannot be read is lost whole: without that bin it would be another swap. */
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
  if (open === null) return { state: { reserves, open }, happenings: [] }
  const { log, sender, recipient, tokenIn, amountIn, amountOut } = open
  const swap = { kind: 'swap' as const, log, reserves, sender, recipient, tokenIn, tokenOut: 1 - tokenIn }
  return { state: { reserves, open: null }, happenings: [{ ...swap, amountIn, amountOut }] }
}
