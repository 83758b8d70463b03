import { defineConfig } from 'vitest/config'
import { isLongRun } from './test/rig/counts.js'
import { asBuilt, BUILT } from './test/rig/suite/as-built.js'
import { LongestFirst } from './test/rig/suite/longest-first.js'
import { filesOfOwnProcess } from './test/rig/suite/own-process.js'

const root = import.meta.dirname
const alone = filesOfOwnProcess(root)

/** `npm run test:long` has them. */
const longOnly = isLongRun() ? [] : ['test/**/*.long.test.ts']

/** Suites of the push protocol: they hold for both WebSocket servers. */
const PUSH_PROTOCOL = [
  ...['push.test.ts', 'push-rpc.test.ts', 'push-slow.test.ts'].map((file) => `test/serve/${file}`),
  ...['access', 'budgets', 'gaps'].map((name) => `test/serve/push/${name}.test.ts`),
  ...(isLongRun()
    ? [
        ...['test/contract/push*.test.ts', 'test/integration/fuzz-frames.test.ts'],
        ...['test/serve/push/catch-up.test.ts', 'test/serve/push/resume.test.ts'],
      ]
    : []),
]

/**
 * V8 optimises code that a test runs only for a moment. With four times its budget before that, test files took a tenth less
 * CPU. The V8 of Node 22 renamed the flag.
 */
const OPTIMISE_LATER =
  isLongRun() || Number.parseInt(process.versions.node, 10) >= 22 ? [] : ['--interrupt-budget=600000']

export default defineConfig({
  test: {
    globalSetup: [
      ...['test/rig/suite/as-built.ts', 'test/rig/scratch.ts', 'test/rig/left-out.ts', 'test/rig/servers/shared.ts'],
      ...['test/rig/kafka/fetch-ahead.ts', 'test/rig/evm/fetch-ahead.ts'],
    ],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 3,
    projects: [
      { test: { name: 'alone', include: alone, exclude: longOnly, ...limits() } },
      {
        plugins: [asBuilt(root)],
        test: {
          ...{ name: 'shared', include: ['test/**/*.test.ts'], exclude: [...alone, ...longOnly] },
          ...{ isolate: false, server: { deps: { external: [BUILT] } }, ...limits() },
        },
      },
      {
        plugins: [asBuilt(root)],
        test: {
          ...{ name: 'push-ws', include: PUSH_PROTOCOL, env: { DEXTAPE_PUSH_SERVER: 'ws' } },
          ...{ isolate: false, server: { deps: { external: [BUILT] } }, ...limits() },
        },
      },
    ],
  },
})

/** Long ones: a busy machine must not decide a test. */
function limits() {
  const timeouts = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 20_000 } } }
  return { execArgv: OPTIMISE_LATER, pool: 'forks', maxWorkers: 3, ...timeouts } as const
}
