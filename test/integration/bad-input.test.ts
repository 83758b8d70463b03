/** Damaged recordings: bad input becomes a dead letter or stops its chain, with its position; the rest continues. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Played, pairDifferences, playedBy, tokenDifferences } from '../rig/http/against-reference.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { deadCounts, deadLetters, printLetter, rawLetter } from '../rig/http/dead-letters.js'
import { interleave, onChain, writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract, type RecordingBlock, type RecordingLine } from '../rig/reference/lines.js'

const CHAINS = ['events', 'line', 'parent', 'retract', 'deep', 'back', 'well'] as const
type Chain = (typeof CHAINS)[number]
const AT = 25
const BACK_S = 4_000

/** Time never goes back, except in the one block damaged that way. */
const options = { maxTimeBackS: 0, quietDay: 0, quietHour: 0, secondsPerBlock: 12 }
const good: RecordingBlock[] = generateRecording({ seed: 61, chain: 'bad', blocks: 60, options }).filter(
  (line): line is RecordingBlock => !isRetract(line),
)
const factsOf = (chain: string) => ({ ...marketMoney('bad'), chain })
const blockAt = (at: number): RecordingBlock => good[at] as RecordingBlock
const head = blockAt(AT - 1)

const SWAP = {
  ...{ type: 'swap', tx_hash: '0xdead', pool: '0xnobody', amm: 'x' },
  sender: '',
  recipient: '',
  wallet: '0xw',
}
const legs = { token_in: '0xa', amount_in: '5', token_out: '0xb', amount_out: '7' }
const [firstEvent] = blockAt(AT).events
const BAD_EVENTS = {
  unknown_event: { type: 'airdrop', tx_index: 900, log_index: 900, tx_hash: '0xdead' },
  not_an_integer: { ...SWAP, ...legs, tx_index: 901, log_index: 901, amount_in: '12 million' },
  pool_unknown: { ...SWAP, ...legs, tx_index: 902, log_index: 902 },
  duplicate_event: {
    ...SWAP,
    ...legs,
    tx_index: firstEvent?.tx_index,
    log_index: firstEvent?.log_index,
    sub: firstEvent?.sub ?? 0,
  },
  not_a_record: 'no event at all',
} as const
const MALFORMED = `{"chain":"line","number":${blockAt(AT).number},"hash":"0x1`

/** Each chain plays the same market, with one line damaged in a different way. */
const damaged: Record<Chain, (RecordingLine | string | object)[]> = {
  well: onChain(good, 'well'),
  events: onChain(good, 'events').map((line, at) =>
    at === AT ? { ...line, events: [...blockAt(AT).events, ...Object.values(BAD_EVENTS)] } : line,
  ),
  line: onChain(good, 'line').map((line, at) => (at === AT ? MALFORMED : line)),
  parent: onChain(good, 'parent').map((line, at) => (at === AT ? { ...line, parent_hash: '0xother' } : line)),
  retract: onChain(good, 'retract').toSpliced(AT, 0, {
    ...{ kind: 'retract', chain: 'retract', from_number: head.number, from_hash: '0xother' },
    ...{ to_number: blockAt(AT - 2).number, to_hash: blockAt(AT - 2).hash },
  }),
  deep: onChain(good, 'deep').toSpliced(AT, 0, {
    ...{ kind: 'retract', chain: 'deep', from_number: head.number, from_hash: head.hash },
    ...{ to_number: blockAt(AT - 2).number, to_hash: '0xnever' },
  }),
  back: onChain(good, 'back').map((line, at) => (at === AT ? { ...line, time: head.time - BACK_S } : line)),
}

const FITS =
  'A block is missing, or the source did not announce a reorg. Read the chain’s history again as a new generation'
const stopsWith = (what: string, rest: string): string => `${what} ${rest}`
const STOPPED: Partial<Record<Chain, string>> = {
  line: stopsWith(
    `Block does not continue the chain (chain line, block ${blockAt(AT + 1).number});`,
    `expected a block on top of ${head.number} ${head.hash}; got ${blockAt(AT + 1).number} ${blockAt(AT + 1).hash} on top of ${blockAt(AT).hash}. ${FITS}`,
  ),
  parent: stopsWith(
    `Block does not continue the chain (chain parent, block ${blockAt(AT).number});`,
    `expected a block on top of ${head.number} ${head.hash}; got ${blockAt(AT).number} ${blockAt(AT).hash} on top of 0xother. ${FITS}`,
  ),
  retract: stopsWith(
    `Block does not continue the chain (chain retract, block ${head.number});`,
    `expected a retract from ${head.number} ${head.hash}; got ${head.number} 0xother. ${FITS}`,
  ),
  deep: `Reorg below finality: the block to return to can no longer be restored (chain deep, block ${blockAt(AT - 2).number})`,
  back: stopsWith(
    `Block time is too far behind the chain’s time (chain back, block ${blockAt(AT).number});`,
    `expected a time of ${head.time - 3600} or later; got ${head.time - BACK_S}.`,
  ),
}

const folder = scratchFolder()
let up: Up
let plan: UpPlan
let commands: { cwd: string; env: Record<string, string> }
const played = new Map<Chain, Played>()

