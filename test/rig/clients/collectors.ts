/** The clients under test with one face: what each of their subscriptions delivers, in order. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  createClient,
  DextapeError,
  type SubscribeOptions,
  type SubscribeParams,
} from '../../../clients/typescript/src/index.js'
import { repositoryRoot } from '../../../schemas/avro.js'
import { pythonTools, run } from '../python/venv.js'

export type PlannedSubscription = {
  params: SubscribeParams
  options?: Pick<SubscribeOptions, 'since' | 'maxQueued' | 'refill' | 'snapshot'>
  /** Reads one item, then none until it is paused and `go` is called. */
  hold?: boolean
}
export type CollectPlan = { url: string; key: string; subscriptions: Record<string, PlannedSubscription> }

export type Item = Record<string, unknown> & { topic: string }
export type Collected = {
  started?: { cursor: string[]; unknown: string[] }
  items: Item[]
  /** As the client says after its last item. */
  cursor?: string[]
  /** Queued items when it paused. */
  paused?: number
  failure?: { code: string; action: string; status: number | null }
  ended?: true
}
export type Collector = {
  of(name: string): Collected
  /** Lets the subscriptions that hold go on. */
  go(): void
  /** Closes the client and waits for the end of its subscriptions. */
  close(): Promise<void>
}

export const COLLECTORS = {
  typescript: collectHere,
  python: collectInPython('async'),
  'python sync': collectInPython('sync'),
}
export type CollectorKind = keyof typeof COLLECTORS

function book() {
  const collected = new Map<string, Collected>()
  return (name: string): Collected => {
    const known = collected.get(name) ?? { items: [] }
    collected.set(name, known)
    return known
  }
}

async function collectHere({ url, key, subscriptions }: CollectPlan): Promise<Collector> {
  const of = book()
  const client = createClient({ url, key, minBackoffMs: 50, maxBackoffMs: 200 })
  let go = () => {}
  const gone = new Promise<void>((resolve) => {
    go = resolve
  })

  async function collect(name: string, { params, options = {}, hold = false }: PlannedSubscription): Promise<void> {
    const told = of(name)
    const subscription = client.subscribe(params, options)
    try {
      told.started = await subscription.started
      for await (const item of subscription) {
        told.items.push(item as unknown as Item)
        told.cursor = subscription.cursor
        if (!hold || told.paused !== undefined) continue
        while (!subscription.isPaused) await new Promise((resolve) => setTimeout(resolve, 10))
        told.paused = subscription.queued
        await gone
      }
      told.ended = true
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
      told.failure = { code: error.code, action: error.action, status: error.status ?? null }
    }
  }

  const running = Promise.all(Object.entries(subscriptions).map(([name, one]) => collect(name, one)))
  return {
    ...{ of, go },
    async close() {
      client.close()
      await running
    },
  }
}

function collectInPython(kind: 'async' | 'sync') {
  return async ({ url, key, subscriptions }: CollectPlan): Promise<Collector> => {
    const of = book()
    const plan = JSON.stringify({ kind, url, key, subscriptions: mapValues(subscriptions, inPython) })
    const child = spawn(join(await pythonTools('clients'), 'python'), [join(HERE, 'collect.py'), plan], {
      env: pythonEnv(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { name, item, ...more } = JSON.parse(line) as { name: string; item?: Item } & Partial<Collected>
      const told = of(name)
      if (item !== undefined) told.items.push(item)
      Object.assign(told, more)
    })
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', resolve)
    })
    return {
      of,
      go: () => child.stdin.write('go\n'),
      async close() {
        child.stdin.end('close\n')
        const code = await ended
        if (code !== 0 || errors !== '') throw new Error(`python ended with ${code}:\n${errors}`)
      },
    }
  }
}

/** Runs a program of this folder with a plan; returns the JSON it prints. */
export async function runPython(
  program: string,
  plan: unknown,
  env: NodeJS.ProcessEnv = {},
): Promise<Record<string, unknown>> {
  const python = join(await pythonTools('clients'), 'python')
  const { code, out } = await run(python, [join(HERE, program), JSON.stringify(plan)], {
    env: { ...pythonEnv(), ...env },
  })
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${out}`)
  return JSON.parse(out) as Record<string, unknown>
}

const HERE = join(repositoryRoot(), 'test/rig/clients')

/** For programs that import the Python client from its sources. */
export const pythonEnv = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  PYTHONPATH: join(repositoryRoot(), 'clients/python/src'),
  PYTHONDONTWRITEBYTECODE: '1',
})

function inPython({ params, options = {}, hold = false }: PlannedSubscription) {
  const { maxQueued, ...others } = options
  return { params, hold, options: { ...others, ...(maxQueued === undefined ? {} : { max_queued: maxQueued }) } }
}

function mapValues<A, B>(given: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value)]))
}
