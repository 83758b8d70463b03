import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { openStateStore, packText, unpack } from '../../services/aggregate/checkpoint/state-store.js'
import { createRandom } from '../rig/market/random.js'

const folder = mkdtempSync(join(tmpdir(), 'dextape-state-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const KEYS = 400
const KILLS = 6

/** Commits set after set, each with its number in every value, and prints the number of each that is committed. */
const WRITER = `
const [module, path] = process.argv.slice(1)
const { openStateStore, pack } = await import(module)
const store = await openStateStore(path)
for (let set = 1; ; set += 1) {
  const value = (key) => pack({ set }, new Float64Array(key % 4 === 0 ? 2000 : 4).fill(set))
  await store.commit(Array.from({ length: ${KEYS} }, (_, key) => ({ key: 'k/' + key, value: value(key) })))
  console.log(set)
}`

it('has all of a set or nothing after a kill at any moment, and what was committed', async () => {
  const path = join(folder, 'killed')
  const module = pathToFileURL(join(repositoryRoot(), 'dist/services/aggregate/checkpoint/state-store.js')).href
  const random = createRandom(5)
  for (let kill = 0; kill < KILLS; kill += 1) {
    rmSync(path, { recursive: true, force: true })
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, module, path])
    let printed = ''
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await once(writer.stdout, 'data')
    await sleep(random.int(0, 150))
    writer.kill('SIGKILL')
    await once(writer, 'close')
    const store = await openStateStore(path)
    const sets = [...store.entries('k/')].map(({ value }) => unpack<{ set: number }>(value).fields.set)
    await store.close()
    expect(sets).toHaveLength(KEYS)
    expect(new Set(sets).size).toBe(1)
    expect(sets[0]).toBeGreaterThanOrEqual(Number(printed.trim().split('\n').at(-1)))
  }
})

it('has nothing of a set that fails', async () => {
  const store = await openStateStore(join(folder, 'failed'))
  const value = (text: string) => Uint8Array.from(packText(text))
  await store.commit([{ key: 'k/1', value: value('before') }])
  const keyOfTooManyBytes = 'k'.repeat(5000)
  const changes = [
    { key: 'k/1', value: value('after') },
    { key: 'k/2', value: value('after') },
    { key: keyOfTooManyBytes, value: value('after') },
  ]
  await expect(store.commit(changes)).rejects.toMatchObject({ code: 'state_write_failed', retry: true })
  expect([...store.entries('k')].map(({ key, value: kept }) => [key, unpack(kept).fields])).toEqual([['k/1', 'before']])
  await store.commit(changes.slice(0, 2))
  expect([...store.entries('k')]).toHaveLength(2)
  await store.close()
})

it('writes a large set in short turns, and can be read meanwhile', async () => {
  const store = await openStateStore(join(folder, 'large'))
  const changes = Array.from({ length: 100_001 }, (_, key) => ({
    key: `k/${key}`,
    value: Uint8Array.from(packText('1')),
  }))
  await store.commit(changes.slice(0, 1))
  const written = store.commit(changes)
  let isWritten = false
  void written.finally(() => {
    isWritten = true
  })
  let turns = 0
  for (; !isWritten; turns += 1) {
    expect(unpack(store.get('k/0') ?? Buffer.alloc(8)).fields).toBe('1')
    await nextTurn()
  }
  expect(turns).toBeGreaterThan(5)
  expect([...store.entries('k/')]).toHaveLength(changes.length)
  await store.close()
})
