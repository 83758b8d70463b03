/** Compares REST answers about a chain with the reference and returns the paths that differ. */
import { type ChainFacts, INTERVALS } from '../../../services/core/domain/chains.js'
import { differences } from '../reference/compare.js'
import type { RecordingLine } from '../reference/lines.js'
import { type Reference, recompute } from '../reference/recompute.js'
import { allKlines, dataOf, priceAnswers, tokenAnswers } from './ask.js'
import { answerDifferences, readNumber } from './decimals.js'
import { barsOf, type Category } from './expected-candles.js'
import { expectedPair, UNCHECKED_OF_PAIR } from './expected-pair.js'
import { expectedPrice, expectedToken, UNCHECKED_OF_PRICE, UNCHECKED_OF_TOKEN } from './expected-token.js'
import { type Launches, launchesOf } from './launches.js'
import type { Up } from './up.js'

/** A recording of one chain and its expected results. */
export type Played = { chain: string; lines: readonly RecordingLine[]; reference: Reference; launches: Launches }

export function playedBy(lines: readonly RecordingLine[], facts: ChainFacts): Played {
  const { chain, family } = facts
  return { chain, lines, reference: recompute(lines, facts), launches: launchesOf(lines, family) }
}

/** `categories` may vary by series, since requesting all of them can take too long. */
export async function candleDifferences(
  up: Up,
  { reference, chain }: Played,
  categories: (series: number) => readonly Category[],
): Promise<string[]> {
  const bars = barsOf(reference)
  const series = [...reference.pairs.keys()]
    .flatMap((pair) => INTERVALS.map((interval) => ({ pair, interval })))
    .flatMap((one, at) => categories(at).map((category) => ({ ...one, category })))
  const found: string[] = []
  for (const { pair, interval, category } of series) {
    const got = await allKlines(up, `${pair}-${chain}`, { interval, category })
    const expected = bars.of(pair, interval, category).map(({ first: _, ...bar }) => bar)
    found.push(...differences(got, expected, `${pair} ${interval} ${category}`))
  }
  return found
}

/** Without the quote's price, which `quotePriceDifferences` compares. */
export async function pairDifferences(up: Up, { reference, chain, launches }: Played): Promise<string[]> {
  const found: string[] = []
  for (const [address, pair] of reference.pairs) {
    const answer = await up.get(`/v2/pairs/${address}-${chain}`)
    const quote = pair.target === 0 ? 'token1' : 'token0'
    const { [`${quote}_price_usd`]: _, [`${quote}_price_eth`]: __, ...rest } = dataOf<Record<string, unknown>>(answer)
    const expected = expectedPair(reference, address, pair, launches)
    delete expected[`${quote}_price_usd`]
    delete expected[`${quote}_price_eth`]
    found.push(...answerDifferences(rest, expected, UNCHECKED_OF_PAIR, address))
    if (answer.headers.get('x-as-of') !== String(reference.now)) found.push(`${address}: X-As-Of is not now`)
    const reason = pair.tx_count === 0 ? 'no_trades' : null
    if (answer.headers.get('x-reason') !== reason) found.push(`${address}: X-Reason is not ${reason}`)
  }
  return found
}

/** Compares the quote price in a pair's answer with the quote token's own answer at the same moment. */
export async function quotePriceDifferences(up: Up, { reference, chain }: Played): Promise<string[]> {
  const found: string[] = []
  for (const [address, pair] of reference.pairs) {
    const answer = dataOf<Record<string, unknown>>(await up.get(`/v2/pairs/${address}-${chain}`))
    const side = pair.target === 0 ? 'token1' : 'token0'
    const quote = reference.tokens.get(pair.quote_token)
    const got = { usd: readNumber(answer[`${side}_price_usd`]), native: readNumber(answer[`${side}_price_eth`]) }
    found.push(...differences(got, { usd: quote?.price_usd, native: quote?.price_native }, `${address} ${side}`))
  }
  return found
}

export async function tokenDifferences(up: Up, { reference, chain, launches }: Played): Promise<string[]> {
  const idOf = (token: string): string => `${token}-${chain}`
  const ids = [...reference.tokens.keys()].map(idOf)
  const [searched, priced] = [await tokenAnswers(up, ids), await priceAnswers(up, ids)]
  const found = differences([searched.size, priced.size], [ids.length, ids.length], 'answers')
  for (const [address, token] of reference.tokens) {
    const [detail, price] = [searched.get(address) ?? {}, priced.get(idOf(address)) ?? {}]
    const expected = expectedToken(reference, address, token, launches)
    found.push(...answerDifferences(detail, expected, UNCHECKED_OF_TOKEN, `search ${address}`))
    found.push(
      ...answerDifferences(price, expectedPrice(reference, address, token), UNCHECKED_OF_PRICE, `price ${address}`),
    )
  }
  return found
}
