/**
 * A port for a server that goes away and comes back. Below the range the system takes for outgoing connections: a client that
 * keeps trying a dead server's port in that range may be given the very port, and then talks to itself.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const [LOWEST, HIGHEST] = [20_000, 31_000]
const TRIES = 50

/** The first of `count` neighbouring ports nobody listens on. */
export async function steadyPort(count = 1): Promise<number> {
  for (let tries = TRIES; tries > 0; tries--) {
    const first = randomInt(LOWEST, HIGHEST)
    const free = await Promise.all(Array.from({ length: count }, (_, at) => isFree(first + at)))
    if (free.every(Boolean)) return first
  }
  throw new Error(`No ${count} free ports side by side from ${LOWEST} to ${HIGHEST} in ${TRIES} tries`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
