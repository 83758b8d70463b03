import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/rig/scratch.ts',
      'test/rig/left-out.ts',
      'test/rig/kafka/fetch-ahead.ts',
      'test/rig/evm/fetch-ahead.ts',
    ],
    // Each file in a process of its own: the embedded engine allows one data path a process.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
