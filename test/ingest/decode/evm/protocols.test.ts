/** For every protocol: malformed logs and answers become dead letters or nulls, never an error that stops a chain. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadLog } from '../../../../services/ingest/decode/evm/protocol.js'
import { PROTOCOLS, protocolNamed } from '../../../../services/ingest/decode/evm/protocols.js'
import { answerWith, chainOf, FACTORY, makeLog, POOL, venue, word } from './rig.js'

const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 300 })
const words = fc
  .array(
    fc.oneof(fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n - 1n }), fc.constantFrom(0n, 1n, 32n, 64n, 2n ** 160n)),
    {
      maxLength: 9,
    },
  )
  .map((values) => values.map(word).join(''))
const anything = fc.oneof(digits, words, fc.string({ maxLength: 80 }))

describe('the protocol list', () => {
  it('has no duplicate names', () => {
    expect(new Set(PROTOCOLS.map(({ name }) => name)).size).toBe(PROTOCOLS.length)
    for (const protocol of PROTOCOLS) expect(protocolNamed(protocol.name)).toBe(protocol)
  })
})

describe.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))('%s', (name, protocol) => {
  const garbage = fc.record({
    topic0: fc.constantFrom(...protocol.topics, ...protocol.creationTopics),
    topics: fc.array(
      fc.oneof(
        words.map((text) => text.slice(0, 64)),
        anything,
      ),
      { maxLength: 4 },
    ),
    data: anything,
  })
  const at = venue(name)
  const chain = chainOf(name)
  /** A venue about which no node answers. */
  const unread = answerWith(protocol.readState(at, chain), () => null)

  it('rejects random data in any log as a bad log', () => {
    fc.assert(
      fc.property(garbage, ({ topic0, topics, data }) => {
        const log = {
          ...makeLog('Any()', [], []),
          topics: [topic0, ...topics.map((topic) => `0x${topic}`)],
          data: `0x${data}`,
        }
        try {
          if (protocol.topics.includes(topic0)) {
            protocol.venueOf(log)
            for (const start of [protocol.emptyState(at), unread]) {
              const { state } = protocol.apply(log, at, start)
              protocol.settle?.(at, state)
            }
          }
          if (protocol.creationTopics.includes(topic0)) {
            protocol.created(log, { address: FACTORY, protocol: name, amm: 'test' }, chain)
          }
        } catch (error) {
          if (!(error instanceof BadLog)) throw error
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('accepts random data in any answer', () => {
    const answers = fc.infiniteStream(fc.option(fc.oneof(words, digits).map((text) => `0x${text}`)))
    fc.assert(
      fc.property(answers, fc.boolean(), (stream, named) => {
        const given = named ? { ...chain, named: new Set([POOL]) } : chain
        const readings = [protocol.describe(POOL, makeLog('Any()', [], []), given), protocol.readState(at, given)]
        const reserves = protocol.readReserves?.(at, given)
        for (const reading of reserves === undefined ? readings : [...readings, reserves]) {
          let step = reading.next()
          while (!step.done) step = reading.next(step.value.map(() => stream.next().value ?? null))
        }
      }),
      { numRuns: 500 },
    )
  })
})
