/** Required fields of each answer, by the name used in the tests. */
import { type Field, namesOf } from '../contract/interface/fields.js'
import { CANDLES, NEW_MAIN_PAIR, PRICE_ENTRY, SWAPS, SWITCH } from '../contract/interface/pushes.js'
import { REST_RECORDS } from '../contract/interface/rest-records.js'

export const TOKEN_FIELDS = namesOf(REST_RECORDS.keyword)

const RECORDS = {
  tokensPrice: REST_RECORDS.price,
  tokensSearch: REST_RECORDS.search,
  pairDetail: REST_RECORDS.pair,
  tokenPair: REST_RECORDS.detailPair,
  contracts: REST_RECORDS.contract,
  klinesPair: REST_RECORDS.klines,
  tx: SWAPS.tx,
  klineEth: CANDLES.eth,
  klineUsd: CANDLES.usd,
  priceEntry: PRICE_ENTRY,
  switchData: SWITCH,
  newMainPairData: NEW_MAIN_PAIR,
} satisfies Record<string, readonly Field[]>

export function missingFields(kind: keyof typeof RECORDS, answer: object): string[] {
  return namesOf(RECORDS[kind]).filter((field) => !(field in answer))
}
