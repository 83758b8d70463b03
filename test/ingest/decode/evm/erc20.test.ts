import { describe, expect, it } from 'vitest'
import { selectorOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import * as erc20 from '../../../../services/ingest/decode/evm/erc20.js'
import { address, answerWith, makeLog, TOKEN0, word } from './rig.js'

const hexOf = (text: string | Uint8Array) => Buffer.from(text as string).toString('hex')
const padded = (digits: string) => digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
const stringAnswer = (digits: string) => `0x${word(32)}${word(digits.length / 2)}${padded(digits)}`

function readToken(answers: Record<string, string | null>) {
  const bySelector = new Map(Object.entries(answers).map(([view, answer]) => [selectorOf(`${view}()`), answer]))
  return answerWith(erc20.readToken(TOKEN0), ({ to, data }) => (to === TOKEN0 ? (bySelector.get(data) ?? null) : null))
}

describe('a token', () => {
  it('returns its name, symbol, decimals and supply', () => {
    expect(
      readToken({
        name: stringAnswer(hexOf('USD Coin')),
        symbol: stringAnswer(hexOf('USDC')),
        decimals: `0x${word(6)}`,
        totalSupply: `0x${word(2n ** 255n)}`,
      }),
    ).toEqual({ name: 'USD Coin', symbol: 'USDC', decimals: 6, totalSupply: 2n ** 255n })
  })

  it('may return its name and symbol as bytes32', () => {
    expect(readToken({ name: `0x${padded(hexOf('Maker'))}`, symbol: `0x${padded(hexOf('MKR'))}` })).toEqual({
      name: 'Maker',
      symbol: 'MKR',
      decimals: null,
      totalSupply: null,
    })
  })

  it.each([
    ['no answer', null],
    ['an empty answer', '0x'],
    ['more than 255', `0x${word(256)}`],
    ['a negative number', `0x${word(-18)}`],
    ['half a word', '0x12'],
  ])('decimals are unknown after %s', (_, answer) => {
    expect(readToken({ decimals: answer }).decimals).toBeNull()
  })

  it.each([
    ['control characters are dropped', hexOf('a\u0000b\u001bc\n'), 'abc'],
    ['bytes that are not UTF-8 become replacement characters', `ff${hexOf('x')}`, '\ufffdx'],
    ['a name without printable characters is null', hexOf('\u0000\u0001'), null],
    ['a long name is truncated', hexOf('é'.repeat(5000)), 'é'.repeat(1024)],
    ['… never within a character', hexOf(`a${'🦄'.repeat(600)}`), `a${'🦄'.repeat(511)}`],
  ])('%s', (_, digits, expected) => {
    expect(readToken({ symbol: stringAnswer(digits) }).symbol).toBe(expected)
  })

  it('balances and supply are read, and unknown ones stay unknown', () => {
    const answer = (call: { data: string }) =>
      call.data === selectorOf('totalSupply()') ? `0x${word(9)}` : `0x${word(5)}`
    expect(answerWith(erc20.readSupply(TOKEN0), answer)).toBe(9n)
    expect(answerWith(erc20.readBalance(TOKEN0, address(1)), answer)).toBe(5n)
    expect(answerWith(erc20.readBalances([TOKEN0, address(2)], address(1)), answer)).toEqual([5n, 5n])
    expect(
      answerWith(erc20.readBalances([TOKEN0, address(2)], address(1)), ({ to }) =>
        to === TOKEN0 ? null : `0x${word(1)}`,
      ),
    ).toBeNull()
  })
})

describe('a transfer', () => {
  const TRANSFER = 'Transfer(address,address,uint256)'

  it('has a sender, a receiver and an amount', () => {
    expect(erc20.transferOf(makeLog(TRANSFER, [address(1), address(2)], [7n], { address: TOKEN0 }))).toEqual({
      token: TOKEN0,
      from: address(1),
      to: address(2),
      amount: 7n,
    })
  })

  it.each([
    ['of an ERC-721 token', makeLog(TRANSFER, [address(1), address(2), 7n], [])],
    ['without indexed fields', makeLog(TRANSFER, [], [address(1), address(2), 7n])],
    ['with extra data', makeLog(TRANSFER, [address(1), address(2)], [7n, 8n])],
    ['from an invalid address', makeLog(TRANSFER, [2n ** 200n, address(2)], [7n])],
    ['with another event name', makeLog('Transferred(address,address,uint256)', [address(1), address(2)], [7n])],
  ])('%s is ignored', (_, log) => expect(erc20.transferOf(log)).toBeNull())
})
