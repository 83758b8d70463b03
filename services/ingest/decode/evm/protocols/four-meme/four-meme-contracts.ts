/** The contracts around a four.meme token: its manager's logs and state, and the Pancake pair it graduates to. */
import { ZERO_ADDRESS } from '../../../../../core/domain/chains.js'
import { hashOfHex, selectorOf, topicOf } from '../../abi/keccak.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import type { ChainContracts, Reading, Refusal } from '../../protocol.js'
import { tradedToken, type Venue, type VenueState } from '../../venue.js'

/**
 * TokenManager2 (API-Documents, "Interface Reference"): base, quote, template, totalSupply, maxOffers, maxRaising, launchTime, offers,
 * funds, lastPrice, k, t, status. The first manager's answer differs (whether it knows the token comes first), and every token of it is
 * paid with the native coin.
 */
const TOKEN_INFOS = selectorOf('_tokenInfos(address)')
const FIRST_MANAGER = '0xec4549cadce5da21df6e6422d448034b5233bfbc'
export const CURVE = /^0x[0-9a-f]{40}_fo$/

export function* describeCurve(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const manager = chain.contracts.get(log.address)
  if (manager?.protocol !== 'four-meme') return { refused: `${log.address} is not a known token manager` }
  if (!CURVE.test(id)) return { refused: 'it is not a bonding curve id (<token>_fo)' }
  const token = id.slice(0, 42)
  const [answer] = yield [callOf(manager.address, TOKEN_INFOS, addressWord(token))]
  const known = infoOf(answer, token)
  // A log of the manager proves that it knows the token; for a configured curve only its answer does.
  const isFirst = manager.address === FIRST_MANAGER && (log.topics.length > 0 || answeredUint(answer) === 1n)
  if (known === null && !isFirst) return { refused: 'the manager does not return its quote token', isOurs: true }
  const quote = tradedToken(known?.quote ?? ZERO_ADDRESS, chain)
  return {
    id,
    protocol: 'four-meme',
    amm: manager.amm,
    tokens: [token, quote],
    fee: null,
    creator: null,
    facts: { manager: manager.address, ...(known === null ? {} : { maxOffers: known.maxOffers.toString() }) },
  }
}

export function* readCurveState({ tokens, facts }: Venue): Reading<VenueState> {
  const token = tokens[0] ?? ''
  const [answer] = yield [callOf(String(facts?.manager), TOKEN_INFOS, addressWord(token))]
  const known = infoOf(answer, token)
  return { reserves: known === null ? null : [known.offers, known.funds] }
}

type TokenInfo = { quote: string; maxOffers: bigint; offers: bigint; funds: bigint }

function infoOf(answer: Answer, token: string): TokenInfo | null {
  const [base, quote] = [answeredAddress(answer, 0), answeredAddress(answer, 1)]
  const [maxOffers, offers, funds] = [answeredUint(answer, 4), answeredUint(answer, 7), answeredUint(answer, 8)]
  if (base !== token || quote === null || maxOffers === null || offers === null || funds === null) return null
  return { quote, maxOffers, offers, funds }
}

/** Events of TokenManager2 (API-Documents); nothing is indexed. */
export const CREATE = topicOf('TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)')
export const PURCHASE = topicOf('TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)')
export const SALE = topicOf('TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)')
export const TRADE_STOP = topicOf('TradeStop(address)')
export const LIQUIDITY_ADDED = topicOf('LiquidityAdded(address,uint256,address,uint256)')

/**
 * TokenManager, for tokens created before September 2024. Its documents omit the fee, which its ABI (fourmeme-docs: TokenManager.lite.json)
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

// pancake-swap-periphery: PancakeLibrary.sol, on BNB Smart Chain.
const FACTORY = 'ca143ce32fe78f1f7019d7d551a6402fc5350c73'
const CODE_HASH = '00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5'

export function pancakePairOf(tokens: readonly string[]): string {
  const salt = hashOfHex(
    tokens
      .map((token) => token.slice(2))
      .toSorted()
      .join(''),
  ).slice(2)
  return `0x${hashOfHex(`ff${FACTORY}${salt}${CODE_HASH}`).slice(26)}`
}
