/** A chain with many made-up tokens: few words are in many names and few tokens are traded, as on real chains; and impostors of its money. */
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { ReadWindows } from '../../../services/core/domain/kept-figures.js'
import { EMPTY_WINDOW, packWindows } from '../../../services/core/domain/packed-windows.js'
import { createServedChain, putToken, TokenState, UNKNOWN_TOKEN } from '../../../services/serve/memory/served-chain.js'
import type { Market } from '../../../services/serve/views/market-facts.js'

export type NamedToken = { token: string; symbol: string; name: string; volume: number }

export type TokenMarket = {
  market: Market
  tokens: readonly NamedToken[]
  word: () => string
  random: (below: number) => number
}

const addressOf = (n: number): string => {
  let digits = ''
  for (let state = n + 1; digits.length < 40; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    digits += (state >>> 8).toString(16).padStart(6, '0')
  }
  return `0x${digits.slice(0, 40)}`
}

export const MONEY: readonly NamedToken[] = [
  { token: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', symbol: 'USDC', name: 'USD Coin', volume: 4e8 },
  { token: '0xdac17f958d2ee523a2206206994597c13d831ec7', symbol: 'USDT', name: 'Tether USD', volume: 6e8 },
  { token: '0x6b175474e89094c44da98b954eedeac495271d0f', symbol: 'DAI', name: 'Dai Stablecoin', volume: 4e7 },
  { token: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', symbol: 'WETH', name: 'Wrapped Ether', volume: 9e8 },
  { token: '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', symbol: 'WBTC', name: 'Wrapped BTC', volume: 2e8 },
]

/** Well known by their trades alone. */
export const FAMOUS: readonly NamedToken[] = [
  { token: '0x6982508145454ce325ddbe47a25d4ec3d2311933', symbol: 'PEPE', name: 'Pepe', volume: 7e7 },
  { token: '0x95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce', symbol: 'SHIB', name: 'SHIBA INU', volume: 5e7 },
  { token: '0x00000000000000000000000000000000000bab00', symbol: '狗狗币', name: '小狗 Coin', volume: 3e6 },
]

/** What people type: words, parts of words and addresses, and well-known names. */
export function keywordsOf({ tokens, word, random }: TokenMarket, count: number, known: readonly string[]): string[] {
  return Array.from({ length: count }, (_, n) => {
    const { token } = tokens[random(tokens.length)] ?? { token: '' }
    const parts = [word().slice(0, 1 + random(3)), word().slice(0, 3 + random(3)), word().slice(2)]
    const addresses = [token, token.slice(0, 8), token.slice(20, 26), token.slice(-4)]
    const kinds = [word(), ...parts, ...addresses, `${word()}x`, known[random(known.length)] ?? '']
    return kinds[n % kinds.length] || 'usdc'
  })
}

/** Written otherwise, and drawn alike. */
const DISGUISES = ['{}', ' {}', '{}\u200b', '\u202d{}']
const CYRILLIC: Readonly<Record<string, string>> = { C: 'С', T: 'Т', A: 'А', E: 'Е', H: 'Н', B: 'В', e: 'е', o: 'о' }
const inCyrillic = (text: string): string => [...text].map((letter) => CYRILLIC[letter] ?? letter).join('')

const IMPOSTOR_SHARE = 50
const TRADED_SHARE = 20
const WORDS = 20_000

export function createTokenMarket(count: number, firstSeed: number): TokenMarket {
  let seed = firstSeed
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const syllable = () => `${'bcdfghjklmnprstvwxyz'[random(20)]}${'aeiou'[random(5)]}`
  const words = Array.from({ length: WORDS }, () => Array.from({ length: 2 + random(3) }, syllable).join(''))
  const word = () => words[Math.floor((random(100_000) / 100_000) ** 2 * WORDS)] ?? ''

  function impostor(token: string): NamedToken {
    const copied = MONEY[random(MONEY.length)] as NamedToken
    const disguise = (text: string) =>
      random(3) === 0 ? inCyrillic(text) : (DISGUISES[random(DISGUISES.length)] ?? '').replace('{}', text)
    return { token, symbol: disguise(copied.symbol), name: disguise(copied.name), volume: random(10) === 0 ? 5e9 : 0 }
  }
  function ordinary(token: string): NamedToken {
    const symbol = word().toUpperCase()
    const volume = random(TRADED_SHARE) === 0 ? random(1_000_000) : 0
    return { token, symbol, name: `${symbol} ${word()}`, volume }
  }

  const made = Array.from({ length: count - MONEY.length - FAMOUS.length }, (_, n) =>
    n % IMPOSTOR_SHARE === 0 ? impostor(addressOf(n)) : ordinary(addressOf(n)),
  )
  const middle = Math.floor(made.length / 2)
  const tokens = [...made.slice(0, middle), ...MONEY, ...FAMOUS, ...made.slice(middle)]
  return { market: marketOf(tokens), tokens, word, random }
}

/** As decoded: a text made of parts is put together when it is first read. */
const flat = (text: string): string => Buffer.from(text).toString()

function marketOf(tokens: readonly NamedToken[]): Market {
  const state = createServedChain('eth')
  const [anchor, tether, dai, native, bitcoin] = MONEY.map(({ token }) => token) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const facts: ChainFacts = {
    ...{ chain: 'eth', family: 'evm', title: 'Made up', chainId: 1 },
    ...{ anchor, stables: [tether, dai], native, majors: [bitcoin] },
  }
  const none = packWindows([])
  for (const named of tokens) {
    const { volume } = named
    const [token, symbol, name] = [named.token, named.symbol, named.name].map(flat) as [string, string, string]
    const windows =
      volume === 0 ? none : packWindows(Array.from({ length: 4 }, () => ({ ...EMPTY_WINDOW, buy_volume: volume })))
    const figures = { price_usd: 1, price_native: 1, main_pair: null, tvl: 1, holders: 1, updated_at: 1 }
    const info = { ...UNKNOWN_TOKEN, symbol, name }
    putToken(state, new TokenState({ token, ...figures }, info, new ReadWindows(windows)), undefined)
  }
  return { state, facts, amms: [] }
}
