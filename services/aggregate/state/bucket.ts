/**
 * One bucket of a pair (or of a token's windows) as a row of doubles: a candle in three currencies and what flowed.
 * `high` and `low` are of good prices only: the candle's own also cover its open (see `candleHigh`).
 */
export const TIME = 0

/** Where each currency's six values start: USD, native, quote. */
export const CURRENCIES = [1, 7, 13] as const
export const USD = 1
export const NATIVE = 7
export const QUOTE = 13
export const OPEN = 0
export const FIRST = 1
export const HIGH = 2
export const LOW = 3
export const CLOSE = 4
export const VOLUME = 5

export const BUY_VOLUME = 19
export const SELL_VOLUME = 20
export const BUYS = 21
export const SELLS = 22
export const AMOUNT = 23
/** Fields below this are restored from a journal's pre-images; the wallet counts behind it by inverse steps. */
export const JOURNALED = 24
/** Wallets whose last trade, buy, sell is in this bucket: the distinct count of a window is a sum over its buckets. */
export const MAKERS = 24
export const BUYERS = 25
export const SELLERS = 26

export const BUCKET_WIDTH = 27
