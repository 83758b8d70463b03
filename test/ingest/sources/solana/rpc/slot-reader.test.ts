/** The Solana reader returns the chain, whatever nodes omit, delay or get wrong. */
import { afterEach, describe, expect, test } from 'vitest'
import { closeAll, nodeOf, readerOf } from './opened.js'
import { blockAt, blocksIn, chainOf, headerAt, slotsBut } from './slot-chain.js'
import { type Interfere, refuse, type SlotNode } from './slot-node.js'

const { signal } = new AbortController()
afterEach(closeAll)

const isAbout = (slot: number) => (question: { method: string; params: unknown[] }) =>
  question.method === 'getBlock' && question.params[0] === slot

/** About three hundred slots, some skipped, so that there is history below the head. */
const CHAIN = chainOf(slotsBut(1000, 1300, 1007, 1008, 1009, 1031, 1100, 1295, 1298))

describe.each([
  ['http', (node: SlotNode) => node.url],
  ['ws', (node: SlotNode) => node.wsUrl],
])('over %s', (_, urlOf) => {
  test('reads history and the head, with skipped slots', async () => {
    const node = await nodeOf(CHAIN)
    const reader = readerOf(urlOf(node))
    await reader.start(signal)
    expect(await reader.head(signal)).toEqual({ number: 1300 })
    expect(await reader.range(1005, 1040, signal)).toEqual(blocksIn(CHAIN, 1005, 1040))
    expect(await reader.range(1041, 1060, signal)).toEqual(blocksIn(CHAIN, 1041, 1060))
    expect(node.countOf('getBlocks')).toBe(1)
    expect(await reader.range(1294, 1300, signal)).toEqual(blocksIn(CHAIN, 1294, 1300))
    expect(node.countOf('getBlocks')).toBe(1)
    expect(await reader.range(1007, 1009, signal)).toEqual([])
    expect(await reader.finalized(signal)).toBe(1268)
  })
})

test('lists history in wide windows, each requested once', async () => {
  const chain = chainOf(slotsBut(2000, 3400, 2100, 2101))
  const node = await nodeOf(chain)
  const reader = readerOf(node.url)
  await reader.head(signal)
  const before = node.countOf('getBlock')
  // Ranges of two slots, as for dense chains, six at a time.
  for (let from = 2080; from < 2120; from += 12) {
    const parts = [0, 2, 4, 6, 8, 10].map((more) => reader.range(from + more, from + more + 1, signal))
    expect((await Promise.all(parts)).flat()).toEqual(blocksIn(chain, from, from + 11))
  }
  // Adjacent ranges prove each other's ends: only the last of each six requests the block next to it.
  expect(node.countOf('getBlock') - before).toBe(46 + 4 + 1)
  await Promise.all([reader.range(3200, 3231, signal), reader.range(3232, 3263, signal)])
  expect(node.asked.filter(({ method }) => method === 'getBlocks').map(({ params }) => params.slice(0, 2))).toEqual([
    [2000, 2999],
    [3000, 3336],
  ])
})

test('fetches nothing twice near the head', async () => {
  const node = await nodeOf(CHAIN)
  const reader = readerOf(node.url)
  await reader.head(signal)
  const before = node.countOf('getBlock')
  await reader.range(1299, 1300, signal)
  expect(await reader.range(1299, 1300, signal)).toEqual(blocksIn(CHAIN, 1299, 1300))
  expect(await reader.blocks([headerAt(CHAIN, 1299)], signal)).toEqual([blockAt(CHAIN, 1299)])
  expect(node.countOf('getBlock') - before).toBe(2)
})

test('finds blocks missing from a list by their children', async () => {
  const node = await nodeOf(CHAIN, ({ method }, asNode) => {
    const said = asNode()
    if (method !== 'getBlocks' || !('result' in said)) return undefined
    return { result: (said.result as number[]).filter((slot) => slot % 4 !== 1) }
  })
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1005, 1040, signal)).toEqual(blocksIn(CHAIN, 1005, 1040))
})

