/** A process as the simulation has it: everything it asks of the log, the store or the chain goes through `ask`. */
import { DextapeError } from '../../services/core/domain/errors.js'
import type { Random } from '../rig/market/random.js'
import type { Life, VirtualTime } from './virtual-time.js'

/** Chances per call. All zero: a calm world. */
export type FaultPlan = {
  /** It fails before anything happened. */
  refused: number
  /** It happened, and the caller is told that it failed. */
  unacknowledged: number
  /** Only a part happened, and the caller is told that it failed. */
  partial: number
  /** It happens twice. */
  repeated: number
  /** It takes seconds. */
  slow: number
  /** The process dies here: before, after or in the middle. */
  crash: number
}

export const CALM: FaultPlan = { refused: 0, unacknowledged: 0, partial: 0, repeated: 0, slow: 0, crash: 0 }

export type Request<T> = {
  part: 'log' | 'store' | 'state' | 'source'
  apply: () => T
  /** Does only a part of it, if that can happen. */
  applyPart?: ((random: Random) => void) | undefined
  /** Whether the same may happen again, as an insert that is sent twice. */
  canRepeat?: boolean
}

export type SimulatedProcess = {
  readonly name: string
  readonly life: Life
  ask<T>(request: Request<T>): Promise<T>
  die(): void
}

export type ProcessWorld = {
  time: VirtualTime
  random: Random
  /** Changes during a run: at its end nothing fails any more. */
  faults: () => FaultPlan
  onDeath: (process: SimulatedProcess) => void
  /** Counts what was injected, by kind. */
  note: (kind: string, who: string) => void
}

const SLOW_MS = 4000

export function createProcess(name: string, world: ProcessWorld, isSpared = false): SimulatedProcess {
  const { time, random, note } = world
  const life: Life = { isAlive: true }
  const faults = () => (isSpared ? CALM : world.faults())

  function happens(kind: keyof FaultPlan): boolean {
    const probability = faults()[kind]
    if (probability === 0 || !random.chance(probability)) return false
    note(kind, name)
    return true
  }

  const wait = () => time.delay(happens('slow') ? random.int(200, SLOW_MS) : random.int(0, 8))

  function die(): void {
    if (!life.isAlive) return
    life.isAlive = false
    world.onDeath(process)
  }

  /** Never comes back: nothing of a dead process does. */
  async function crash(): Promise<never> {
    die()
    return new Promise<never>(() => {})
  }

  async function ask<T>({ part, apply, applyPart, canRepeat = false }: Request<T>): Promise<T> {
    await wait()
    if (!life.isAlive) return crash()
    if (happens('refused')) throw failure(part, 'refused')
    if (applyPart !== undefined && happens('partial')) {
      applyPart(random)
      if (random.chance(0.5)) return crash()
      throw failure(part, 'broken off')
    }
    if (happens('crash') && random.chance(0.5)) return crash()
    const result = apply()
    if (canRepeat && happens('repeated')) apply()
    if (happens('crash')) return crash()
    await wait()
    if (happens('unacknowledged')) throw failure(part, 'not acknowledged')
    return result
  }

  const process: SimulatedProcess = { name, life, ask, die }
  return process
}

function failure(part: string, why: string): DextapeError {
  return new DextapeError({ code: `${part}_unreachable`, what: `The simulated ${part} failed: ${why}`, retry: true })
}
