/** REST against the interface, on one process that has played a market of three chains. */
import { afterAll, beforeAll, describe } from 'vitest'
import { contractMarket } from '../rig/contract/market.js'
import { type Served, serveMarket } from '../rig/contract/served.js'
import { TAPE } from '../rig/contract/tape.js'
import { testOperations } from './rest/operations.js'
import { testRecords } from './rest/records.js'
import { testSemantics } from './rest/semantics.js'

const market = contractMarket(TAPE)
let served: Served
const getServed = (): Served => served

beforeAll(async () => {
  served = await serveMarket({ market })
  await served.played()
})
afterAll(() => served?.stop())

describe('operations', () => testOperations(market, getServed))
describe('fields of records', () => testRecords(market, getServed))
describe('semantics', () => testSemantics(market, getServed))
