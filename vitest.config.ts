import { defineConfig } from 'vitest/config'

/** Suites of the push protocol: they hold for both WebSocket servers. */
const PUSH_PROTOCOL = [
  'test/serve/push*.test.ts',
  'test/serve/push/*.test.ts',
  'test/contract/push*.test.ts',
  'test/integration/fuzz-frames.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: ['test/rig/scratch.ts', 'test/rig/kafka/fetch-ahead.ts', 'test/rig/evm/fetch-ahead.ts'],
    maxWorkers: 2,
    projects: [
      // Each file in a process of its own: the embedded engine allows one data path a process.
      { test: { name: 'system', include: ['test/**/*.test.ts'], ...limits() } },
      { test: { name: 'push-ws', include: PUSH_PROTOCOL, env: { DEXTAPE_PUSH_SERVER: 'ws' }, ...limits() } },
    ],
  },
})

function limits() {
  return { pool: 'forks', maxWorkers: 2, testTimeout: 120_000, hookTimeout: 120_000 } as const
}
