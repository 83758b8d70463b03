/** What the windows need of a trade. */
export type KeptTrade = {
  timeS: number
  block: number
  sell: boolean
  /** Unknown (NaN) adds nothing. */
  amountUsd: number
  amountTarget: number
  /** NaN where the trade is not good. */
  goodPriceUsd: number
  walletId: number
}
