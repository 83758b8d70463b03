import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { describe, expect, it } from 'vitest'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { BucketWriter } from '../../services/aggregate/checkpoint/bucket-image.js'
import { CheckpointWriter } from '../../services/aggregate/checkpoint/checkpoint-writer.js'
import { loadActivePair } from '../../services/aggregate/checkpoint/restore-state.js'
import { restoreSmall, type SmallImage } from '../../services/aggregate/checkpoint/small-image.js'
import type { StoredRing } from '../../services/aggregate/checkpoint/state-image.js'
import {
  openStateStore,
  pack,
  packText,
  padded,
  type StateStore,
  unpack,
} from '../../services/aggregate/checkpoint/state-store.js'
import { keyOfTable, tableKeyOf } from '../../services/aggregate/checkpoint/table-key.js'
import { loadWindows, type StoredWindows, windowsImage } from '../../services/aggregate/checkpoint/windows-image.js'
import { ActivePair } from '../../services/aggregate/state/pairs.js'
import { Windows } from '../../services/aggregate/state/rolling-windows.js'
import { crc32 } from '../../services/core/runtime/crc32.js'
import { foldThroughCrashes } from '../rig/aggregate/checkpointed-fold.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { seedsOf } from '../rig/counts.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'

describe('a crash leaves no trace', () => {
  it.each(seedsOf('checkpointCrashSeeds'))(
    'seed %i: the same updates, bit for bit, through random crashes and retracts, checkpoints written late',
    async (seed) => {
      const chain = seed % 2 === 0 ? 'eth' : 'solana'
      const facts = marketMoney(chain)
      const options = {
        retracts: { probability: 0.1, maxDepth: 20 },
        secondsPerBlock: [1, 2].includes(seed % 4) ? 12 : 600,
      }
      const lines = generateRecording({ seed, chain, blocks: 300, options })
      const expected = foldLines(startFold(facts), lines)
      const random = createRandom(seed)
      const crashes = new Set(Array.from({ length: 25 }, () => 1 + Math.floor(random.next() * lines.length)))
      const { results, repeated, store } = await foldThroughCrashes(facts, lines, 7, crashes, random)
      expect(exactDifferences(results, expected)).toEqual([])
      expect(repeated.some((versions) => versions.length > 1)).toBe(true)
      for (const versions of repeated)
        for (const version of versions) expect(exactDifferences(version, versions[0])).toEqual([])
      expect(keysOfTimes(store)).toEqual(listedKeys(store))
    },
  )
})

/** Of buckets and wallets. */
const keysOfTimes = (store: StateStore) =>
  ['b/', 'w/'].flatMap((kind) => [...store.entries(kind)]).map(({ key }) => key)

/** The same as pairs and tokens list them: a value that nobody lists would stay for ever. */
function listedKeys(store: StateStore): string[] {
  const [buckets, wallets]: [string[], string[]] = [[], []]
  for (const { key, value } of store.entries('r/p/')) {
    const { busy = [] } = unpack<{ busy?: StoredRing[] }>(value).fields
    for (const { chunks = [] } of busy)
      for (const chunk of chunks) buckets.push(`b/${key.slice(2)}/seconds/${padded(chunk)}`)
  }
  for (const { key, value } of store.entries('v/')) {
    const { chunks, segments } = unpack<StoredWindows>(value).fields
    for (const [ring, times] of Object.entries(chunks))
      for (const chunk of times) buckets.push(`b/${key.slice(2)}/${ring}/${padded(chunk)}`)
    for (const segment of segments) wallets.push(`w/${key.slice(2)}/${padded(segment)}`)
  }
  return [...buckets.sort(), ...wallets.sort()]
}

it('keeps a value under its key, and by time in the table', () => {
  const keys = ['meta', 'b', 'p/000000000007', 'b/t/000000000007/minutes/000000000488', 'w/p/000000000007/000000002928']
  const tableKeys = ['b/minutes/000000000488/t/000000000007', 'w/000000002928/p/000000000007']
  expect(keys.map(tableKeyOf)).toEqual([...keys.slice(0, 3), ...tableKeys])
  expect(keys.map(tableKeyOf).map(keyOfTable)).toEqual(keys)
})

