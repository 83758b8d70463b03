/** Names, decimals and initial prices of a chain's money tokens; the configuration has only their addresses. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import { requireMoney } from './venues.js'

export type MoneyFacts = {
  address: string
  symbol: string
  name: string
  decimals: number
  usd: number
  /** Whole tokens. */
  supply: number
}

type Known = Omit<MoneyFacts, 'address' | 'supply'>

const known = (symbol: string, name: string, decimals: number, usd: number): Known => ({ symbol, name, decimals, usd })

const BY_ADDRESS: Record<string, Known> = {
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': known('USDC', 'USD Coin', 6, 1),
  '0xdac17f958d2ee523a2206206994597c13d831ec7': known('USDT', 'Tether USD', 6, 1),
  '0x6b175474e89094c44da98b954eedeac495271d0f': known('DAI', 'Dai Stablecoin', 18, 1),
  '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2': known('WETH', 'Wrapped Ether', 18, 3100),
  '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599': known('WBTC', 'Wrapped BTC', 8, 96_000),
  '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d': known('USDC', 'USD Coin', 18, 1),
  '0x55d398326f99059ff775485246999027b3197955': known('USDT', 'Tether USD', 18, 1),
  '0xe9e7cea3dedca5984780bafc599bd69add087d56': known('BUSD', 'BUSD Token', 18, 1),
  '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c': known('WBNB', 'Wrapped BNB', 18, 620),
  '0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c': known('BTCB', 'BTCB Token', 18, 96_000),
  '0x2170ed0880ac9a755fd29b2688956bd959f933f8': known('ETH', 'Ethereum Token', 18, 3100),
  EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: known('USDC', 'USD Coin', 6, 1),
  Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB: known('USDT', 'Tether USD', 6, 1),
  So11111111111111111111111111111111111111112: known('SOL', 'Wrapped SOL', 9, 155),
}

/** The supply is worth this much. */
const SUPPLY_USD = 40_000_000_000

export type Money = { native: MoneyFacts; anchor: MoneyFacts; stables: MoneyFacts[]; majors: MoneyFacts[] }

export function moneyOf(facts: ChainFacts): Money {
  const { native, anchor } = requireMoney(facts)
  const evm = facts.family === 'evm'
  const made = (address: string, fallback: Known): MoneyFacts => {
    const token = BY_ADDRESS[address] ?? fallback
    return { address, ...token, supply: Math.round(SUPPLY_USD / token.usd) }
  }
  const coin = facts.chain.toUpperCase()
  return {
    native: made(native, known(`W${coin}`, `Wrapped ${facts.title}`, evm ? 18 : 9, 25)),
    anchor: made(anchor, known('USDC', 'USD Coin', 6, 1)),
    stables: facts.stables.map((address, n) => made(address, known(`USD${n + 2}`, `US Dollar ${n + 2}`, 6, 1))),
    majors: facts.majors.map((address, n) => made(address, known(`MAJOR${n + 1}`, `Major ${n + 1}`, 8, 5000))),
  }
}
