/** Venue events before their log and reserves are attached. */
import type { EvmLog } from './log.js'
import type { VenueEvent } from './protocol.js'
import type { VenueState } from './venue.js'

export type EventDraft = WithoutLog<VenueEvent>
type WithoutLog<H> = H extends { kind: 'swap' | 'liquidity' | 'reserves' } ? Omit<H, 'log' | 'reserves'> : never

/** Field by field: this is the hottest line of a backfill, and object spread over different shapes costs several times as much. */
export function completeEvent(draft: EventDraft, log: EvmLog, reserves: VenueState['reserves']): VenueEvent {
  const { kind, sender } = draft
  if (kind === 'reserves') return { kind, sender, log, reserves }
  if (kind === 'liquidity') return { kind, change: draft.change, sender, amounts: draft.amounts, log, reserves }
  const { recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice } = draft
  if (sqrtPrice === undefined) return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, log, reserves }
  return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice, log, reserves }
}

/**
 * One token in, the other out (or zero out, after rounding) is a swap. Both in one direction, or neither, is no trade.
 * `net`: positive is the pool's gain.
 */
export function netSwap(
  [net0, net1]: readonly [bigint, bigint],
  sender: string,
  recipient: string,
  sqrtPrice?: bigint,
): EventDraft {
  const price = sqrtPrice === undefined ? {} : { sqrtPrice }
  if (net0 > 0n && net1 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 0, tokenOut: 1, amountIn: net0, amountOut: -net1, ...price }
  }
  if (net1 > 0n && net0 <= 0n) {
    return { kind: 'swap', sender, recipient, tokenIn: 1, tokenOut: 0, amountIn: net1, amountOut: -net0, ...price }
  }
  return { kind: 'reserves', sender }
}
