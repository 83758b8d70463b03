import { expect, test } from 'vitest'
import { fields } from '../contract/interface/fields.js'
import { fieldProblems, recordProblems } from '../rig/contract/record-problems.js'

const TRADE = fields({ text: 'pair', decimal: 'amount', decimalOrNull: 'tvl', time: 'time', tags: 'wallet_tag' })
const GOOD = { pair: '0x1', amount: '', tvl: null, time: 1_700_000_000, wallet_tag: null }

test('a record with every field of its type has no problems', () => {
  expect(recordProblems([GOOD, { ...GOOD, amount: '-1.5', tvl: '2', wallet_tag: ['whale'] }], TRADE)).toEqual([])
})

test('every missing, mistyped and unknown field is named once, with the first wrong value', () => {
  const { pair: _, ...noPair } = GOOD
  const inMs = { ...GOOD, time: 1_700_000_000_000 }
  const records = [GOOD, noPair, { ...inMs, amount: null, tvl: '' }, { ...inMs, tvl: 7, wallet_tag: [1], more: 1 }]
  expect(recordProblems(records, TRADE)).toEqual([
    'pair: expected text, got nothing in 1 of 4 records',
    'amount: expected decimal, got null in 1 of 4 records',
    'tvl: expected decimalOrNull, got "" in 2 of 4 records',
    'time: expected time, got 1700000000000 in 2 of 4 records',
    'wallet_tag: expected tags, got [1] in 1 of 4 records',
    'more: not a field of the interface',
  ])
})

test('an empty list of records is a problem', () => {
  expect(fieldProblems([], TRADE)).toEqual(['there are no records'])
})
