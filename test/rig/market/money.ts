/** The money of the generated markets: the built-in tokens of known chains. */
import type { ChainFacts, ChainFamily } from '../../../services/core/domain/chains.js'
import { addressOf } from './addresses.js'

export type MoneyToken = { address: string; symbol: string; decimals: number; fairUsd: number }

type Money = { anchor: MoneyToken; stables: [MoneyToken, MoneyToken]; native: MoneyToken; majors: [MoneyToken] }

const token = (address: string, symbol: string, decimals: number, fairUsd: number): MoneyToken => ({
  ...{ address, symbol, decimals, fairUsd },
})

const ETH: Money = {
  anchor: token('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USDC', 6, 1),
  stables: [
    token('0xdac17f958d2ee523a2206206994597c13d831ec7', 'USDT', 6, 1),
    token('0x6b175474e89094c44da98b954eedeac495271d0f', 'DAI', 18, 1),
  ],
  native: token('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 'WETH', 18, 2300),
  majors: [token('0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', 'WBTC', 8, 43_000)],
}

const BSC: Money = {
  anchor: token('0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', 'USDC', 18, 1),
  stables: [
    token('0x55d398326f99059ff775485246999027b3197955', 'USDT', 18, 1),
    token('0xe9e7cea3dedca5984780bafc599bd69add087d56', 'BUSD', 18, 1),
  ],
  native: token('0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c', 'WBNB', 18, 310),
  majors: [token('0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c', 'BTCB', 18, 43_000)],
}

const SOLANA: Money = {
  anchor: token('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC', 6, 1),
  stables: [
    token('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT', 6, 1),
    token('2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 'PYUSD', 6, 1),
  ],
  native: token('So11111111111111111111111111111111111111112', 'WSOL', 9, 98),
  majors: [token('3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh', 'WBTC', 8, 43_000)],
}

function invented(chain: string): Money {
  const made = (symbol: string, decimals: number, fairUsd: number): MoneyToken =>
    token(addressOf('evm', `${chain}/money/${symbol}`), symbol, decimals, fairUsd)
  return {
    anchor: made('USDC', 6, 1),
    stables: [made('USDT', 6, 1), made('DAI', 18, 1)],
    native: made('WNAT', 18, 25),
    majors: [made('WBTC', 8, 43_000)],
  }
}

export const familyOf = (chain: string): ChainFamily => (chain === 'solana' ? 'solana' : 'evm')

export function moneyOf(chain: string): Money {
  return { eth: ETH, bsc: BSC, solana: SOLANA }[chain] ?? invented(chain)
}

export function marketMoney(chain: string): ChainFacts {
  const { anchor, stables, native, majors } = moneyOf(chain)
  return {
    chain,
    family: familyOf(chain),
    title: chain,
    anchor: anchor.address,
    stables: stables.map(({ address }) => address),
    native: native.address,
    majors: majors.map(({ address }) => address),
  }
}

/** The section `chains` of a configuration. */
export const moneySections = (chains: readonly ChainFacts[]): Record<string, object> =>
  Object.fromEntries(chains.map(({ chain, chainId: _, ...money }) => [chain, money]))
