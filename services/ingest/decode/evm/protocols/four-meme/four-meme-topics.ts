/** The logs of four.meme's managers, as its API-Documents tell them. Nothing is indexed. */
import { topicOf } from '../../abi/keccak.js'

/** TokenManager2. */
export const CREATE = topicOf('TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)')
export const PURCHASE = topicOf('TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)')
export const SALE = topicOf('TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)')
export const TRADE_STOP = topicOf('TradeStop(address)')
export const LIQUIDITY_ADDED = topicOf('LiquidityAdded(address,uint256,address,uint256)')

/**
 * TokenManager, for tokens made before September 2024. Its documents leave out the fee, which its ABI (fourmeme-docs: TokenManager.lite.json)
 * and the chain's logs have as a fifth word; a creation has the second manager's form there.
 */
export const CREATE_1 = topicOf('TokenCreate(address,address,uint256,string,string,uint256,uint256)')
export const PURCHASE_1 = [
  topicOf('TokenPurchase(address,address,uint256,uint256,uint256)'),
  topicOf('TokenPurchase(address,address,uint256,uint256)'),
]
export const SALE_1 = [
  topicOf('TokenSale(address,address,uint256,uint256,uint256)'),
  topicOf('TokenSale(address,address,uint256,uint256)'),
]

export const TOPICS_1: readonly string[] = [CREATE_1, ...PURCHASE_1, ...SALE_1]
