/** The interface's data is consistent and, where the interface's documents are available, matches them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { type Field, namesOf } from './interface/fields.js'
import { OPERATIONS, STATUSES, TOKEN_OPERATIONS } from './interface/operations.js'
import * as pushes from './interface/pushes.js'
import { REST_RECORDS } from './interface/rest-records.js'

const PUSH_RECORDS = {
  ...{ swap: pushes.SWAPS.tx, profile: pushes.PROFILE, kline: pushes.KLINE, price: pushes.PRICE_ENTRY },
  ...{ candleEth: pushes.CANDLES.eth, candleUsd: pushes.CANDLES.usd, envelope: pushes.ENVELOPE },
  ...{
    liquidityPush: pushes.LIQUIDITY,
    switch: pushes.SWITCH,
    newMainPair: pushes.NEW_MAIN_PAIR,
    retract: pushes.RETRACT,
  },
}
const RECORDS: [string, readonly Field[]][] = Object.entries({ ...REST_RECORDS, ...PUSH_RECORDS })

describe('the data of the interface', () => {
  test('names each record field, operation and input once', () => {
    const lists: [string, string[]][] = [
      ...RECORDS.map(([kind, fields]): [string, string[]] => [kind, namesOf(fields)]),
      ['operations', OPERATIONS.map(({ method, path }) => `${method} ${path}`)],
      ...OPERATIONS.map(({ path, inputs }): [string, string[]] => [path, inputs.map(({ name }) => name)]),
    ]
    const repeated = lists.flatMap(([kind, names]) =>
      names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${kind}: ${name}`),
    )
    expect(repeated).toEqual([])
  })

  test.each(OPERATIONS)('$method $path: has its path inputs in the path and valid defaults', (operation) => {
    const inPath = operation.inputs.filter(({ place }) => place === 'path').map(({ name }) => name)
    expect(inPath).toEqual([...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name))
    for (const { name, default: standard, values, max } of operation.inputs) {
      if (standard === undefined) continue
      if (values !== undefined) expect([name, values]).toEqual([name, expect.arrayContaining([standard])])
      if (max !== undefined) expect(Number(standard), name).toBeLessThanOrEqual(max)
    }
  })
})

const REFERENCE = join(repositoryRoot(), '../shared/reference')

// Runs only where the documents are available; nothing else depends on them.
if (existsSync(join(REFERENCE, 'interface-spec.md'))) {
  describe('the documents of the interface', () => {
    const spec = readFileSync(join(REFERENCE, 'interface-spec.md'), 'utf8')
    const wireFacts = ['wire-facts.md', 'wire-facts-wallets.md']
      .map((file) => readFileSync(join(REFERENCE, file), 'utf8'))
      .join(' ')

    /** Cells of the table under a heading, by row. */
    function rowsUnder(heading: string): string[][] {
      const lines = spec.split('\n')
      const start = lines.findIndex((line) => /^#+ (.*)/.exec(line)?.[1]?.startsWith(heading))
      const end = lines.findIndex((line, at) => at > start && line.startsWith('#'))
      const rows = lines.slice(start, end).filter((line) => line.startsWith('|'))
      return rows.slice(2).map((row) => row.split('|').slice(1, -1).map((cell) => cell.trim().replaceAll('`', ''))) // biome-ignore format: one step
    }
    const firstCells = (heading: string): string[] => rowsUnder(heading).map(([first = '']) => first)

    test.each<[string, readonly Field[]]>([
      ['TokenInfo', REST_RECORDS.detailToken],
      ['TokenPair', REST_RECORDS.detailPair],
      ['TokenHolder', REST_RECORDS.holder],
      ['MainToken', REST_RECORDS.main],
      ['Trending tokens response', REST_RECORDS.trending],
      ['Swap transaction', pushes.SWAPS.tx],
      ['Main-pair switch message', pushes.NEW_MAIN_PAIR],
      ['Price entry', pushes.PRICE_ENTRY],
    ])('%s has no field that is missing from the data', (heading, fields) => {
      expect(firstCells(heading).length).toBeGreaterThan(2)
      expect(firstCells(heading).filter((name) => !namesOf(fields).includes(name))).toEqual([])
    })

    test('have the same operations, costs, statuses and topics', () => {
      expect(TOKEN_OPERATIONS.map(({ method, path, costCu }) => [`${method} ${path}`, `${costCu} CU`])).toEqual(
        rowsUnder('REST').map((cells) => cells.slice(1, 3)),
      )
      expect(STATUSES.map(String)).toEqual(firstCells('Errors'))
      expect(pushes.TOPICS.map(({ topic }) => topic)).toEqual(
        firstCells('WebSocket (JSON-RPC 2.0)').map((cell) => cell.split(' ')[0]),
      )
    })

    test('name every input and every field of the data', () => {
      const known = new Set(`${spec} ${wireFacts}`.match(/[\w-]+/g))
      // The documents name window, token1 and to_token fields by a pattern.
      const isNamed = (name: string): boolean =>
        [name, name.replace(/_(1m|5m|15m|1h|4h|24h)(?=_|$)/, '_w'), name.replace(/^token1_/, 'token0_')].some((one) =>
          known.has(one),
        ) || known.has(name.replace(/^to_token_/, 'from_token_'))
      const names = [
        ...RECORDS.flatMap(([, fields]) => namesOf(fields)),
        ...OPERATIONS.flatMap(({ inputs }) => inputs.flatMap(({ name, values = [] }) => [name, ...values])),
      ]
      const patterned = /^token_(buy|sell)|^token_(price_change|tx_volume_usd)_|^k\d+$|^candle/
      const unnamed = names.filter((name) => !isNamed(name) && !patterned.test(name))
      expect([...new Set(unnamed)]).toEqual([])
    })
  })
}
