/** `up` from a copy of the bundles: with V8's code of an earlier start, with a damaged one, and where it cannot be kept. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { NODE_FLAGS, removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { startUp } from '../rig/up/process.js'

const ENTRIES = ['engine-thread', 'fold-thread', 'ingest-thread', 'main', 'rest-thread']
const COPIED = [
  ...['package.json', 'schemas', 'services/cli/dextape.js', 'services/serve/pages/static'],
  ...['dist/bundle', 'dist/dashboard'],
]
const KEPT_WITHIN_MS = 60_000
const NOBODY = 65534

const root = repositoryRoot()
const home = scratchFolder()
const copy = join(home, 'copy')
const bundle = join(copy, 'dist/bundle')
const compiled = join(bundle, 'compiled')

beforeAll(() => {
  for (const path of COPIED)
    cpSync(join(root, path), join(copy, path), {
      recursive: true,
      filter: (from) => from !== join(root, 'dist/bundle/compiled'),
    })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(removeScratchFolders)

let starts = 0

/** Starts, waits for what `during` waits for, asks for the status, and stops. */
async function serve(during = async () => {}) {
  starts += 1
  const dataDir = join(home, `data-${starts}`)
  mkdirSync(dataDir)
  const command = [process.execPath, ...NODE_FLAGS, join(copy, 'services/cli/dextape.js')] as const
  const up = startUp({ dataDir, config: { simulator: { history_h: 0 } }, command: [...command] })
  const { rest } = await up.serving
  await during()
  const { status } = await fetch(`${rest}/status`)
  const { code, err } = await up.stop()
  return { status, code, problems: err.split('\n').filter((line) => line !== '' && !line.includes('"level":"info"')) }
}

const SERVED = { status: 200, code: 0, problems: [] }
const keptFiles = () => (existsSync(compiled) ? readdirSync(compiled).filter((name) => !name.includes('.')) : [])

async function untilKept(): Promise<void> {
  for (const deadline = Date.now() + KEPT_WITHIN_MS; keptFiles().length < ENTRIES.length; await sleep(100))
    if (Date.now() > deadline) throw new Error(`only the code of ${keptFiles().join(', ')} was kept`)
}

test('up keeps the compiled code of every thread and starts from it', async () => {
  expect(await serve(untilKept)).toEqual(SERVED)
  const named = keptFiles().map((name) => name.slice(0, name.indexOf(`-${process.arch}-`)))
  expect(named.sort()).toEqual(ENTRIES)
  expect(await serve()).toEqual(SERVED)
}, 120_000)

test('up starts with damaged files of compiled code', async () => {
  for (const name of keptFiles()) {
    const content = readFileSync(join(compiled, name))
    content.fill(7, content.length >> 1, (content.length >> 1) + 64)
    writeFileSync(join(compiled, name), content)
  }
  expect(await serve()).toEqual(SERVED)
}, 120_000)

itWhenLong(
  'up writes nothing beside bundles of another user, nor beside read-only ones',
  async () => {
    const others = process.getuid?.() === 0
    if (others) for (const path of [bundle, compiled]) chownSync(path, NOBODY, NOBODY)
    else for (const path of [bundle, compiled]) chmodSync(path, 0o555)
    // As texts: comparing megabytes byte by byte takes half a minute.
    const contents = () => keptFiles().map((name) => readFileSync(join(compiled, name), 'base64'))
    const before = contents()
    try {
      expect(await serve(() => sleep(8_000))).toEqual(SERVED)
      expect(contents()).toEqual(before)
    } finally {
      for (const path of [bundle, compiled]) chmodSync(path, 0o755)
    }
  },
  120_000,
)
