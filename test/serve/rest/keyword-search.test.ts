/** The search by an index finds what a search through all tokens finds. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { foldCode } from '../../../services/serve/memory/name-buckets.js'
import { OPEN_SIZE } from '../../../services/serve/memory/posting-lists.js'
import { createServedChain, resetServedChain } from '../../../services/serve/memory/served-chain.js'
import { allTokens, findTokens } from '../../../services/serve/rest/operations/tokens-keyword.js'
import type { Market } from '../../../services/serve/views/market-facts.js'
import { TOKEN_MEASURES } from '../../../services/serve/views/ranking.js'
import { tokenInfo, tokenUpdate, update, updateWindows } from '../updates.js'

let seed = 19
const random = (below: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
/** Long s, the Kelvin sign and a dotted I are the characters whose case is between ASCII and the rest. */
const LETTERS = [...'aAbBkKsSiI0x. $', 'ſ', '\u212a', 'İ', 'é', 'É', '犬', '🐕']
const textOf = (length: number) => Array.from({ length }, () => LETTERS[random(LETTERS.length)]).join('')
const addressOf = () => `0x${Array.from({ length: 40 }, () => random(16).toString(16)).join('')}`

const updateOf = (token: string, seq: number) =>
  tokenUpdate({
    ...{ token, main_pair: null, windows: updateWindows({ buy_volume: seq % 50 }) },
    info: tokenInfo({
      symbol: random(20) === 0 ? null : textOf(1 + random(5)),
      name: random(20) === 0 ? null : textOf(1 + random(9)),
    }),
  })

/** More than two parts and a rest, with tokens that were renamed or are gone since. */
function marketOf(count: number): Market {
  const state = createServedChain('eth')
  const market: Market = { state, facts: undefined, amms: [] }
  const addresses = Array.from({ length: count }, addressOf)
  let seq = 0
  const apply = (given: Parameters<typeof update>[0]) => {
    seq += 1
    applyUpdate(state, update({ seq, ...given }), 1)
  }
  apply({ tokens: addresses.map(updateOf) })
  for (const _ of [1, 2]) {
    apply({ tokens: addresses.filter(() => random(10) === 0).map(updateOf) })
    apply({ kind: 'retract', gone_tokens: addresses.filter(() => random(20) === 0) })
    apply({ tokens: Array.from({ length: 100 }, addressOf).map(updateOf) })
  }
  return market
}

const search = (market: Market, keyword: string, limit: number, tokensOf?: typeof allTokens) =>
  findTokens([market], keyword, TOKEN_MEASURES.tx_volume_u_24h, limit, tokensOf).map(
    ({ token, match, isImpostor }) => `${token.token} ${match} ${isImpostor}`,
  )

it('answers as a search through all tokens, also after tokens were renamed, removed and added', () => {
  const market = marketOf(2 * OPEN_SIZE + 1000)
  const known = [...market.state.tokens.values()]
  const part = fc
    .tuple(fc.nat(), fc.constantFrom('token', 'symbol', 'name'), fc.nat(), fc.integer({ min: 1, max: 8 }), fc.boolean())
    .map(([which, field, from, length, isUpper]) => {
      const { token, info } = known[which % known.length] ?? { token: '', info: tokenInfo() }
      const text = { token, symbol: info.symbol ?? 'abk', name: info.name ?? '0xa' }[field] ?? ''
      const found = text.slice(from % text.length, (from % text.length) + length)
      return isUpper ? found.toUpperCase() : found
    })
  const free = fc.array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
  const property = fc.property(fc.oneof(part, part, free), fc.constantFrom(1, 10, 300), (keyword, limit) => {
    // A lone surrogate is no keyword: a request cannot have one.
    fc.pre(keyword.trim() !== '' && !/[\ud800-\udfff]/u.test(keyword))
    expect(search(market, keyword, limit)).toEqual(search(market, keyword, limit, allTokens))
  })
  fc.assert(property, { numRuns: 40, seed: 19 })
})

it('looks at few tokens, and at none of an earlier epoch', () => {
  const { state } = marketOf(2 * OPEN_SIZE)
  const candidates = () => state.names.search('dead').flatMap(({ slots }) => slots()).length
  expect(candidates()).toBeGreaterThan(0)
  expect(candidates()).toBeLessThan(300)
  resetServedChain(state, 2)
  expect(candidates()).toBe(0)
})

it('puts two characters in the same bucket if a pattern that ignores case takes them for equal', () => {
  const characters = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code))
  const all = characters.join('')
  const hasCase = (one: string) => one.toLowerCase() !== one || one.toUpperCase() !== one
  for (const one of characters.filter((character) => hasCase(character)))
    for (const [equal] of all.matchAll(new RegExp(`\\u{${one.charCodeAt(0).toString(16)}}`, 'giu')))
      expect([one, equal, foldCode(equal.charCodeAt(0))]).toEqual([one, equal, foldCode(one.charCodeAt(0))])
})
