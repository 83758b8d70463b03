/**
 * Reads sources that replace globals, and replaces none.
 * @shared-process Only texts here do it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { filesOfOwnProcess } from '../rig/suite/own-process.js'

const root = mkdtempSync(join(tmpdir(), 'dextape-own-process-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const SOURCES: Record<string, string> = {
  'services/add.ts': 'export const add = (a: number, b: number) => a + b',
  'services/listens.ts': "process.on('SIGTERM', () => {})",
  'services/spawns.ts': "import { spawn } from 'node:child_process'\nexport const start = () => spawn('true')",
  'test/rig/stubs.ts': "export const stub = () => vi.stubEnv('HOME', '/tmp')",
  'test/rig/browser.ts': "import { chromium } from 'playwright-core'",
  'test/adds.test.ts': "import { add } from '../services/add.js'",
  'test/types.test.ts': "import type { Page } from './rig/browser.js'",
  'test/browses.test.ts': "import { page } from './rig/browser.js'",
  'test/service-listens.test.ts': "import '../services/listens.js'",
  'test/spawns.test.ts': "import {\n  spawn,\n} from 'node:child_process'",
  'test/deep/stubs.test.ts': "import { stub } from '../rig/stubs.js'",
  'test/later.test.ts': "const engine = await import('chdb/connection')",
  'test/marked.test.ts': '/**\n * About it.\n * @own-process It needs one.\n */',
  'test/mocks.test.ts': "vi.mock('./x.js')",
  'test/spies.test.ts': "vi.spyOn(process.stderr, 'write')",
  'test/spies-its-own.test.ts': "vi.spyOn(rows, 'get')",
  'test/preloads.test.ts':
    '/**\n * About it.\n * @shared-process Only a text does it.\n */\nconst text = `process.on(1)`',
  'test/sets.test.ts': "process.env.HOME = '/tmp'",
  'test/reads.test.ts': "if (process.env.CI === 'true') console.log(process.env.HOME)",
}

it('a file runs in a separate process if it, or a test file it imports, replaces a global or starts a browser', () => {
  for (const [path, text] of Object.entries(SOURCES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `${text}\n`)
  }
  expect(filesOfOwnProcess(root).sort()).toEqual([
    ...[
      'test/browses.test.ts',
      'test/deep/stubs.test.ts',
      'test/marked.test.ts',
      'test/mocks.test.ts',
      'test/sets.test.ts',
      'test/spies.test.ts',
    ],
  ])
})
