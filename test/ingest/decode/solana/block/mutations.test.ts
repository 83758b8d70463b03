/** Random data in any field of a transaction gives a dead letter or nothing, never a crash or an invalid event. */
import { describe, expect, it } from 'vitest'
import { readEvent } from '../../../../../services/ingest/validate/validate-event.js'
import { countOf, seedOf } from '../../../../rig/counts.js'
import { everyTransaction } from '../real-transactions.js'
import { decoded, rulesOf } from './decoded.js'

const MUTATIONS = countOf('solanaMutations')
const SEED = seedOf('solanaMutations')

type Slot = { holder: Record<string | number, unknown>; at: string | number }

/** Every field of the value, including nested ones. */
function slotsOf(value: unknown, slots: Slot[] = []): Slot[] {
  if (typeof value !== 'object' || value === null) return slots
  for (const at of Object.keys(value)) {
    slots.push({ holder: value as Record<string, unknown>, at })
    slotsOf((value as Record<string, unknown>)[at], slots)
  }
  return slots
}

/** Mulberry32: small and repeatable. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function garbled(value: unknown, random: (below: number) => number): unknown {
  const garbage = [null, undefined, -1, 0.5, 2 ** 60, 255, '', 'x', '1'.repeat(44), [], {}, [null], true, Number.NaN]
  const kind = random(4)
  if (kind === 0 || value === null || value === undefined) return garbage[random(garbage.length)]
  if (typeof value === 'string' && value.length > 0) {
    const at = random(value.length)
    const letter = '123abcXYZ0l= '.charAt(random(13))
    return kind === 1 ? value.slice(0, at) : `${value.slice(0, at)}${letter}${value.slice(at + 1)}`
  }
  if (typeof value === 'number') return kind === 1 ? value + random(5) - 2 : random(300)
  if (Array.isArray(value)) {
    const list = [...(value as unknown[])]
    if (kind === 1) list.splice(random(list.length + 1), 1)
    else if (kind === 2) list.splice(random(list.length + 1), 0, list[random(list.length || 1)])
    else list.reverse()
    return list
  }
  return garbage[random(garbage.length)]
}

describe(`${MUTATIONS} mutations of transactions, seed ${SEED}`, () => {
  it('are decoded, rejected with a reason, or ignored', () => {
    const random = randomOf(SEED)
    const rules = rulesOf({ balances: 'all' })
    const real = everyTransaction().map(({ value, ...rest }) => {
      const own = structuredClone(value)
      return { ...rest, value: own, slots: slotsOf(own) }
    })
    const reasons = new Map<string, number>()
    for (let mutation = 0; mutation < MUTATIONS; mutation += 1) {
      const { value, slot, name, slots } = real[random(real.length)] ?? { value: {}, slot: 0, name: '', slots: [] }
      const { holder, at } = slots[random(slots.length)] ?? { holder: {}, at: '' }
      const before = holder[at]
      holder[at] = garbled(before, random)
      const { events, lost } = decoded(value, slot, rules)
      holder[at] = before
      for (const { reason, detail } of lost) {
        if (reason === 'decoder_failed') throw new Error(`mutation ${mutation} of ${name} at ${at}: ${detail}`)
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      }
      for (const event of events) {
        const read = readEvent({ ...event }, 'solana')
        if (!read.ok) throw new Error(`mutation ${mutation} of ${name} at ${at}: ${read.problem.detail}`)
      }
    }
    expect([...reasons.keys()].sort()).toContain('bad_transaction')
    expect([...reasons.keys()].filter((reason) => reason.startsWith('bad_instruction_')).length).toBeGreaterThan(0)
  })
})
