/** Every field of every record in REST answers about a market of three chains. */
import { beforeAll, expect, test } from 'vitest'
import type { ContractMarket } from '../../rig/contract/market.js'
import { fieldProblems } from '../../rig/contract/record-problems.js'
import type { Served } from '../../rig/contract/served.js'
import { type Sweep, sweepRest } from '../../rig/contract/sweep.js'
import type { Field } from '../interface/fields.js'
import { PLATFORM_STAGES } from '../interface/operations.js'
import { REST_RECORDS, type RestRecord } from '../interface/rest-records.js'

export function testRecords(market: ContractMarket, served: () => Served): void {
  const records = Object.entries(REST_RECORDS) as [RestRecord, Field[]][]
  let sweep: Sweep

  beforeAll(async () => {
    const tags = ['meme', 'hot', 'new', ...PLATFORM_STAGES.map((stage) => `pump_${stage}`)]
    sweep = await sweepRest(served(), market, tags)
  })

  test.each(records)('returns every field of %s', (kind, fields) => {
    expect(fieldProblems(sweep[kind], fields)).toEqual([])
  })

  test('fills every priced field in at least one record', () => {
    const empty = records.flatMap(([kind, fields]) => {
      const isEmpty = (value: unknown) => value === null || value === '' || value === undefined
      return fields
        .filter(({ name }) => sweep[kind].every((record) => isEmpty(record[name])))
        .map(({ name }) => `${kind}.${name}`)
    })
    // Not the checks of a contract, which nothing makes yet.
    const priced = /\.(?!analysis_)(.*price_(usd|change).*|market_cap|fdv|tvl|.*volume.*|reserve\d|amount_usd)$/
    expect(empty.filter((name) => priced.test(name))).toEqual([])
  })
}
