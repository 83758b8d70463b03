/** A pair's price, TVL and supply at the end of each hour, by the chain's now: time that goes back does not change an older hour. */
import { amountOf } from '../../core/domain/money.js'
import type { FoldState } from '../state/fold-state.js'
import type { BlockJournal } from '../state/journal.js'
import { PAIR } from '../state/pairs.js'
import { type Supplies, TOKEN, type TokenTable, type TokenText } from '../state/tokens.js'

/** `figures` null: without the orphaned blocks the pair had no event in that hour. */
export type PairHour = { pair: string; hourS: number; figures: HourFigures | null }

export type HourFigures = {
  priceUsd: number
  tvlUsd: number
  liquidityUsd: number
  supply: number
  supplyLeft: number
}

const HOUR_S = 3600
export const hourOf = (timeS: number): number => Math.floor(timeS / HOUR_S) * HOUR_S

/** Notes at a block's end what the pairs it touched are worth. */
export function notePairHours(state: FoldState, pairs: Iterable<number>): PairHour[] {
  const hours: PairHour[] = []
  for (const id of pairs) {
    const { rows } = state.pairs
    const { supply, left } = suppliesOf(state.tokens, state.pairs.targetToken(id))
    state.touchPair(id)
    rows.set(id, PAIR.seenAtS, state.nowS)
    rows.set(id, PAIR.supply, supply)
    rows.set(id, PAIR.supplyLeft, left)
    hours.push(pairHour(state, id))
  }
  return hours
}

/** The hours in which orphaned blocks had noted their pairs: gathered before each is undone. */
export class UndoneHours {
  private readonly byPair = new Map<string, Set<number>>()

  constructor(private readonly state: FoldState) {}

  add({ nowS, publishedPairs, touchedPairs }: BlockJournal): void {
    const hourS = hourOf(nowS)
    for (const id of publishedPairs.slice(0, touchedPairs)) {
      const pair = this.state.pairs.address[id] as string
      const hours = this.byPair.get(pair)
      if (hours === undefined) this.byPair.set(pair, new Set([hourS]))
      else hours.add(hourS)
    }
  }

  /** Each of these hours as the blocks that are left made it. */
  *restored(): Generator<PairHour> {
    for (const [pair, hours] of this.byPair) {
      const id = this.state.pairs.find(pair)
      const lastS = id === undefined ? Number.NaN : hourOf(this.state.pairs.rows.get(id, PAIR.seenAtS))
      for (const hourS of hours) {
        if (id !== undefined && hourS === lastS) yield pairHour(this.state, id)
        else yield { pair, hourS, figures: null }
      }
    }
  }
}

function pairHour({ pairs }: FoldState, id: number): PairHour {
  const { rows } = pairs
  const figures = {
    priceUsd: rows.get(id, PAIR.priceUsd),
    tvlUsd: rows.get(id, PAIR.tvlUsd),
    liquidityUsd: rows.get(id, PAIR.liquidityUsd),
    supply: rows.get(id, PAIR.supply),
    supplyLeft: rows.get(id, PAIR.supplyLeft),
  }
  return { pair: pairs.address[id] as string, hourS: hourOf(rows.get(id, PAIR.seenAtS)), figures }
}

/** Kept while nothing about the token changes: reading them takes longer than all else here. */
function suppliesOf(tokens: TokenTable, token: number): Supplies {
  const text = tokens.text[token]
  const decimals = tokens.rows.get(token, TOKEN.decimals)
  const last = tokens.supplies[token]
  if (last !== undefined && last.text === text && Object.is(last.decimals, decimals)) return last
  const supply = supplyOf(text?.totalSupply ?? null, decimals)
  const left = hasBurnt(text) ? supplyOf(supplyLeft(text), decimals) : supply
  const read = { text, decimals, supply, left }
  tokens.supplies[token] = read
  return read
}

const supplyOf = (raw: string | null, decimals: number): number => (raw === null ? Number.NaN : amountOf(raw, decimals))

type BurntText = TokenText & { totalSupply: string; burntSupply: string }

const hasBurnt = (text: TokenText | undefined): text is BurntText =>
  text !== undefined && text.totalSupply !== null && text.burntSupply !== null && text.burntSupply !== '0'

function supplyLeft({ totalSupply, burntSupply }: BurntText): string {
  const leftRaw = BigInt(totalSupply) - BigInt(burntSupply)
  return leftRaw > 0n ? leftRaw.toString() : '0'
}
