import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/rig/suite/longest-first.js'
import { pureTestFiles } from './test/rig/suite/pure-files.js'

const pure = pureTestFiles(import.meta.dirname)

/** Suites of the push protocol: they hold for both WebSocket servers. */
const PUSH_PROTOCOL = [
  'test/serve/push*.test.ts',
  'test/serve/push/*.test.ts',
  'test/contract/push*.test.ts',
  'test/integration/fuzz-frames.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: [
      ...['test/rig/scratch.ts', 'test/rig/kafka/fetch-ahead.ts', 'test/rig/evm/fetch-ahead.ts'],
      'test/rig/servers/shared.ts',
    ],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    projects: [
      {
        // Each file in a process of its own: the embedded engine allows one data path a process.
        test: { name: 'system', include: ['test/**/*.test.ts'], exclude: pure, ...limits() },
      },
      { test: { name: 'pure', include: pure, isolate: false, ...limits() } },
      { test: { name: 'push-ws', include: PUSH_PROTOCOL, env: { DEXTAPE_PUSH_SERVER: 'ws' }, ...limits() } },
    ],
  },
})

function limits() {
  return { pool: 'forks', maxWorkers: 2, testTimeout: 600_000, hookTimeout: 600_000 } as const
}
