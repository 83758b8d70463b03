import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { planRounds } from '../rig/cluster/chaos.js'
import {
  COUNTS,
  type Count,
  type CountName,
  countOf,
  LARGER_SUITES,
  seedOf,
  seedsOf,
  variableOf,
} from '../rig/counts.js'
import { createRandom } from '../rig/market/random.js'

const root = repositoryRoot()
const each = Object.entries(COUNTS) as [CountName, Count][]

describe('counts of randomised suites', () => {
  it('are short by default, full in a long run, and overridable one by one by a variable', () => {
    expect(countOf('crashKills', {})).toBe(2)
    expect(countOf('crashKills', { DEXTAPE_TEST: 'long' })).toBe(50)
    expect(countOf('crashKills', { DEXTAPE_TEST: 'long', DEXTAPE_TEST_CRASH_KILLS: '3' })).toBe(3)
    expect(seedOf('crashKills', { DEXTAPE_TEST_SEED: '900' })).toBe(900)
    expect(seedsOf('evmMarketSeeds', { DEXTAPE_TEST_SEED: '5', DEXTAPE_TEST_EVM_MARKET_SEEDS: '3' })).toEqual([5, 6, 7])
  })

  it.each([
    [{ DEXTAPE_TEST: 'full' }, 'DEXTAPE_TEST must be "long" or unset, got "full"'],
    [{ DEXTAPE_TEST_CRASH_KILLS: 'many' }, 'DEXTAPE_TEST_CRASH_KILLS must be a whole number, got "many"'],
  ])('rejects %j', (env, message) => {
    expect(() => countOf('crashKills', env)).toThrow(message)
  })

  it.each(each)('%s names files that exist', (_, { files }) => {
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('are all in docs/testing.md, with their files', () => {
    const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
    const rowOf = ([name, { short, long, files, proves }]: [CountName, Count]) =>
      `| \`${name}\` | ${short} | ${long} | ${proves} | ${files.map((file) => `\`${file.slice('test/'.length)}\``).join(', ')} |`
    expect(each.map(rowOf).filter((row) => !page.includes(row))).toEqual([])
    expect(page).toContain(variableOf('crashKills'))
  })

  it('leave no suite out of a long run, nor out of docs/testing.md', () => {
    const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
    const counted = each.flatMap(([, { files }]) => files)
    const larger = files
      .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.long.test.ts'))
      .filter((file) => /isLongRun\(|itWhenLong\(/.test(readFileSync(join(root, 'test', file), 'utf8')))
      .map((file) => `test/${file}`)
    expect(larger.filter((file) => !LARGER_SUITES.includes(file) && !counted.includes(file))).toEqual([])
    expect(LARGER_SUITES.filter((file) => !existsSync(join(root, file)))).toEqual([])
    const long = files.filter((file) => file.endsWith('.long.test.ts'))
    expect(long.length).toBeGreaterThan(30)
    expect(long.filter((file) => !page.includes(`\`${file}\``))).toEqual([])
  })

  it('let the few chaos rounds of npm test kill and pause every kind of process', () => {
    const parts = ['ingest', 'aggregate-1', 'aggregate-2', 'serve', 'broker', 'store']
    const rounds = planRounds(createRandom(COUNTS.chaosRounds.seed), COUNTS.chaosRounds.short, parts)
    const kinds = rounds.flatMap(({ failures }) =>
      failures.map(({ part, how }) => `${how} ${part.replace(/-\d$/, '')}`),
    )
    expect([...new Set(kinds)].sort()).toEqual([
      ...['kill aggregate', 'kill broker', 'kill ingest', 'kill serve', 'kill store'],
      ...['pause aggregate', 'pause broker', 'pause ingest', 'pause serve', 'pause store'],
    ])
  })
})
