/**
 * A port for a server that must know it before it starts, or goes away and comes back. Below the range the system takes for outgoing connections: a client that
 * keeps trying a dead server's port in that range may be given the very port, and then talks to itself.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const [LOWEST, HIGHEST] = [20_000, 31_000]
const TRIES = 50
/** No port is given twice: a server that is about to start on it does not listen yet. */
const given = new Set<number>()

/** The first of `count` neighbouring ports nobody listens on. */
export async function steadyPort(count = 1): Promise<number> {
  for (let tries = TRIES; tries > 0; tries--) {
    const first = randomInt(LOWEST, HIGHEST)
    const ports = Array.from({ length: count }, (_, at) => first + at)
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    const free = await Promise.all(ports.map(isFree))
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
