import { expect, it } from 'vitest'
import { allTokens, findTokens } from '../../../services/serve/rest/operations/tokens-keyword.js'
import { TOKEN_MEASURES } from '../../../services/serve/views/ranking.js'
import { countOf, seedOf } from '../../rig/counts.js'
import { createTokenMarket, FAMOUS, keywordsOf, MONEY } from '../../rig/search/token-market.js'
import { itWhenLong } from '../../rig/suite/long-only.js'

const LIMIT = 100
const MOST_P99_MS = 10
/** Postings, slot and volume of a token with an address of 42 characters and texts as most have. */
const MOST_BYTES_PER_TOKEN = 200

const made = createTokenMarket(countOf('searchedTokens'), seedOf('searchedTokens'))
const { market, tokens } = made
const search = (keyword: string, limit = LIMIT, tokensOf?: typeof allTokens) =>
  findTokens([market], keyword, TOKEN_MEASURES.tx_volume_u_24h, limit, tokensOf)

const addressOf = (symbol: string): string => [...MONEY, ...FAMOUS].find((one) => one.symbol === symbol)?.token ?? ''

const EXPECTED: readonly [keyword: string, symbol: string][] = [
  ...[...MONEY, ...FAMOUS].flatMap(({ symbol, name, token }): [string, string][] => [
    ...[symbol, symbol.toLowerCase(), name, name.toUpperCase()].map((keyword): [string, string] => [keyword, symbol]),
    ...[token, token.toUpperCase().replace('0X', '0x'), token.slice(0, 12), token.slice(-10)].map(
      (keyword): [string, string] => [keyword, symbol],
    ),
  ]),
  ['usd', 'USDT'],
  ['us', 'USDT'],
  ['wrapped', 'WETH'],
  ['wrap', 'WETH'],
  ['tether', 'USDT'],
  ['ether', 'WETH'],
  ['btc', 'WBTC'],
  ['stablecoin', 'DAI'],
  ['pep', 'PEPE'],
  ['inu', 'SHIB'],
  ['狗', '狗狗币'],
  ['狗币', '狗狗币'],
  ['小狗', '狗狗币'],
]

const KNOWN = EXPECTED.map(([keyword]) => keyword)

it.each(EXPECTED)('answers %s with %s first', (keyword, symbol) => {
  const [first] = search(keyword)
  expect([first?.token.token, first?.isImpostor]).toEqual([addressOf(symbol), false])
})

it('lists every impostor after all others, and marks it', () => {
  for (const { symbol } of MONEY) {
    const marks = search(symbol, 300).map(({ isImpostor }) => isImpostor)
    expect(marks.indexOf(true)).toBeGreaterThan(0)
    expect(marks.slice(marks.indexOf(true))).not.toContain(false)
  }
})

it('answers as a search through all tokens', () => {
  const asText = (found: ReturnType<typeof search>) => found.map(({ token, match }) => `${token.token} ${match}`)
  for (const keyword of keywordsOf(made, 60, KNOWN))
    expect([keyword, ...asText(search(keyword))]).toEqual([keyword, ...asText(search(keyword, LIMIT, allTokens))])
})

it(`takes at most ${MOST_BYTES_PER_TOKEN} bytes a token`, () => {
  expect(market.state.names.bytes / tokens.length).toBeLessThan(MOST_BYTES_PER_TOKEN)
})

/** The better of two rounds: what else runs on the machine shows in one of them. */
itWhenLong(`answers 99 of 100 searches within ${MOST_P99_MS} ms of CPU`, async () => {
  const keywords = keywordsOf(made, 3_000, KNOWN)
  const [first, second] = [1, 2].map(() => keywords.map(cpuMs)) as [number[], number[]]
  const times = first.map((ms, place) => Math.min(ms, second[place] ?? ms)).sort((a, b) => a - b)
  expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(MOST_P99_MS)
})

function cpuMs(keyword: string): number {
  const started = process.cpuUsage()
  search(keyword)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}
