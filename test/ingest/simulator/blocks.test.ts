import { describe, expect, it } from 'vitest'
import type { Event } from '../../../services/core/domain/records.js'
import { readLine } from '../../../services/ingest/validate/read-line.js'
import { CHAINS, chainOfRecord, DAY_S, factsOf, played } from './rig.js'

const records = played({ historyS: DAY_S, historySwaps: 12_000, liveS: 240 })
const ofChain = (chain: string) => records.filter((record) => chainOfRecord(record) === chain)

const isAfter = (a: Event, b: Event): boolean =>
  (a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub) > 0

describe('every record', () => {
  it('is valid in a recording, unchanged', () => {
    const family = (chain: string) => factsOf(chain).family
    for (const record of records) {
      const line = record.kind === 'block' ? record.block : { kind: 'retract', ...record.retract }
      const read = readLine(Buffer.from(JSON.stringify(line)), { source: 'simulator', family })
      if (read.kind === 'dead') throw new Error(read.letter.detail)
      if (read.kind === 'block') expect(read.dead).toEqual([])
      expect(read.kind === 'block' ? read.block : read.retract).toStrictEqual(
        record.kind === 'block' ? record.block : record.retract,
      )
    }
  })

  it('is in time order over all chains, except for what a fork repeats', () => {
    let now = 0
    const repeatsTo = new Map<string, number>()
    for (const record of records) {
      if (record.kind === 'retract') repeatsTo.set(record.retract.chain, record.retract.from_number)
      else if (record.block.number > (repeatsTo.get(record.block.chain) ?? 0)) {
        expect(record.block.time).toBeGreaterThanOrEqual(now)
        now = record.block.time
      }
    }
    expect(repeatsTo.size).toBe(3)
  })
})

describe.each(CHAINS.map(({ chain }) => chain))('blocks of %s', (chain) => {
  it('link to their parent, have rising numbers, and order their events', () => {
    let head: { number: number; hash: string } | undefined
    const hashes = new Set<string>()
    for (const record of ofChain(chain)) {
      if (record.kind === 'retract') {
        const { from_number, from_hash, to_number, to_hash } = record.retract
        expect({ number: from_number, hash: from_hash }).toEqual(head)
        head = { number: to_number, hash: to_hash }
        continue
      }
      const { number, hash, parent_hash, events } = record.block
      if (head !== undefined) {
        expect(parent_hash).toBe(head.hash)
        expect(number).toBeGreaterThan(head.number)
      }
      expect(hashes.has(hash)).toBe(false)
      hashes.add(hash)
      head = { number, hash }
      expect(events.length).toBeGreaterThan(0)
      expect(events.slice(1).every((event, at) => isAfter(event, events[at] as Event))).toBe(true)
    }
  })

  it('are final twelve blocks later and never retracted after that', () => {
    let finalized = 0
    const kept: number[] = []
    for (const record of ofChain(chain)) {
      if (record.kind === 'retract') {
        expect(record.retract.to_number).toBeGreaterThanOrEqual(finalized)
        while ((kept.at(-1) ?? 0) > record.retract.to_number) kept.pop()
        continue
      }
      expect(record.block.finalized_number).toBeGreaterThanOrEqual(finalized)
      finalized = record.block.finalized_number
      kept.push(record.block.number)
      expect(kept.filter((number) => number > finalized).length).toBeLessThanOrEqual(kept.length < 13 ? 12 : 17)
      if (kept.length > 40) kept.shift()
    }
    expect(finalized).toBeGreaterThan(0)
  })
})

it('most trades of orphaned blocks are published again', () => {
  const orphaned: string[] = []
  const all = new Set<string>()
  for (const { chain } of CHAINS) {
    const kept: { number: number; txs: string[] }[] = []
    for (const record of ofChain(chain)) {
      if (record.kind === 'block') {
        const txs = record.block.events.flatMap((event) => (event.type === 'swap' ? event.tx_hash : []))
        kept.push({ number: record.block.number, txs })
      } else while ((kept.at(-1)?.number ?? 0) > record.retract.to_number) orphaned.push(...(kept.pop()?.txs ?? []))
    }
    for (const tx of kept.flatMap(({ txs }) => txs)) all.add(tx)
  }
  const again = orphaned.filter((tx) => all.has(tx)).length
  expect(again / orphaned.length).toBeGreaterThan(0.7)
  expect(again).toBeLessThan(orphaned.length)
})

it('forks are one to five blocks deep', () => {
  const history = played({ historySwaps: 30_000 })
  const depths = new Set<number>()
  for (const { chain } of CHAINS) {
    const kept: number[] = []
    for (const record of history.filter((one) => chainOfRecord(one) === chain)) {
      if (record.kind === 'block') kept.push(record.block.number)
      else {
        const before = kept.length
        while ((kept.at(-1) ?? 0) > record.retract.to_number) kept.pop()
        depths.add(before - kept.length)
      }
    }
  }
  expect([...depths].sort()).toEqual([1, 2, 3, 4, 5])
})