it('copied while blocks are applied, a checkpoint is that of its block, byte for byte', async () => {
  const lines = generateRecording({ seed: 47, chain: 'eth', blocks: 400 })
  const written = await Promise.all(
    [0, 100].map(async (later) => {
      const fold = startFold(marketMoney('eth'))
      foldLines(fold, lines.slice(0, 300))
      const checkpoint = new CheckpointWriter(fold.store, 'test').capture(fold.state, new StoredHistory(fold.store), 5)
      foldLines(fold, lines.slice(300, 300 + later))
      await checkpoint.write()
      return [...fold.store.entries('')].map(({ key, value }) => [key, Buffer.from(value).toString('base64')])
    }),
  )
  expect(written[1]).toEqual(written[0])
})

it('stores a rarely traded pair as one value, a busy one in chunks, and both as they were', async () => {
  const fold = startFold(marketMoney('eth'))
  foldLines(fold, generateRecording({ seed: 43, chain: 'eth', blocks: 300 }))
  const { state, store } = fold
  await new CheckpointWriter(store, 'test').capture(state, new StoredHistory(store), 5).write()
  const forms = new Map<boolean, number>()
  for (const [id, active] of state.pairs.active.entries()) {
    if (active === null) continue
    const restored = loadActivePair(store, id, state)
    const isOneValue = active.windows.segments === null
    forms.set(isOneValue, (forms.get(isOneValue) ?? 0) + 1)
    expect(contentsOf(restored)).toEqual(contentsOf(active))
  }
  expect(forms.get(true)).toBeGreaterThan(0)
  expect(forms.get(false)).toBeGreaterThan(0)
})

it('reads a rarely traded pair in each form that older versions wrote', () => {
  const { state } = startFold(marketMoney('eth'))
  foldLines({ ...startFold(marketMoney('eth')), state }, generateRecording({ seed: 44, chain: 'eth', blocks: 40 }))
  const active = state.pairs.active.find((pair) => pair !== null && pair.windows.wallets.size > 0) as ActivePair
  const [wallets, times]: [string[], number[]] = [[], []]
  active.windows.wallets.each((id, buyS, sellS) => {
    wallets.push(state.names.nameOf(id))
    times.push(buyS, sellS)
  })
  const counts = active.rings.map(({ count }) => count)
  const before = active.rings.map((ring) => [...ring.before])
  const whole = active.rings.flatMap((ring) => [...ring.rows(0, ring.count)])
  const different = new BucketWriter(counts.reduce((sum, count) => sum + count))
  for (const ring of active.rings) different.add(ring, 0, ring.count)
  const forms: [SmallImage, Float64Array][] = [
    [
      { rings: counts.map((count, n) => ({ count, before: before[n] as number[] })), wallets },
      Float64Array.from(whole),
    ],
    [{ counts, before: { ...before }, wallets }, different.finish()],
  ]
  for (const [image, numbers] of forms) {
    const restored = new ActivePair(state)
    restoreSmall(restored, image, Float64Array.of(...numbers, ...times), state.names)
    expect(contentsOf(restored)).toEqual(contentsOf(active))
  }
})

it('keeps all buckets of windows whose last wallet is out of reach', async () => {
  const { state, store } = startFold(marketMoney('eth'))
  const owner = `t/${padded(7)}`
  const written = new Windows(state)
  for (const hour of [0, 1, 2]) {
    for (const ring of [written.minutes, written.hours]) ring.open(hour * 3600)
    await store.commit(windowsImage(owner, written, state, store))
    const restored = new Windows(state)
    expect(loadWindows(owner, restored, state.names, store)).toBe(true)
    restored.minutes.open(hour * 3600 + 60)
    await store.commit(windowsImage(owner, restored, state, store))
    written.minutes.open(hour * 3600 + 60)
    const again = new Windows(state)
    loadWindows(owner, again, state.names, store)
    for (const ring of ['minutes', 'hours'] as const)
      expect(again[ring].rows(0, again[ring].count)).toEqual(written[ring].rows(0, written[ring].count))
  }
})

function contentsOf(pair: ActivePair | undefined) {
  const wallets: [number, number, number][] = []
  pair?.windows.wallets.each((wallet, buyS, sellS) => wallets.push([wallet, buyS, sellS]))
  return {
    rings: pair?.rings.map((ring) => [ring.before, ring.rows(0, ring.count)]),
    wallets: wallets.sort(([a], [b]) => a - b),
  }
}