test('proves the ends of a range in history by the blocks next to it', async () => {
  let liesLeft = 2
  const node = await nodeOf(CHAIN, (question, asNode) => {
    const said = asNode()
    if (!('result' in said)) return undefined
    if (question.method === 'getBlocks') return { result: (said.result as number[]).filter((slot) => slot !== 1040) }
    // The last block with another's content, the first with a wrong parent.
    if (isAbout(1060)(question) && liesLeft-- > 0) return { result: CHAIN.get(1058) }
    if (isAbout(1041)(question) && liesLeft-- > 0)
      return { result: { ...(said.result as object), previousBlockhash: headerAt(CHAIN, 1000).hash } }
    return undefined
  })
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1010, 1040, signal)).toEqual(blocksIn(CHAIN, 1010, 1040))
  expect(await reader.range(1041, 1060, signal)).toEqual(blocksIn(CHAIN, 1041, 1060))
  expect(liesLeft).toBeLessThanOrEqual(0)
  // Each is read once; the blocks next to a range only as headers.
  node.asked.length = 0
  await reader.range(1061, 1080, signal)
  expect(node.countOf('getBlock')).toBe(21)
})

test('does not trust a node that lists none of its blocks', async () => {
  const node = await nodeOf(CHAIN, ({ method }) => (method === 'getBlocks' ? { result: [] } : undefined))
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
  expect(await reader.range(1007, 1009, signal)).toEqual([])
})

test('requests each slot from a node that cannot list slots', async () => {
  const node = await nodeOf(CHAIN, ({ method }) =>
    method === 'getBlocks'
      ? refuse(-32602, 'BigTable query failed (maybe timeout due to too large range?)')
      : undefined,
  )
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1005, 1040, signal)).toEqual(blocksIn(CHAIN, 1005, 1040))
})

test.each([
  ['skipped', refuse(-32007, 'Slot 1020 was skipped, or missing due to ledger jump to recent snapshot')],
  ['not available', refuse(-32004, 'Block not available for slot 1020')],
  ['null', { result: null }],
])('reads a block that one node reports as %s from another', async (_, answer) => {
  const holed = await nodeOf(CHAIN, (question) => (isAbout(1020)(question) ? answer : undefined))
  const whole = await nodeOf(CHAIN)
  const reader = readerOf([holed.url, whole.url])
  await reader.head(signal)
  for (let round = 0; round < 3; round++)
    expect(await reader.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
})

test('a missing block that its child links to is a retryable error, not a skipped slot', async () => {
  const node = await nodeOf(CHAIN, (question) =>
    isAbout(1020)(question) ? refuse(-32009, 'Slot 1020 was skipped, or missing in long-term storage') : undefined,
  )
  const reader = readerOf(node.url)
  await reader.head(signal)
  await expect(reader.range(1010, 1030, signal)).rejects.toMatchObject({
    kind: 'unknown_block',
    retry: true,
    where: { chain: 'solana', block: 1020 },
    detail: '-32009 Slot 1020 was skipped, or missing in long-term storage, but it is the parent of block 1021',
  })
})

test.each([
  [
    'a transaction without its status',
    (block: object) => ({ ...block, transactions: [{ transaction: {}, meta: null }] }),
  ],
  ['no time', (block: object) => ({ ...block, blockTime: null })],
  ['no transactions', (block: object) => ({ ...block, transactions: undefined })],
  ['a parent above it', (block: object) => ({ ...block, parentSlot: 1020 })],
  ['an invalid hash', (block: object) => ({ ...block, blockhash: '0x12' })],
])('requests a block with %s again, and from another node', async (_, spoil) => {
  let liesLeft = 2
  const spoiling: Interfere = (question, asNode) => {
    const said = asNode()
    if (!isAbout(1020)(question) || liesLeft-- <= 0 || !('result' in said)) return undefined
    return { result: spoil(said.result as object) }
  }
  const nodes = [await nodeOf(CHAIN, spoiling), await nodeOf(CHAIN, spoiling)]
  const reader = readerOf(nodes.map(({ url }) => url))
  await reader.head(signal)
  expect(await reader.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
  expect(liesLeft).toBeLessThanOrEqual(0)
})

test('waits for the block of a head that comes late', async () => {
  let late = 3
  const node = await nodeOf(CHAIN, (question) => {
    const { transactionDetails } = (question.params[1] ?? {}) as { transactionDetails?: string }
    if (!isAbout(1300)(question) || transactionDetails === 'none' || late-- <= 0) return undefined
    return refuse(-32014, 'Block status not yet available for slot 1300')
  })
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1299, 1300, signal)).toEqual(blocksIn(CHAIN, 1299, 1300))
  expect(late).toBe(-1)
})

