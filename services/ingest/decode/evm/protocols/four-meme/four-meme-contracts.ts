/** What four.meme's managers keep of a token. */
import { ZERO_ADDRESS } from '../../../../../core/domain/chains.js'
import { selectorOf } from '../../abi/keccak.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { tradedToken } from '../../native-coin.js'
import type { ChainContracts, Reading, Refusal } from '../../protocol.js'
import type { Venue, VenueState } from '../../venue.js'

/**
 * TokenManager2 (API-Documents, "Interface Reference"): base, quote, template, totalSupply, maxOffers, maxRaising, launchTime, offers,
 * funds, lastPrice, k, t, status. The first manager answers otherwise (whether it knows the token comes first), and every token of it is
 * paid with the native coin.
 */
const TOKEN_INFOS = selectorOf('_tokenInfos(address)')
const FIRST_MANAGER = '0xec4549cadce5da21df6e6422d448034b5233bfbc'
export const CURVE = /^0x[0-9a-f]{40}_fo$/

export function* describeCurve(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const manager = chain.contracts.get(log.address)
  if (manager?.protocol !== 'four-meme') return { refused: `${log.address} is no known token manager` }
  if (!CURVE.test(id)) return { refused: 'it is no curve of a token (<token>_fo)' }
  const token = id.slice(0, 42)
  const [answer] = yield [callOf(manager.address, TOKEN_INFOS, addressWord(token))]
  const known = infoOf(answer, token)
  // Its own log tells that it knows the token; of one asked for by name only its answer does.
  const isFirst = manager.address === FIRST_MANAGER && (log.topics.length > 0 || answeredUint(answer) === 1n)
  if (known === null && !isFirst) return { refused: 'the manager does not tell what it is paid with', isOurs: true }
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
