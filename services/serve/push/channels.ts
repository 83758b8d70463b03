import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { WHOLE_CHAIN } from './params.js'
import { perPair } from './per-pair.js'

/** A subscription listens to channels `<topic>|<address>|…`; a push is sent to the channels it concerns. */
export const txChannel = (pair: string, chain: string): string => `tx|${pair}|${chain}`
export const multiTxChannel = (token: string, chain: string): string => `multi_tx|${token}|${chain}`
export const liqChannel = (pair: string, chain: string): string => `liq|${pair}|${chain}`
export const klineChannel = (pair: string, interval: string, chain: string): string =>
  `kline|${pair}|${interval}|${chain}`
export const walletChannel = (wallet: string, chain: string): string => `wallet|${wallet}|${chain}`
/** Instead of an address: whatever wallet. */
export const ANY_WALLET = 'any wallet'
/** Every subscription to a wallet of the chain listens to it. */
export const anyWalletChannel = (chain: string): string => `wallets|${ANY_WALLET}|${chain}`
/** Instead of an address: the signals of whatever pair. */
export const ANY_SIGNAL = 'any signal'
export const signalChannel = (chain: string): string => `signal|${ANY_SIGNAL}|${chain}`
/** Tokens and pairs share one namespace: an address is one or the other. */
export const priceChannel = (address: string, chain: string): string => `price|${address}|${chain}`

/** The channels of a pair's pushes. Made once per pair: names made for each push would be hashed for each push. */
export const channelsOf = perPair(({ chain, pair: { pair, info } }) => ({
  tx: [pair, WHOLE_CHAIN].map((address) => txChannel(address, chain)),
  multiTx: [info.token0, info.token1].map((token) => multiTxChannel(token, chain)),
  liq: [pair, WHOLE_CHAIN].map((address) => liqChannel(address, chain)),
  kline: Object.fromEntries(
    INTERVALS.map((interval) => [
      interval,
      [pair, WHOLE_CHAIN].map((address) => klineChannel(address, interval, chain)),
    ]),
  ) as Record<Interval, string[]>,
  price: [pair, WHOLE_CHAIN].map((address) => priceChannel(address, chain)),
  targetPrice: [pair, WHOLE_CHAIN, info.target === 0 ? info.token0 : info.token1].map((address) =>
    priceChannel(address, chain),
  ),
}))