describe('a state directory of an earlier version', () => {
  const values = new Map(
    ['p/', 'b/p/', 'w/t/'].flatMap((prefix) =>
      Array.from({ length: 300 }, (_, n) => {
        const key = `${prefix}${padded(n)}${prefix === 'p/' ? '' : `/${padded(n % 7)}`}`
        return [key, pack('x'.repeat(n), Float64Array.of(n))]
      }),
    ),
  )
  const openTable: Record<string, (root: RootDatabase<Buffer, string>) => Database<Buffer, string>> = {
    uncompressed: (root) => root,
    'by owner': (root) => root.openDB({ name: 'values', encoding: 'binary', compression: true }),
  }

  async function writeOld(path: string, form: string): Promise<void> {
    const root = open<Buffer, string>({ path, noSubdir: false, overlappingSync: false, encoding: 'binary' })
    const table = openTable[form]?.(root)
    for (const [key, value] of values) await table?.put(key, Buffer.from(value))
    await root.close()
  }

  async function expectRewritten(path: string): Promise<void> {
    for (const rewrites of [1, 0]) {
      let rewritten = 0
      const store = await openStateStore(path, () => {
        rewritten += 1
      })
      expect(rewritten).toBe(rewrites)
      const read = [...store.entries('')].map(({ key, value }) => [key, unpack(value)])
      expect(read.sort()).toEqual([...values].map(([key, value]) => [key, unpack(value)]).sort())
      await store.close()
    }
    expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb'])
  }

  it.each(Object.keys(openTable))('is written anew when it is opened: %s', async (form) => {
    const path = join(mkdtempSync(join(tmpdir(), 'dx-state-')), 'eth')
    await writeOld(path, form)
    await expectRewritten(path)
    // The earlier version was started once more.
    await writeOld(path, form)
    // What a crash amid the rewriting leaves.
    mkdirSync(join(path, 'next'))
    cpSync(join(path, 'data.mdb'), join(path, 'next', 'data.mdb'))
    await expectRewritten(path)
    rmSync(dirname(path), { recursive: true })
  })
})

it('stores journals under the field names that older versions wrote and read', async () => {
  const { state, store, history } = startFold(marketMoney('eth'))
  foldLines({ state, store, history }, generateRecording({ seed: 41, chain: 'eth', blocks: 5 }))
  await new CheckpointWriter(store, 'test').capture(state, new StoredHistory(store), 5).write()
  const fields = [...store.entries('j/')].map(({ value }) => Object.keys(unpack<object>(value).fields))
  const names = ['seq', 'head', 'nowS', 'before', 'texts', 'wallets', 'events', 'mainPairs']
  names.push('touchedPairs', 'toldPairs', 'toldTokens')
  expect(fields).toEqual(state.journals.map(() => names))
  expect(fields.length).toBeGreaterThan(0)
})

it('packs a balance like any other value', () => {
  for (let digits = 1; digits <= 78; digits += 1) {
    const text = `${'9'.repeat(digits)} ${1_700_000_000 + digits}`
    expect(packText(text)).toEqual(pack(text))
  }
})

it('has the same checksum for small and for large values: of the key and of all bytes but its own', async () => {
  const path = mkdtempSync(join(tmpdir(), 'dextape-state-'))
  const store = await openStateStore(path)
  for (const length of [1, 900, 5000]) {
    const value = Buffer.from(pack('x'.repeat(length)))
    const expected = crc32(Buffer.concat([Buffer.from('a'), value]))
    await store.commit([{ key: 'a', value: Buffer.from(value) }])
    expect(Buffer.from(store.get('a') as Uint8Array).readUInt32LE(4)).toBe(expected)
  }
  await store.close()
  rmSync(path, { recursive: true, force: true })
})

it('goes on in another folder, apart from what is written to the first one later', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'dextape-state-'))
  const before = join(directory, 'before')
  const value = () => pack('here')
  const moved = await openStateStore(before)
  await moved.commit([{ key: 'a', value: value() }])
  await moved.moveTo?.(join(directory, 'after'))
  const second = await openStateStore(before)
  await second.commit([{ key: 'b', value: value() }])
  await moved.commit([{ key: 'c', value: value() }])
  const keysOf = (store: typeof moved) => [...store.entries('')].map(({ key }) => key)
  expect([keysOf(moved), keysOf(second)]).toEqual([['a', 'c'], ['b']])
  await moved.close()
  await second.close()
  const again = await openStateStore(join(directory, 'after'))
  expect(keysOf(again)).toEqual(['a', 'c'])
  await again.close()
  rmSync(directory, { recursive: true, force: true })
})
