/** For tests that `npm run test:long` has and `npm test` leaves out. */
import { it } from 'vitest'
import { isLongRun } from '../counts.js'

export const itWhenLong: (name: string, test: () => Promise<void>, timeoutMs?: number) => void = isLongRun()
  ? it
  : () => {}
