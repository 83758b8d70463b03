/** Every field the documents name, in every record REST tells of a market of three chains. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDocuments } from '../rig/contract/documents.js'
import { type Fields, fieldsOfType } from '../rig/contract/fields.js'
import { contractMarket } from '../rig/contract/market.js'
import { type Served, serveMarket } from '../rig/contract/served.js'
import { firstOf, namedProblem, typedProblem } from '../rig/contract/shapes.js'
import { type RecordKind, type Sweep, sweepRest } from '../rig/contract/sweep.js'
import { TAPE } from '../rig/contract/tape.js'

const documents = readDocuments()

describe.skipIf(documents === undefined)('fields of REST answers', () => {
  if (documents === undefined) return
  const { spec, facts } = documents
  const { TokenInfo, TokenPair, TokenHolder, MainToken, Trending, TokenApiResponse } = spec.records
  const detailData = TokenApiResponse.find(({ name }) => name === 'data')?.fields ?? []

  /** What the interface types; what the wire facts only name. */
  const RECORDS: [kind: RecordKind, typed: Fields, named: readonly string[]][] = [
    ['price', [], facts.price],
    ['search', [], [...facts.token, ...facts.search]],
    ['keyword', [], facts.token],
    ['detail', detailData, []],
    ['detailToken', TokenInfo, [...facts.token, ...facts.detail]],
    ['detailPair', TokenPair, facts.detailPair],
    ['contract', [], facts.contract],
    ['contractDex', [], facts.contractDex],
    ['contractRank', [], facts.contractRank],
    ['holder', [...TokenHolder, ...fieldsOfType(facts.holderExtras, 'number')], []],
    ['main', MainToken, facts.token],
    ['trending', [...Trending, ...fieldsOfType(['total'], 'integer')], []],
    ['trendingToken', [], facts.token],
    ['platform', [], facts.token],
    ['pair', [], facts.pair],
    ['klines', [], facts.klines.data],
    ['point', [], facts.klines.item],
    ['tokenKlines', [], facts.klines.data],
    ['swaps', [], facts.swaps.data],
    ['swap', [], facts.swaps.item],
    ['liquidities', [], facts.liquidity.data],
    ['liquidity', [], facts.liquidity.item],
  ]

  let served: Served
  let sweep: Sweep

  beforeAll(async () => {
    const market = contractMarket(TAPE)
    served = await serveMarket({ market })
    await served.played()
    const tags = ['meme', 'hot', 'new', ...facts.platformStages.map((stage) => `pump_${stage}`)]
    sweep = await sweepRest(served, market, tags)
  })
  afterAll(() => served.stop())

  describe.each(RECORDS)('%s', (kind, typed, named) => {
    test('there are some', () => {
      expect(sweep[kind].length).toBeGreaterThan(0)
    })

    test.each(typed)('$name is $type', (field) => {
      expect(firstOf(sweep[kind].map((record) => typedProblem(record, field)))).toEqual([])
    })

    const rest = named.filter((name) => !typed.some((field) => field.name === name))
    test.each(rest)('%s', (name) => {
      expect(firstOf(sweep[kind].map((record) => namedProblem(record, name)))).toEqual([])
    })
  })

  test('what is unknown of one token is known of another: the market does not leave fields empty', () => {
    const empty = RECORDS.flatMap(([kind, typed, named]) => {
      const names = [...typed.map(({ name }) => name), ...named]
      const isEmpty = (value: unknown) => value === null || value === '' || value === undefined
      return names
        .filter((name) => sweep[kind].every((record) => isEmpty(record[name])))
        .map((name) => `${kind}.${name}`)
    })
    const told = /\.(.*price_(usd|change).*|market_cap|fdv|tvl|.*volume.*|reserve\d|amount_usd)$/
    expect(empty.filter((name) => told.test(name))).toEqual([])
  })
})
