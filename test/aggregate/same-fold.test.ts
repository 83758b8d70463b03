/** A checkpoint and other money tokens: the fold continues where the whole history would have given the same state. */
import { expect, it } from 'vitest'
import { applyRecord } from '../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { CheckpointWriter } from '../../services/aggregate/checkpoint/checkpoint-writer.js'
import { readMeta, restingState, restoringState } from '../../services/aggregate/checkpoint/restore-state.js'
import { whyOtherFold } from '../../services/aggregate/checkpoint/same-fold.js'
import type { Meta } from '../../services/aggregate/checkpoint/state-image.js'
import { foldFingerprint } from '../../services/aggregate/epoch.js'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { atOnce } from '../../services/core/runtime/in-turns.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { chainRecordOf, FOLD_SETTINGS, foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'

const BLOCKS = 200
const money = marketMoney('eth')
const lines = generateRecording({ seed: 12, chain: 'eth', blocks: BLOCKS })
const half = Math.floor(lines.length / 2)
const { maxTimeBackS } = FOLD_SETTINGS
const wanted = (facts: ChainFacts, generation = 1) => ({ facts, maxTimeBackS, generation })

async function checkpointOf(facts: ChainFacts) {
  const kept = lines.slice(0, half)
  const fold = startFold(facts)
  foldLines(fold, kept)
  const writer = new CheckpointWriter(fold.store, foldFingerprint(facts, maxTimeBackS))
  await writer.capture(fold.state, new StoredHistory(fold.store), kept.length).write()
  return { store: fold.store, meta: readMeta(fold.store) as Meta }
}

it('continues with tokens that the chain has not seen, and ends where a fold of everything ends', async () => {
  const { store, meta } = await checkpointOf(money)
  const unseen = '0x00000000000000000000000000000000000057ab'
  const other = { ...money, stables: [...money.stables, unseen], majors: [...money.majors, `${unseen.slice(0, -1)}c`] }
  expect(foldFingerprint(other, maxTimeBackS)).not.toBe(meta.fingerprint)
  expect(whyOtherFold(store, meta, wanted(other))).toBeUndefined()
  const state = atOnce(restoringState(other, FOLD_SETTINGS, meta, store, restingState(store)))
  const history = new StoredHistory(store)
  const continued = lines.slice(half).flatMap((line) => applyRecord(state, history, chainRecordOf(line, other)) ?? [])
  const whole = foldLines(startFold(other), lines)
  expect(exactDifferences(continued, whole.slice(whole.length - continued.length))).toEqual([])
})

it('does not continue where a traded token has another place, nor with another generation', async () => {
  const { store, meta } = await checkpointOf(money)
  const dropped = money.stables[0] ?? ''
  expect(whyOtherFold(store, meta, wanted({ ...money, stables: money.stables.slice(1) }))).toBe(
    `the chain has traded ${dropped}, whose place among the money tokens has changed`,
  )
  expect(whyOtherFold(store, meta, wanted(money, 2))).toBe('its rules or its generation have changed')
  // Of an earlier version: what it was folded with is not known.
  const { money: _money, ...old } = meta
  expect(whyOtherFold(store, old, wanted({ ...money, majors: [] }))).toBe('its rules or its generation have changed')
  expect(whyOtherFold(store, old, wanted(money))).toBeUndefined()
})