async function settled(): Promise<void> {
  for (const chain of CHAINS) {
    if (STOPPED[chain] === undefined) await up.applied(chain, good.length)
    else await up.until(chain, 'stopped', ({ stopped, seq }) => stopped !== null && seq === AT)
  }
}

beforeAll(async () => {
  for (const chain of CHAINS) {
    const lines = onChain(STOPPED[chain] === undefined ? good : good.slice(0, AT), chain)
    played.set(chain, playedBy(lines, factsOf(chain)))
  }
  const mixed = interleave(Object.values(damaged) as RecordingLine[][])
  plan = { folder, events: writeRecording(folder, 'bad.jsonl', mixed), chains: CHAINS.map(factsOf) }
  commands = { cwd: folder, env: environmentOf(plan) }
  up = await startUp(plan)
  await settled()
})

afterAll(async () => {
  await up.stop()
  removeScratchFolders()
})

/** The market itself has swaps of undescribed pools. */
function expectedCounts(chain: Chain): Record<string, number> {
  const counts: Record<string, number> = {}
  const add = (reason: string) => {
    counts[reason] = (counts[reason] ?? 0) + 1
  }
  for (const { reason } of played.get(chain)?.reference.dead ?? []) add(reason)
  if (chain === 'events') for (const reason of Object.keys(BAD_EVENTS)) add(reason)
  if (chain === 'line') add('malformed_json')
  return counts
}

const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

async function expectState(): Promise<void> {
  for (const chain of CHAINS) {
    const letters = total(expectedCounts(chain))
    // The log is polled once a second.
    const own = await up.until(chain, `has ${letters} letters`, ({ dead_letters }) => dead_letters === letters)
    const { reference } = played.get(chain) as Played
    const stopped = STOPPED[chain] === undefined ? null : expect.stringContaining(STOPPED[chain])
    expect(own).toMatchObject({
      head: reference.head?.number,
      stopped,
      gaps: 0,
    })
    expect(await deadCounts(chain, commands)).toEqual(expectedCounts(chain))
  }
}

test('reports each chain’s head, stop reason and number of dead letters in /status', expectState)

test.each(CHAINS)('%s: pairs and tokens match the reference for the good lines', async (chain) => {
  expect(await pairDifferences(up, played.get(chain) as Played)).toEqual([])
  expect(await tokenDifferences(up, played.get(chain) as Played)).toEqual([])
})

test('counts dead letters by reason and shows stopped chains in the metrics', async () => {
  const metrics = await up.metrics()
  for (const chain of CHAINS) {
    expect(metrics.get(`dextape_chain_stopped{chain="${chain}"}`)).toBe(STOPPED[chain] === undefined ? 0 : 1)
    for (const [reason, count] of Object.entries(expectedCounts(chain))) {
      expect(metrics.get(`dextape_dead_letters_total{chain="${chain}",reason="${reason}"}`)).toBe(count)
    }
  }
})

describe('dead letters', () => {
  const lineOf = (chain: Chain, at: number): number =>
    interleave(Object.values(damaged) as RecordingLine[][]).indexOf(damaged[chain][at] as RecordingLine) + 1

  test.each(Object.entries(BAD_EVENTS))('%s: has reason, position and raw form', async (reason, event) => {
    const letters = await deadLetters('events', commands)
    const own = letters.filter((letter) => letter.reason === reason && letter.block_number === blockAt(AT).number)
    const raw = await Promise.all(own.map(({ offset }) => rawLetter('events', offset, commands)))
    const at = raw.findIndex((text) =>
      reason === 'pool_unknown' ? text.includes('0xnobody') : text === JSON.stringify(event),
    )
    const place =
      typeof event === 'string' ? null : `${event.tx_index}:${event.log_index}:${'sub' in event ? event.sub : 0}`
    expect(own[at]).toMatchObject({ chain: 'events', position: place, block_number: blockAt(AT).number })
    const source = reason === 'pool_unknown' ? `dex.blocks.events@${AT}` : `bad.jsonl:${lineOf('events', AT)}`
    expect(own[at]?.source).toBe(source)
  })

  test('prints a malformed line', async () => {
    const [letter] = (await deadLetters('line', commands)).filter(({ reason }) => reason === 'malformed_json')
    expect(letter).toMatchObject({ source: `bad.jsonl:${lineOf('line', AT)}`, block_number: null, position: null })
    const offset = letter?.offset ?? -1
    expect(await rawLetter('line', offset, commands)).toBe(MALFORMED)
    const printed = await printLetter('line', offset, commands)
    expect(printed).toMatch(/reason +malformed_json\n/)
    expect(printed).toContain(MALFORMED)
  })
})

test('has the same stopped chains and no duplicate dead letters after a restart', async () => {
  await up.stop()
  up = await startUp(plan)
  await settled()
  await expectState()
  const metrics = await up.metrics()
  for (const chain of CHAINS) {
    expect(metrics.get(`dextape_chain_stopped{chain="${chain}"}`)).toBe(STOPPED[chain] === undefined ? 0 : 1)
  }
})
