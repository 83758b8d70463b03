/** All tokens of a chain: numbers in a slab, texts beside it. */

import type { ChainMoney } from '../../core/domain/chains.js'
import { rankOf } from '../../core/domain/money.js'
import type { Windows } from './rolling-windows.js'
import { Slab } from './slab.js'

export const TOKEN = {
  decimals: 0,
  priceUsd: 1,
  /** Id of the main pair; -1: none. */
  mainPair: 2,
  rank: 3,
  holders: 4,
  createdAtS: 5,
  updatedAtS: 6,
  /** Stables and native: the last price found among deep, fresh pools; NaN before any. */
  found: 7,
  /** Native: the last good price of any of its reference pools. */
  anyPrice: 8,
  /** How the price was found: an index in PRICED_BY. */
  pricedBy: 9,
  /** In native coins, of a token priced by its main pair. */
  priceNative: 10,
  /** Ids of the pools the price came from: of a median over an even number the two in the middle. -1: none. */
  pricePool: 11,
  pricePool2: 12,
  /** The pool of `anyPrice`. */
  anyPool: 13,
  /** The chain's now at the last block that changed the number of holders. */
  countedAtS: 14,
} as const
const TOKEN_STRIDE = 15

export const PRICED_BY = ['unknown', 'anchor', 'peg', 'median', 'deepest', 'last', 'any', 'main'] as const
export const pricedBy = (name: (typeof PRICED_BY)[number]): number => PRICED_BY.indexOf(name)

export type Launch = {
  platform: string
  stage: 'created' | 'curve' | 'graduated'
  progress: number | null
  pool: string | null
  /** The pool of the curve, known from the stages before graduation. */
  curvePool: string | null
  atS: number
}

/** Rarely changed fields; replaced whole, never modified, so that a journal can keep the old one. */
export type TokenText = {
  readonly name: string | null
  readonly symbol: string | null
  readonly totalSupply: string | null
  /** Raw amount held by burn addresses; null: no balance event of theirs yet. */
  readonly burntSupply: string | null
  readonly owner: string | null
  readonly risk: string | null
  readonly logoUrl: string | null
  readonly links: string | null
  readonly launch: Launch | null
  /** USD; absent until the first good trade after the first liquidity of its first pool. */
  readonly launchPrice?: number
  /** Chain time since when the balances of all holders are known; null or absent: not of all. */
  readonly holdersSinceS?: number | null
}

export const NO_TEXT: TokenText = {
  name: null,
  symbol: null,
  totalSupply: null,
  burntSupply: null,
  owner: null,
  risk: null,
  logoUrl: null,
  links: null,
  launch: null,
}

/** A token's total supply, and without what was burnt, as its text and decimals say. */
export type Supplies = { text: TokenText | undefined; decimals: number; supply: number; left: number }

export type QuotePath = { how: string; pool: string; pool2: string | undefined; text: string }

const NO_PAIRS: readonly number[] = []

export class TokenTable {
  readonly rows = new Slab(TOKEN_STRIDE)
  readonly address: string[] = []
  readonly text: TokenText[] = []
  /** Windows over several pairs; null while the token has at most one pair: that pair's windows are the token's. */
  readonly windows: (Windows | null)[] = []
  /** The last text of how each quote was priced. */
  readonly quotePaths: (QuotePath | undefined)[] = []
  /** As last read from the texts. */
  readonly supplies: (Supplies | undefined)[] = []
  private readonly targets: (number[] | null)[] = []
  /** Pairs by their quote; a map, since few tokens are ever one. */
  private readonly quotes = new Map<number, number[]>()
  private readonly ids = new Map<string, number>()

  constructor(private readonly money: ChainMoney) {}

  find(address: string): number | undefined {
    return this.ids.get(address)
  }

  add(address: string, createdAtS: number): number {
    const id = this.rows.add()
    this.ids.set(address, id)
    this.address[id] = address
    this.text[id] = NO_TEXT
    this.windows[id] = null
    this.targets[id] = null
    const rank = rankOf(address, this.money)
    this.rows.set(id, TOKEN.rank, rank)
    this.rows.set(id, TOKEN.mainPair, -1)
    this.rows.set(id, TOKEN.holders, 0)
    this.rows.set(id, TOKEN.createdAtS, createdAtS)
    this.rows.set(id, TOKEN.updatedAtS, createdAtS)
    this.rows.set(id, TOKEN.pricedBy, 0)
    for (const field of [TOKEN.pricePool, TOKEN.pricePool2, TOKEN.anyPool]) this.rows.set(id, field, -1)
    return id
  }

  /** Removes the newest token. */
  pop(): void {
    const id = this.rows.length - 1
    this.ids.delete(this.address[id] as string)
    this.address.length = id
    this.text.length = id
    this.windows.length = id
    this.targets.length = id
    this.quotes.delete(id)
    this.rows.pop()
  }

  /** Pairs that have this token as target, in the order they were first seen. */
  pairsOf(id: number): readonly number[] {
    return this.targets[id] ?? NO_PAIRS
  }

  /** Pairs that have this token on either side, in the order they were first seen. */
  allPairsOf(id: number): readonly number[] {
    const asQuote = this.quotes.get(id)
    return asQuote === undefined ? this.pairsOf(id) : [...this.pairsOf(id), ...asQuote].sort((a, b) => a - b)
  }

  /** Notes the newest pair under both its tokens. */
  addPair(target: number, quote: number, pair: number): void {
    const asTarget = this.targets[target]
    if (asTarget === null || asTarget === undefined) this.targets[target] = [pair]
    else asTarget.push(pair)
    const asQuote = this.quotes.get(quote)
    if (asQuote === undefined) this.quotes.set(quote, [pair])
    else asQuote.push(pair)
  }

  popPair(target: number, quote: number): void {
    this.targets[target]?.pop()
    this.quotes.get(quote)?.pop()
  }

  get length(): number {
    return this.rows.length
  }
}
