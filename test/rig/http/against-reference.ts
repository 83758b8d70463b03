/** Everything REST tells of a chain, held against the reference; gives the paths that differ. */
import { INTERVALS } from '../../../services/core/domain/chains.js'
import { familyOf } from '../market/money.js'
import { differences } from '../reference/compare.js'
import type { RecordingLine } from '../reference/lines.js'
import type { Reference } from '../reference/recompute.js'
import { allKlines, dataOf, priceAnswers, tokenAnswers } from './ask.js'
import { answerDifferences } from './decimals.js'
import { barsOf } from './expected-candles.js'
import { expectedPair, UNCHECKED_OF_PAIR } from './expected-pair.js'
import { expectedPrice, expectedToken, UNCHECKED_OF_PRICE, UNCHECKED_OF_TOKEN } from './expected-token.js'
import { launchesOf } from './launches.js'
import type { Up } from './up.js'

export async function candleDifferences(up: Up, reference: Reference): Promise<string[]> {
  const bars = barsOf(reference)
  const found: string[] = []
  for (const pair of reference.pairs.keys()) {
    for (const interval of INTERVALS) {
      for (const category of ['u', 'm', 'r'] as const) {
        const got = await allKlines(up, `${pair}-${reference.chain}`, { interval, category })
        const expected = bars.of(pair, interval, category).map(({ first: _, ...bar }) => bar)
        found.push(...differences(got, expected, `${pair} ${interval} ${category}`))
      }
    }
  }
  return found
}

export async function pairDifferences(
  up: Up,
  reference: Reference,
  lines: readonly RecordingLine[],
): Promise<string[]> {
  const launches = launchesOf(lines, familyOf(reference.chain))
  const found: string[] = []
  for (const [address, pair] of reference.pairs) {
    const answer = await up.get(`/v2/pairs/${address}-${reference.chain}`)
    const expected = expectedPair(reference, address, pair, launches)
    found.push(...answerDifferences(dataOf<object>(answer), expected, UNCHECKED_OF_PAIR, address))
    if (answer.headers.get('x-as-of') !== String(reference.now)) found.push(`${address}: X-As-Of is not now`)
  }
  return found
}

export async function tokenDifferences(
  up: Up,
  reference: Reference,
  lines: readonly RecordingLine[],
): Promise<string[]> {
  const launches = launchesOf(lines, familyOf(reference.chain))
  const idOf = (token: string): string => `${token}-${reference.chain}`
  const ids = [...reference.tokens.keys()].map(idOf)
  const [searched, priced] = [await tokenAnswers(up, ids), await priceAnswers(up, ids)]
  const found: string[] = []
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
