import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { pureTestFiles } from '../rig/suite/pure-files.js'

const root = mkdtempSync(join(tmpdir(), 'dextape-pure-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const SOURCES: Record<string, string> = {
  'services/add.ts': 'export const add = (a: number, b: number) => a + b',
  'services/listens.ts': "process.on('SIGTERM', () => {})",
  'services/spawns.ts': "import { spawn } from 'node:child_process'\nexport const start = () => spawn('true')",
  'services/named.ts':
    "export type { Started } from './spawns.js'\nimport type { ChildProcess } from 'node:child_process'",
  'test/rig/starts.ts': "export { start } from '../../services/spawns.js'",
  'test/adds.test.ts': "import { add } from '../services/add.js'",
  'test/types.test.ts': "import type { Named } from '../services/spawns.js'\nimport '../services/named.js'",
  'test/service-listens.test.ts': "import '../services/listens.js'",
  'test/spawns.test.ts': "import {\n  spawn,\n} from 'node:child_process'",
  'test/deep/starts.test.ts': "import { start } from '../rig/starts.js'",
  'test/later.test.ts': "const engine = await import('chdb/connection')",
  'test/mocks.test.ts': "vi.mock('./x.js')",
  'test/sets.test.ts': "process.env.HOME = '/tmp'",
  'test/reads.test.ts': "if (process.env.CI === 'true') console.log(process.env.HOME)",
}

it('a file is pure unless something it imports starts a process, opens an engine, or its tests replace a global', () => {
  for (const [path, text] of Object.entries(SOURCES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `${text}\n`)
  }
  expect(pureTestFiles(root).sort()).toEqual([
    ...['test/adds.test.ts', 'test/reads.test.ts', 'test/service-listens.test.ts', 'test/types.test.ts'],
  ])
})
