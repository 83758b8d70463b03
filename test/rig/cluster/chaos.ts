/** Rounds of failures: which parts, how and for how long, all from a seed. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../market/random.js'
import type { KillableServer } from '../servers/killable.js'
import type { Cluster } from './cluster.js'

export type Part = Pick<KillableServer, 'kill' | 'pause' | 'resume' | 'restart'>

/** Everything that may fail, by name. */
export function partsOf({ services, broker, store }: Cluster): Map<string, Part> {
  return new Map<string, Part>([
    ...services.map((one) => [one.name, one] as const),
    ['broker', broker],
    ['store', store],
  ])
}

export type Failure = { part: string; how: 'kill' | 'pause'; awayMs: number }
/** After a quiet while, one failure or two at once. */
export type Round = { quietMs: number; failures: Failure[] }

export function planRounds(random: Random, count: number, parts: readonly string[]): Round[] {
  return Array.from({ length: count }, () => {
    const failing = someOf(random, parts, parts.length > 1 && random.chance(0.2) ? 2 : 1)
    return { quietMs: random.int(300, 2500), failures: failing.map((part) => failureOf(random, part)) }
  })
}

function someOf(random: Random, parts: readonly string[], count: number): string[] {
  const chosen = new Set<string>()
  while (chosen.size < count) chosen.add(random.pick(parts))
  return [...chosen]
}

function failureOf(random: Random, part: string): Failure {
  const how = random.chance(0.6) ? 'kill' : 'pause'
  // Now and then so long that the group gives a frozen member up.
  const awayMs = how === 'pause' && random.chance(0.1) ? random.int(6500, 8000) : random.int(200, 3000)
  return { part, how, awayMs }
}

export const describeRound = ({ failures }: Round): string =>
  failures.map(({ part, how, awayMs }) => `${how} ${part} ${awayMs} ms`).join(' and ')

/** Resolves once what failed has been started again, not once it is well again. */
export async function playRound(parts: ReadonlyMap<string, Part>, { quietMs, failures }: Round): Promise<void> {
  await sleep(quietMs)
  await Promise.all(failures.map((failure) => fail(parts.get(failure.part), failure)))
}

async function fail(part: Part | undefined, { part: name, how, awayMs }: Failure): Promise<void> {
  if (part === undefined) throw new Error(`there is no ${name}`)
  if (how === 'kill') await part.kill()
  else await part.pause()
  await sleep(awayMs)
  if (how === 'kill') await part.restart()
  else await part.resume()
}
