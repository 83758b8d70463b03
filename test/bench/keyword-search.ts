/** Search by keyword over a million tokens: by the index, compared with a search through all of them. */
import { fileURLToPath } from 'node:url'
import { allTokens, findTokens, type TokensOf } from '../../services/serve/rest/operations/tokens-keyword.js'
import type { Market } from '../../services/serve/views/market-facts.js'
import { TOKEN_MEASURES } from '../../services/serve/views/ranking.js'
import { createTokenMarket, keywordsOf, MONEY } from '../rig/search/token-market.js'
import { printTable } from './measure.js'

const TOKENS = 1_000_000
const SEARCHES = 3_000
const SCANS = 12
const LIMIT = 100
const MOST_P99_MS = 10

export function benchKeywordSearch(): boolean {
  const made = createTokenMarket(TOKENS, 7)
  const { market } = made
  const keywords = keywordsOf(
    made,
    SEARCHES,
    MONEY.map(({ symbol }) => symbol),
  )
  const timesOf = (some: readonly string[], tokensOf?: TokensOf) =>
    some.map((keyword) => timeMs(market, keyword, tokensOf)).sort((a, b) => a - b)
  const indexMs = timesOf(keywords)
  const scanMs = timesOf(keywords.slice(0, SCANS), allTokens)
  const at = (times: readonly number[], share: number) => times[Math.floor(times.length * share)] ?? 0
  const p99 = at(indexMs, 0.99)
  printTable(`Search of ${TOKENS.toLocaleString('en')} tokens, ms of CPU`, [
    ['', 'median', 'p99', 'most'],
    ['all tokens', at(scanMs, 0.5), at(scanMs, 0.99), at(scanMs, 0.999)],
    ['index', at(indexMs, 0.5), p99, at(indexMs, 0.9999)],
  ])
  console.log(
    `  p99 ${p99.toFixed(1)} ms of CPU (at most ${MOST_P99_MS}), ${Math.round(market.state.names.bytes / TOKENS)} bytes a token`,
  )
  return p99 <= MOST_P99_MS
}

function timeMs(market: Market, keyword: string, tokensOf?: TokensOf): number {
  const started = process.cpuUsage()
  findTokens([market], keyword, TOKEN_MEASURES.tx_volume_u_24h, LIMIT, tokensOf)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = benchKeywordSearch() ? 0 : 1
