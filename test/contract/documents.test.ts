/** That reading the documents loses nothing: held against a second, simpler reading of the same text. */
import { describe, expect, test } from 'vitest'
import { readDocuments } from '../rig/contract/documents.js'
import type { Fields } from '../rig/contract/fields.js'
import { codesOf } from '../rig/contract/markdown.js'

const documents = readDocuments()

describe.skipIf(documents === undefined)('the documents as data', () => {
  if (documents === undefined) return
  const { spec, facts } = documents
  const lines = spec.text.split('\n')

  /** The rows of the tables between two headings, counted with no parser. */
  function rowsUnder(from: string, to?: string): string[] {
    const start = lines.indexOf(from)
    const end = to === undefined ? lines.findIndex((line, at) => at > start && line.startsWith('#')) : lines.indexOf(to)
    return lines
      .slice(start, end)
      .filter((line, at, all) => line.startsWith('| ') && all[at + 1]?.startsWith('|---') !== true)
  }
  const firstCells = (rows: string[]): string[] => rows.map((row) => row.split('|')[1]?.trim() ?? '')

  test.each([
    ['TokenApiResponse', '### TokenApiResponse (returned by token detail)'],
    ['TokenInfo', '### TokenInfo'],
    ['TokenPair', '### TokenPair'],
    ['TokenHolder', '### TokenHolder (element of the top-holders array; all fields required)'],
    ['MainToken', '### MainToken (element of the main-tokens array)'],
    ['Trending', '### Trending tokens response'],
    ['Swap', '### Swap transaction (WebSocket `tx` payload, field `tx`)'],
    ['Kline', '### Kline push (`result` of topic `kline`)'],
    ['NewMainPair', '### Main-pair switch message (delivered on a kline subscription)'],
    ['PriceEntry', '### Price entry (element of `result.prices`)'],
  ] as const)('every row of %s is a field, in order, with the type the row says', (name, heading) => {
    const rows = rowsUnder(heading)
    expect(rows.length).toBeGreaterThan(2)
    expect(spec.records[name].map((field) => field.name)).toEqual(firstCells(rows))
    const said = rows.map((row) => /^[a-z]+/.exec(row.split('|')[2]?.trim() ?? '')?.[0])
    expect(spec.records[name].map(({ type }) => type)).toEqual(said)
  })

  test('no table of records is left out', () => {
    const all = rowsUnder('## Resources and their fields', '## States and transitions')
    const read = Object.values(spec.records).reduce((sum, fields) => sum + fields.length, 0)
    expect(read).toBe(all.length)
  })

  test('what is named in sentences and in cells is all there', () => {
    const names = (fields: Fields) => fields.map(({ name }) => name)
    const sentence = (start: string) => lines.find((line) => line.includes(start)) ?? ''
    const carried = sentence('The decoded profile object carries').match(/\b(token|sol)\w*[A-Z]\w*/g)
    expect(names(spec.profile)).toEqual(carried)
    expect(spec.profile).toHaveLength(11)
    expect(names(spec.switchData)).toEqual(sentence('`result.data` has').match(/\w+(?= \((?:string|object))/g))
    expect(names(spec.envelope)).toEqual(['id', 'jsonrpc', 'result', 'sent_time'])
    const [eth, usd] = spec.records.Kline.filter(({ fields }) => fields !== undefined)
    expect([eth?.fields?.length, usd?.fields?.length]).toEqual([6, 14])
    const [data] = spec.records.TokenApiResponse.filter(({ fields }) => fields !== undefined)
    expect(data?.fields?.map(({ name, record }) => [name, record])).toEqual([
      ['is_audited', undefined],
      ['pairs', 'TokenPair'],
      ['token', 'TokenInfo'],
    ])
    expect(spec.intervals).toEqual(
      sentence('Allowed interval values')
        .match(/`\w+`/g)
        ?.map((one) => one.slice(1, -1)),
    )
  })

  test('the ten operations with every rule their row says', () => {
    const rows = rowsUnder('### REST')
    expect(spec.operations.map(({ name }) => name)).toEqual(
      rows.map((row) => row.split('|')[2]?.trim().replaceAll('`', '')),
    )
    expect(spec.operations).toHaveLength(10)
    for (const [at, { inputs, costCu, path }] of spec.operations.entries()) {
      const row = rows[at] ?? ''
      const count = (pattern: RegExp): number => row.match(pattern)?.length ?? 0
      expect(costCu).toBe(Number(/(\d+) CU/.exec(row)?.[1]))
      expect(path.startsWith(spec.prefix)).toBe(true)
      expect(inputs.filter(({ max }) => max !== undefined)).toHaveLength(count(/\bmax \d/g))
      expect(inputs.filter((input) => input.default !== undefined)).toHaveLength(count(/\bdefault\b/g))
      expect(inputs.filter(({ values }) => values !== undefined)).toHaveLength(count(/\benum\b/g))
      expect(inputs.filter(({ zeroIsNone }) => zeroIsNone)).toHaveLength(count(/0 means no threshold/g))
      const optional = count(/\boptional\b/g) + count(/integer, default/g)
      expect(inputs.filter(({ required }) => !required)).toHaveLength(optional)
    }
  })

  test('topics, events and statuses are all there', () => {
    expect(spec.topics.map(({ topic }) => topic)).toEqual(
      rowsUnder('### WebSocket (JSON-RPC 2.0)').map((row) => codesOf(row)[0]),
    )
    expect(spec.events.map(({ message }) => message)).toEqual(firstCells(rowsUnder('## Events')))
    expect(spec.statuses.map(({ status }) => String(status))).toEqual(firstCells(rowsUnder('## Errors')))
    expect(spec.version).toMatch(/^\d+\.\d+\.\d+$/)
  })

  test.each(spec.limits)('Limits and Endpoints say the same of $operation', (limit) => {
    const operation = spec.operations.find(({ name }) => name === limit.operation)
    expect(operation?.costCu).toBe(limit.costCu)
    const bounded = operation?.inputs.filter(({ place, max }) => place === 'query' || max !== undefined) ?? []
    const said = bounded
      .filter(({ type, max }) => type === 'integer' || max !== undefined)
      .map(({ name, max, default: standard }) => ({
        name,
        ...(standard === undefined ? {} : { default: standard }),
        ...(max === undefined ? {} : { max }),
      }))
    expect(said.sort((a, b) => a.name.localeCompare(b.name))).toEqual(
      limit.inputs.sort((a, b) => a.name.localeCompare(b.name)),
    )
    if (limit.topPairs !== undefined) expect(operation?.success).toContain(`top ${limit.topPairs} pairs`)
  })

  test('Limits has a row for every operation', () => {
    expect(spec.limits.map(({ operation }) => operation)).toEqual(spec.operations.map(({ name }) => name))
    const defaults = /filter defaults: tvl_min (\d+), tx_24h_volume_min (\d+)/.exec(spec.text)?.slice(1)
    const inputs = spec.operations[0]?.inputs.slice(1).map((input) => input.default)
    expect(inputs).toEqual(defaults)
  })

  test('every long list of fields in the wire facts is read', () => {
    const { text, ...lists } = facts
    const read = new Set(JSON.stringify(lists).match(/\w+/g))
    const rest = text.slice(text.indexOf('## REST'), text.indexOf('## WebSocket'))
    const told = codesOf(rest.replace(/\s+/g, ' ')).filter((code) =>
      /^[a-z0-9_… []+(\[\])?( [a-z0-9_…[\]]+){3,}$/.test(code),
    )
    expect(told.length).toBeGreaterThan(12)
    const missed = told
      .flatMap((list) => list.split(' '))
      .map((name) => name.replace('[]', '').replace(/_w(?=_|$)/, '_24h'))
      .filter((name) => !name.endsWith('…') && !read.has(name))
    // Of supported_chains, whose fields are listed with an ellipsis.
    expect(missed).toEqual(['chain_id', 'case_sensitive'])
    expect(facts.enveloped.concat(facts.bare).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(facts.errorCodes.map(({ code }) => code)).toEqual([-32700, -32600, -32601, -32602, -32005])
  })
})