test('returns nothing beyond the head', async () => {
  const node = await nodeOf(CHAIN)
  const reader = readerOf(node.url)
  await reader.head(signal)
  expect(await reader.range(1301, 1303, signal)).toEqual([])
  expect(await reader.headerByNumber(1301, signal)).toBe(null)
  expect(await reader.headerFrom(1301, signal)).toBe(null)
})

test('requests blocks of two forks again until they are of one', async () => {
  const fork = chainOf([1018, 1019, 1020], { slot: 1017, ...(CHAIN.get(1017) as never as object) } as never, 'b')
  const forked = await nodeOf(new Map([...CHAIN, ...fork]))
  const whole = await nodeOf(CHAIN)
  for (const urls of [
    [forked.url, whole.url],
    [whole.url, forked.url],
  ]) {
    const reader = readerOf(urls)
    await reader.head(signal)
    expect(await reader.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
  }
})

test('reports a block with a permanently wrong link as a lie, with the nodes’ names', async () => {
  const wrong = { ...(CHAIN.get(1020) as object), previousBlockhash: headerAt(CHAIN, 1000).hash }
  const node = await nodeOf(CHAIN, (question) => (isAbout(1020)(question) ? { result: wrong } : undefined))
  const reader = readerOf(node.url)
  await reader.head(signal)
  await expect(reader.range(1010, 1030, signal)).rejects.toMatchObject({
    code: 'node_lies',
    kind: 'lies',
    retry: true,
    where: { chain: 'solana', block: 1020 },
  })
})

test('rejects a block returned for another slot', async () => {
  let liesLeft = 1
  const node = await nodeOf(CHAIN, (question) =>
    isAbout(1300)(question) && liesLeft-- > 0 ? { result: CHAIN.get(1296) } : undefined,
  )
  const reader = readerOf(node.url)
  await reader.range(1296, 1297, signal)
  expect(await reader.range(1300, 1300, signal)).toEqual([blockAt(CHAIN, 1300)])
  expect(liesLeft).toBe(-1)
})

test('drops a cached block of an abandoned fork', async () => {
  const node = await nodeOf(chainOf(slotsBut(1000, 1300)))
  const reader = readerOf(node.url)
  await reader.head(signal)
  await reader.range(1298, 1300, signal)
  const parent = { slot: 1299, ...node.chain.get(1299) } as never
  node.chain.delete(1300)
  for (const [slot, block] of chainOf([1301, 1302], parent, 'b')) node.chain.set(slot, block)
  expect(await reader.head(signal)).toEqual({ number: 1302 })
  expect(await reader.range(1298, 1302, signal)).toEqual(blocksIn(node.chain, 1298, 1302))
})

test('reads pruned blocks from a node that has them; without one the error is permanent', async () => {
  const young = await nodeOf(CHAIN)
  young.first = 1200
  const alone = readerOf(young.url)
  await alone.head(signal)
  const pruned = { code: 'state_pruned', kind: 'pruned', retry: false }
  await expect(alone.range(1010, 1030, signal)).rejects.toMatchObject(pruned)
  await expect(alone.range(1190, 1210, signal)).rejects.toMatchObject(pruned)
  await expect(alone.headerFrom(1100, signal)).rejects.toMatchObject(pruned)
  // The hash is unknown now, so null is the right answer.
  expect(await alone.headerByHash(headerAt(CHAIN, 1101).hash, 1101, signal)).toBe(null)
  expect(await alone.headerFrom(1200, signal)).toEqual(headerAt(CHAIN, 1200))

  const archive = await nodeOf(CHAIN)
  const both = readerOf([young.url, archive.url])
  await both.head(signal)
  young.asked.length = 0
  expect(await both.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
  expect(await both.range(1031, 1060, signal)).toEqual(blocksIn(CHAIN, 1031, 1060))
  // Once it reported its first block, it is not asked for older ones.
  expect(young.countOf('getBlock')).toBeLessThanOrEqual(16)
})

test('slows down when throttled, and loses nothing', async () => {
  let refused = 0
  const node = await nodeOf(CHAIN, ({ method }) => {
    if (method !== 'getBlock' || refused >= 6) return undefined
    refused++
    return refused % 2 === 0
      ? { status: 429, text: 'Too many requests' }
      : refuse(-32007, '50/second request limit reached - reduce calls per second')
  })
  const reader = readerOf(node.url)
  expect(await reader.range(1010, 1030, signal)).toEqual(blocksIn(CHAIN, 1010, 1030))
  expect(reader.status()[0]?.errors).toMatchObject({ rate_limited: 6 })
})

test('a node of another cluster stops the start', async () => {
  const node = await nodeOf(CHAIN)
  const other = await nodeOf(CHAIN)
  other.genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
  const mainnet = { genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' }
  await readerOf(node.url, mainnet).start(signal)
  await readerOf(other.url).start(signal)
  const otherChain = { name: 'ConfigError', code: 'other_chain' }
  await expect(readerOf(other.url, mainnet).start(signal)).rejects.toMatchObject(otherChain)
  await expect(readerOf([node.url, other.url]).start(signal)).rejects.toMatchObject(otherChain)
})

test('reads headers by hash only while canonical, by slot, and the first from a slot on', async () => {
  const node = await nodeOf(CHAIN)
  const reader = readerOf(node.url)
  await reader.head(signal)
  await reader.range(1300, 1300, signal)
  const { hash } = headerAt(CHAIN, 1300)
  expect(await reader.headerByHash(hash, 1300, signal)).toEqual(headerAt(CHAIN, 1300))
  expect(await reader.headerByHash(hash, 1299, signal)).toBe(null)
  expect(await reader.headerByNumber(1299, signal)).toEqual(headerAt(CHAIN, 1299))
  expect(await reader.headerByNumber(1007, signal)).toBe(null)
  expect(await reader.headerFrom(1007, signal)).toEqual(headerAt(CHAIN, 1010))
  expect(await reader.blocks([headerAt(CHAIN, 1012), headerAt(CHAIN, 1010)], signal)).toEqual([
    blockAt(CHAIN, 1012),
    blockAt(CHAIN, 1010),
  ])
  await expect(
    reader.blocks([{ ...headerAt(CHAIN, 1012), hash: headerAt(CHAIN, 1010).hash }], signal),
  ).rejects.toMatchObject({ kind: 'unknown_block', retry: true })
  // Cached blocks do not prove what is canonical.
  node.chain = new Map([...CHAIN].filter(([slot]) => slot !== 1300))
  node.head = 1300
  expect(await reader.headerByHash(hash, 1300, signal)).toBe(null)
})

test('reads accounts in order, a hundred at a time', async () => {
  const account = (address: string) => ({
    data: [Buffer.from(address).toString('base64'), 'base64'],
    ...{ executable: false, lamports: 1_461_600, owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', rentEpoch: 0 },
    space: address.length,
  })
  let isCut = true
  const node = await nodeOf(CHAIN, ({ method, params }) => {
    if (method !== 'getMultipleAccounts') return undefined
    const value = (params[0] as string[]).map((address) => (address.endsWith('7') ? null : account(address)))
    const answer = { result: { context: { slot: 1300 }, value: isCut ? value.slice(1) : value } }
    isCut = false
    return answer
  })
  const reader = readerOf(node.url)
  const addresses = Array.from({ length: 230 }, (_, place) => `account${place}`)
  const accounts = await reader.accounts(addresses, signal)
  expect(accounts).toEqual(
    addresses.map((address) =>
      address.endsWith('7')
        ? null
        : {
            owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
            lamports: 1_461_600n,
            data: new Uint8Array(Buffer.from(address)),
          },
    ),
  )
  expect(node.countOf('getMultipleAccounts')).toBe(4)
  expect(await reader.accounts([], signal)).toEqual([])
})
