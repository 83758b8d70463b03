import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCodeCache } from '../../../services/core/runtime/code-cache.js'

const CODES = new Map([
  ['a.cjs', Buffer.from('code of a')],
  ['b.cjs', Buffer.from('code of b')],
])

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dx-code-'))
  for (const name of [...CODES.keys(), 'c.cjs']) writeFileSync(join(folder, name), '')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opened = (build = 'one') => openCodeCache(folder, 'main', build)
const read = (build?: string) => ['a.cjs', 'b.cjs', 'c.cjs'].map((name) => opened(build).read(name)?.toString())
const caches = () => readdirSync(join(folder, 'compiled'))
const onlyCache = () => join(folder, 'compiled', caches()[0] ?? '')

test('reads what was written, and keeps it beside further code', () => {
  expect(read()).toEqual([undefined, undefined, undefined])
  opened().write(CODES)
  expect(read()).toEqual(['code of a', 'code of b', undefined])
  opened().write(new Map([['c.cjs', Buffer.from('code of c')]]))
  expect(read()).toEqual(['code of a', 'code of b', 'code of c'])
})

test('does not use the code of another build, nor of a file changed since', () => {
  opened().write(CODES)
  expect(read('two')).toEqual([undefined, undefined, undefined])
  utimesSync(join(folder, 'a.cjs'), 1, 1)
  expect(read()).toEqual([undefined, 'code of b', undefined])
})

test('does not use a file that is cut or damaged anywhere', () => {
  opened().write(CODES)
  const whole = readFileSync(onlyCache())
  for (let at = 0; at < whole.length; at += 7) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    writeFileSync(onlyCache(), damaged)
    expect(read()).toEqual([undefined, undefined, undefined])
    writeFileSync(onlyCache(), whole.subarray(0, at))
    expect(read()).toEqual([undefined, undefined, undefined])
  }
})

test('does not fail where it cannot write', () => {
  writeFileSync(join(folder, 'compiled'), 'a file')
  opened().write(CODES)
  expect(read()).toEqual([undefined, undefined, undefined])
})

test('writes nothing into a folder that a build has replaced meanwhile', () => {
  const cache = opened()
  const old = `${folder}.old`
  mkdirSync(`${folder}.new`)
  for (const name of CODES.keys()) writeFileSync(join(`${folder}.new`, name), '')
  renameSync(folder, old)
  renameSync(`${folder}.new`, folder)
  cache.write(CODES)
  expect(readdirSync(folder).sort()).toEqual(['a.cjs', 'b.cjs'])
  rmSync(old, { recursive: true })
})

test('keeps the newest files of an entry and all of others', () => {
  opened().write(CODES)
  openCodeCache(folder, 'fold', 'one').write(CODES)
  const names = ['1', '2', '3', '4', '5'].map((tag) => `main-${process.arch}-${tag}`)
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, 'compiled', name), '')
    utimesSync(join(folder, 'compiled', name), index, index)
  }
  opened().write(CODES)
  expect(caches().filter((name) => names.includes(name))).toEqual(names.slice(-3))
  expect(caches()).toHaveLength(5)
})
