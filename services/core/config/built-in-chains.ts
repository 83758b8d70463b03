/**
 * The money of the built-in chains. Each address was found in at least two independent public places
 * (DefiLlama's projects/helper/coreAssets.json, Uniswap's v3 subgraph configuration, other projects' token lists); one
 * found in a single place is omitted. EVM addresses are lower-case, as in the log.
 */
import type { ChainFacts } from '../domain/chains.js'

export const BUILT_IN_CHAINS: readonly ChainFacts[] = [
  {
    chain: 'eth',
    family: 'evm',
    chainId: 1,
    title: 'Ethereum',
    anchor: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', // USDC
    native: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', // WETH
    stables: [
      '0xdac17f958d2ee523a2206206994597c13d831ec7', // USDT
      '0x6b175474e89094c44da98b954eedeac495271d0f', // DAI
    ],
    majors: ['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599'], // WBTC
  },
  {
    chain: 'bsc',
    family: 'evm',
    chainId: 56,
    title: 'BNB Smart Chain',
    anchor: '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', // USDC (18 decimals here)
    native: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c', // WBNB
    stables: [
      '0x55d398326f99059ff775485246999027b3197955', // USDT
      '0xe9e7cea3dedca5984780bafc599bd69add087d56', // BUSD
    ],
    majors: [
      '0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c', // BTCB
      '0x2170ed0880ac9a755fd29b2688956bd959f933f8', // ETH
    ],
  },
  {
    chain: 'base',
    family: 'evm',
    chainId: 8453,
    title: 'Base',
    anchor: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', // USDC
    native: '0x4200000000000000000000000000000000000006', // WETH
    stables: [
      '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca', // USDbC
      '0x50c5725949a6f0c72e6c4a641f24049a917db0cb', // DAI
    ],
    majors: ['0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf'], // cbBTC
  },
  {
    chain: 'arbitrum',
    family: 'evm',
    chainId: 42161,
    title: 'Arbitrum One',
    anchor: '0xaf88d065e77c8cc2239327c5edb3a432268e5831', // USDC
    native: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1', // WETH
    stables: [
      '0xff970a61a04b1ca14834a43f5de4533ebddb5cc8', // USDC.e
      '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9', // USDT
      '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', // DAI
    ],
    majors: [
      '0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f', // WBTC
      '0x912ce59144191c1204e64559fe8253a0e49e6548', // ARB
    ],
  },
  {
    chain: 'optimism',
    family: 'evm',
    chainId: 10,
    title: 'OP Mainnet',
    anchor: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', // USDC
    native: '0x4200000000000000000000000000000000000006', // WETH
    stables: [
      '0x7f5c764cbc14f9669b88837ca1490cca17c31607', // USDC.e
      '0x94b008aa00579c1307b0ef2c499ad98a8ce58e58', // USDT
      '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', // DAI
    ],
    majors: [
      '0x68f180fcce6836688e9084f035309e29bf0a2095', // WBTC
      '0x4200000000000000000000000000000000000042', // OP
    ],
  },
  {
    chain: 'polygon',
    family: 'evm',
    chainId: 137,
    title: 'Polygon PoS',
    anchor: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', // USDC
    native: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270', // WPOL
    stables: [
      '0x2791bca1f2de4661ed88a30c99a7a9449aa84174', // USDC.e
      '0xc2132d05d31c914a87c6611c10748aeb04b58e8f', // USDT
      '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063', // DAI
    ],
    majors: [
      '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619', // WETH
      '0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6', // WBTC
    ],
  },
  {
    chain: 'avalanche',
    family: 'evm',
    chainId: 43114,
    title: 'Avalanche C-Chain',
    anchor: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', // USDC
    native: '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7', // WAVAX
    stables: [
      '0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664', // USDC.e
      '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7', // USDT
      '0xc7198437980c041c805a1edcba50c1ce5db95118', // USDT.e
      '0xd586e7f844cea2f87f50152665bcbc2c279d8d70', // DAI.e
    ],
    majors: [
      '0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab', // WETH.e
      '0x152b9d0fdc40c096757f570a51e494bd4b943e50', // BTC.b
    ],
  },
  {
    chain: 'solana',
    family: 'solana',
    title: 'Solana',
    anchor: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', // USDC
    native: 'So11111111111111111111111111111111111111112', // wrapped SOL
    stables: ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'], // USDT
    majors: [],
  },
]
