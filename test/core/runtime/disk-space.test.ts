/** The free space of a data directory: when blocks wait, when they go on, and how long it lasts. */
import { expect, test } from 'vitest'
import { createDiskWatch, type DiskReport } from '../../../services/core/runtime/disk-space.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'

const MB = 2 ** 20

function watchOf(start: number) {
  const now = { ms: 0, free: start }
  const changes: DiskReport['state'][] = []
  const watch = createDiskWatch({
    ...{ reserveBytes: 100 * MB, readFreeBytes: () => now.free, nowMs: () => now.ms, logger: silentLogger },
    onChange: ({ state }) => changes.push(state),
  })
  return { now, changes, watch }
}

test('blocks stop below the reserve and go on only with a quarter more, so that they do not flap', () => {
  const { now, changes, watch } = watchOf(1000 * MB)
  for (const free of [1000, 300, 99, 110, 124, 125, 500]) {
    now.free = free * MB
    watch.look()
  }
  expect(changes).toEqual(['low', 'full', 'low', 'ok'])
})

test('a disk that is full at the start is reported at the first look', () => {
  const { changes, watch } = watchOf(50 * MB)
  watch.look()
  expect(changes).toEqual(['full'])
})

test('warns a day before the reserve is reached at the growth of the last hour', () => {
  const { now, changes, watch } = watchOf(1100 * MB)
  for (let minute = 0; minute <= 60; minute += 1) {
    now.ms = minute * 60_000
    now.free = 1100 * MB - minute * MB
    watch.look()
  }
  expect(changes).toEqual(['low'])
  expect(watch.report()).toMatchObject({ state: 'low', growth_bytes_per_h: 60 * MB, full_in_s: (940 / 60) * 3600 })
})
