/** Accounts of a program, found by their bytes. */
import { afterEach, expect, test } from 'vitest'
import { closeAll, nodeOf, readerOf } from './opened.js'
import { chainOf, slotsBut } from './slot-chain.js'
import { refuse } from './slot-node.js'

const { signal } = new AbortController()
afterEach(closeAll)

const CHAIN = chainOf(slotsBut(1000, 1010))

test('lists the accounts of a program by their bytes; null if the node refuses', async () => {
  let isRefused = false
  const [owner, pubkey] = ['strmRqUCoQUgGUan5YhzUZa6KqdzwX5L6FpUxfmKg5m', 'So11111111111111111111111111111111111111112']
  const account = { data: ['AQI=', 'base64'], executable: false, lamports: 5, owner, rentEpoch: 0, space: 2 }
  const node = await nodeOf(CHAIN, ({ method }) => {
    if (method !== 'getProgramAccounts') return undefined
    return isRefused ? refuse(-32010, 'excluded from account secondary indexes') : { result: [{ pubkey, account }] }
  })
  const reader = readerOf(node.url)
  const list = { programId: owner, dataBytes: 2, matches: [{ offset: 1, bytes: '3' }] }
  expect(await reader.listed(list, signal)).toEqual([
    { address: pubkey, owner, lamports: 5n, data: Uint8Array.of(1, 2) },
  ])
  expect(node.asked.at(-1)?.params).toMatchObject([
    owner,
    { encoding: 'base64', filters: [{ dataSize: 2 }, { memcmp: { offset: 1, bytes: '3' } }] },
  ])
  isRefused = true
  expect(await reader.listed(list, signal)).toBeNull()
  const asked = node.countOf('getProgramAccounts')
  expect(await reader.listed(list, signal)).toBeNull()
  expect(node.countOf('getProgramAccounts')).toBe(asked)
})
