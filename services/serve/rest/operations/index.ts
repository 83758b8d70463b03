import type { Operation } from '../operation.js'
import { addressPnl } from './address-pnl.js'
import { addressSmartWallets } from './address-smart-wallets.js'
import { addressTx } from './address-tx.js'
import { addressWalletinfo, addressWalletinfoTokens } from './address-walletinfo.js'
import { candlesAudit } from './candles-audit.js'
import { contracts } from './contracts.js'
import { holdersHistory } from './holders-history.js'
import { klinesPair } from './klines-pair.js'
import { klinesToken } from './klines-token.js'
import { pairDetail } from './pair-detail.js'
import { pricePath } from './price-path.js'
import { ranks, ranksTopics } from './ranks.js'
import { signalsPublic } from './signals-public.js'
import { supportedChains } from './supported-chains.js'
import { tokenDetail } from './token-detail.js'
import { tokensKeyword } from './tokens-keyword.js'
import { tokensMain } from './tokens-main.js'
import { tokensPlatform } from './tokens-platform.js'
import { tokensPrice } from './tokens-price.js'
import { tokensSearch } from './tokens-search.js'
import { tokensHolders, tokensTop100 } from './tokens-top100.js'
import { tokensTrending } from './tokens-trending.js'
import { txsDetail } from './txs-detail.js'
import { txsLiq } from './txs-liq.js'
import { txsSwap } from './txs-swap.js'
import { pairHistory, tokenHistory } from './value-history.js'

/** Every operation: to add one, add a file here and a line below. */
export const OPERATIONS: readonly Operation[] = [
  tokensPrice,
  tokensSearch,
  tokensKeyword,
  tokenDetail,
  contracts,
  tokensTop100,
  tokensHolders,
  holdersHistory,
  tokensMain,
  tokensTrending,
  tokensPlatform,
  ranksTopics,
  ranks,
  pairDetail,
  pairHistory,
  tokenHistory,
  klinesPair,
  klinesToken,
  candlesAudit,
  txsSwap,
  txsLiq,
  txsDetail,
  addressTx,
  addressPnl,
  addressWalletinfo,
  addressWalletinfoTokens,
  addressSmartWallets,
  signalsPublic,
  pricePath,
  supportedChains,
]
