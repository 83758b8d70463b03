/** Updates with candles and windows as objects: as people read them, and as the record `Update` of earlier versions has them. */
import { type Candle, packCandles, unpackCandles } from '../domain/packed-candles.js'
import { packWindows, unpackWindows, type Window } from '../domain/packed-windows.js'
import type { BlockUpdate, PairUpdate, TokenUpdate } from '../domain/records.js'

type UnpackedPair = Omit<PairUpdate, 'windows' | 'candles'> & { windows: Window[]; candles: Candle[] }
type UnpackedToken = Omit<TokenUpdate, 'windows'> & { windows: Window[] }
export type UnpackedUpdate = Omit<BlockUpdate, 'pairs' | 'tokens' | 'moved_pairs' | 'moved_tokens'> & {
  pairs: UnpackedPair[]
  tokens: UnpackedToken[]
}

export function packUpdate(update: UnpackedUpdate): BlockUpdate {
  return {
    ...update,
    pairs: update.pairs.map((pair) => ({
      ...pair,
      windows: packWindows(pair.windows),
      candles: packCandles(pair.candles),
    })),
    tokens: update.tokens.map((token) => ({ ...token, windows: packWindows(token.windows) })),
    moved_pairs: [],
    moved_tokens: [],
  }
}

/** For people: every number by its name. A token's `windows` is empty where they are those of its main pair's entry. */
export function unpackUpdate(update: BlockUpdate) {
  const withWindows = <T extends { windows: Float64Array }>(entry: T) => ({
    ...entry,
    windows: unpackWindows(entry.windows),
  })
  return {
    ...update,
    pairs: update.pairs.map((pair) => ({ ...withWindows(pair), candles: unpackCandles(pair.candles) })),
    tokens: update.tokens.map(withWindows),
    moved_pairs: update.moved_pairs.map(withWindows),
    moved_tokens: update.moved_tokens.map(withWindows),
  }
}
