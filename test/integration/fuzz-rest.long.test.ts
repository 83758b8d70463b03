/** Schemathesis with the served OpenAPI document: good and bad requests, no 5xx, no undocumented answer. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS, STATUSES } from '../contract/interface/operations.js'
import { withKnownValues } from '../rig/contract/known-values.js'
import { contractMarket } from '../rig/contract/market.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { TAPE } from '../rig/contract/tape.js'
import { countOf, seedOf } from '../rig/counts.js'
import { pythonTools, run } from '../rig/python/venv.js'

const SEED = String(seedOf('restExamples'))
/** Generated per operation, in addition to those that cover its schema. */
const EXAMPLES = countOf('restExamples')
const REQUESTS = Math.floor((2000 * EXAMPLES) / 75)

/** A request can match the schema and still be invalid, such as one for a chain that is not indexed. */
const EXCLUDED_CHECKS = ['positive_data_acceptance']

type Report = {
  complete: boolean
  exit_code: number
  operations: { total: number; tested: number; errored: number }
  test_cases: { generated: number; with_failures: number; errored: number }
}
type Paths = Record<string, Record<string, unknown>>

let served: Served
let folder: string
let document: { openapi: string; paths: Paths }
const market = contractMarket(TAPE)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-fuzz-'))
  served = await serveMarket({ market })
  await served.played()
  document = (await served.ask({ path: '/openapi.json', headers: { 'x-api-key': '' } })).body as typeof document
})
afterAll(async () => {
  await served?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the served document', () => {
  test.each(OPERATIONS.filter(({ aliasOf }) => aliasOf === undefined))(
    'describes $method $path with its inputs',
    ({ method, path, inputs }) => {
      const operation = document.paths[path]?.[method.toLowerCase()] as
        | { parameters?: { name: string; in: string; required?: boolean }[]; responses: object }
        | undefined
      const parameters = operation?.parameters ?? []
      const asked = inputs.filter(({ place }) => place !== 'body')
      for (const { name, place, isRequired } of asked) {
        const found = parameters.find((parameter) => parameter.name === name && parameter.in === place)
        expect(found, `${place} ${name}`).toBeDefined()
        expect(found?.required ?? false).toBe(isRequired)
      }
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(STATUSES.map(String)))
    },
  )
})

test(`schemathesis finds no problem, seed ${SEED}`, async () => {
  const tools = await pythonTools('schemathesis')
  const [file, report] = [join(folder, 'openapi.json'), join(folder, 'report.json')]
  const ids = (of: (chain: string) => string[]) =>
    market.chains.flatMap((chain) => of(chain).slice(0, 8).map((address) => `${address}-${chain}`)) // biome-ignore format: one step
  const known = {
    'token-id': ids(market.tokens),
    token_ids: ids(market.tokens),
    'pair-id': ids((chain) => market.pairs(chain).map(({ pair }) => pair)),
    chain: market.chains,
    keyword: ['MEME', 'USD', 'PUMP1'],
    tag: ['meme', 'pump_in_hot', 'pump_out_new'],
    interval: ['1', '60', 'k15', 's1'],
  }
  writeFileSync(file, JSON.stringify(withKnownValues(document, known)))
  const args = [
    ...['run', file, '--url', served.rest, '--header', `X-API-KEY: ${KEY}`, '--seed', SEED],
    ...['--max-examples', String(EXAMPLES), '--exclude-checks', EXCLUDED_CHECKS.join(), '--continue-on-failure'],
    ...['--generation-database', 'none', '--request-timeout', '10', '--no-color', '--warnings', 'off'],
    ...['--report', 'json', '--report-json-path', report],
  ]
  const { code, out } = await run(join(tools, 'st'), args, { cwd: folder })
  expect(code, `seed ${SEED}\n${out}`).toBe(0)
  const summary = JSON.parse(readFileSync(report, 'utf8')) as Report
  const total = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0)
  expect(summary).toMatchObject({
    ...{ complete: true, exit_code: 0, operations: { total, tested: total, errored: 0 } },
    test_cases: { with_failures: 0, errored: 0 },
  })
  expect(summary.test_cases.generated).toBeGreaterThanOrEqual(REQUESTS)
}, 300_000)

test('answered good and bad requests without a 5xx, with no key and no error in the log', async () => {
  const metrics = [...(await served.up.metrics())].filter(([name]) => /requests_total\{.*status/.test(name))
  const counted = (pattern: RegExp) => metrics.reduce((sum, [name, value]) => sum + (pattern.test(name) ? value : 0), 0)
  expect(counted(/="200"/)).toBeGreaterThan(REQUESTS / 10)
  expect(counted(/="400"/)).toBeGreaterThan(REQUESTS / 10)
  expect(counted(/="5\d\d"/)).toBe(0)
  const { code, out, err } = await served.stop()
  expect(code).toBe(0)
  expect(`${out}${err}`).not.toContain(KEY)
  expect(err.split('\n').filter((line) => /error/i.test(line))).toEqual([])
})
