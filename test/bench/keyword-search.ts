/** Search by keyword over a million tokens: by the index, compared with a search through all of them. */
import { fileURLToPath } from 'node:url'
import { packWindows } from '../../services/core/domain/packed-windows.js'
import { PART_TOKENS } from '../../services/serve/memory/name-index.js'
import { createServedChain, putToken, UNKNOWN_TOKEN } from '../../services/serve/memory/served-chain.js'
import { allTokens, findTokens, type TokensOf } from '../../services/serve/rest/operations/tokens-keyword.js'
import type { Market } from '../../services/serve/views/market-facts.js'
import { TOKEN_MEASURES } from '../../services/serve/views/ranking.js'
import { printTable } from './measure.js'
import { address, benchFacts } from './workload.js'

const TOKENS = 1_000_000
const SEARCHES = 600
const SCANS = 12
const LIMIT = 100
/** Median against median. The 99th percentile is of keywords that one token in a hundred has: each of them is ranked. */
const LEAST_RATIO = 10

let seed = 7
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

export function benchKeywordSearch(): boolean {
  const words = Array.from({ length: 20_000 }, wordOf)
  // Few words are in many names, as on real chains.
  const word = () => words[Math.floor((random(1_000) / 1_000) ** 2 * words.length)] ?? ''
  const market = marketOf(word)
  const { named } = market.state
  const keywords = Array.from({ length: SEARCHES }, (_, n) => {
    const token = named[random(named.length)] ?? ''
    const kinds = [word(), word().slice(0, 3 + random(3)), token, token.slice(0, 8), token.slice(20, 26), `${word()}x`]
    return kinds[n % kinds.length] ?? ''
  })
  const firstMs = Array.from({ length: TOKENS / PART_TOKENS }, () => timeMs(market, 'warm up'))
  const indexMs = keywords.map((keyword) => timeMs(market, keyword)).sort((a, b) => a - b)
  const scanMs = keywords
    .slice(0, SCANS)
    .map((keyword) => timeMs(market, keyword, allTokens))
    .sort((a, b) => a - b)
  const at = (times: readonly number[], share: number) => times[Math.floor(times.length * share)] ?? 0
  const ratio = at(scanMs, 0.5) / at(indexMs, 0.5)
  printTable(`Search of ${TOKENS.toLocaleString('en')} tokens, ms`, [
    ['', 'median', 'p99', 'most'],
    ['all tokens', at(scanMs, 0.5), at(scanMs, 0.99), at(scanMs, 0.999)],
    ['index', at(indexMs, 0.5), at(indexMs, 0.99), at(indexMs, 0.9999)],
    [
      'while the index is made',
      at(
        firstMs.sort((a, b) => a - b),
        0.5,
      ),
      at(firstMs, 0.99),
      at(firstMs, 0.999),
    ],
  ])
  console.log(`  × ${ratio.toFixed(0)} at the median (at least ${LEAST_RATIO})`)
  return ratio >= LEAST_RATIO
}

function timeMs(market: Market, keyword: string, tokensOf?: TokensOf): number {
  const startedMs = performance.now()
  findTokens([market], keyword, TOKEN_MEASURES.tx_volume_u_24h, LIMIT, tokensOf)
  return performance.now() - startedMs
}

function wordOf(): string {
  const syllable = () => `${'bcdfghjklmnprstvwxyz'[random(20)]}${'aeiou'[random(5)]}`
  return Array.from({ length: 2 + random(3) }, syllable).join('')
}

function marketOf(word: () => string): Market {
  const state = createServedChain(benchFacts.chain)
  const windows = packWindows([])
  for (let n = 0; n < TOKENS; n += 1) {
    const symbol = word().toUpperCase()
    const info = { ...UNKNOWN_TOKEN, symbol, name: `${symbol} ${word()}` }
    const figures = { price_usd: 1, price_native: 1, main_pair: null, tvl: 1, holders: 1, updated_at: 1 }
    putToken(state, { token: address('token', n), info, windows, ...figures }, undefined)
  }
  return { state, facts: benchFacts, amms: [] }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = benchKeywordSearch() ? 0 : 1
