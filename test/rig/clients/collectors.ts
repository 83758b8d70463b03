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
import { COMPILED, pythonTools, run } from '../python/venv.js'

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
  /** Lets the subscriptions that hold read the rest. */
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
export const BOTH = ['typescript', 'python'] as const

/** One client of each kind. The one without async follows only the first subscription: the others run the same code. */
export async function collectAll(
  plan: CollectPlan,
  kinds: readonly CollectorKind[] = BOTH,
): Promise<Map<CollectorKind, Collector>> {
  const first = { ...plan, subscriptions: Object.fromEntries(Object.entries(plan.subscriptions).slice(0, 1)) }
  const opened = kinds.map(async (kind): Promise<[CollectorKind, Collector]> => {
    return [kind, await COLLECTORS[kind](kind === 'python sync' ? first : plan)]
  })
  return new Map(await Promise.all(opened))
}

/** Ids of the swaps a consumer has, if it does what the items say. */
export function swapIdsOf(items: readonly Item[]): string[] {
  let ids: string[] = []
  const remove = (gone: unknown) => {
    ids = ids.filter((id) => !(gone as string[]).includes(id))
  }
  for (const item of items) {
    if (item.topic === 'tx') ids.push((item.tx as { id: string }).id)
    else if (item.topic === 'retract') remove(item.ids)
    else if (item.topic === 'refill') {
      remove(item.retracted)
      ids.push(...(item.items as { id: string }[]).map(({ id }) => id))
    } else throw new Error(`unexpected: ${JSON.stringify(item)}`)
  }
  return ids
}

function openBook() {
  const byName = new Map<string, Collected>()
  return (name: string): Collected => {
    const known = byName.get(name) ?? { items: [] }
    byName.set(name, known)
    return known
  }
}

async function collectHere({ url, key, subscriptions }: CollectPlan): Promise<Collector> {
  const of = openBook()
  const client = createClient({ url, key, minBackoffMs: 50, maxBackoffMs: 200 })
  let go = () => {}
  const gone = new Promise<void>((resolve) => {
    go = resolve
  })

  async function collect(name: string, { params, options = {}, hold = false }: PlannedSubscription): Promise<void> {
    const collected = of(name)
    const subscription = client.subscribe(params, options)
    try {
      collected.started = await subscription.started
      for await (const item of subscription) {
        collected.items.push(item as unknown as Item)
        collected.cursor = subscription.cursor
        if (!hold || collected.paused !== undefined) continue
        while (!subscription.isPaused) await new Promise((resolve) => setTimeout(resolve, 10))
        collected.paused = subscription.queued
        await gone
      }
      collected.ended = true
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
      collected.failure = { code: error.code, action: error.action, status: error.status ?? null }
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
    const of = openBook()
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
      const collected = of(name)
      if (item !== undefined) collected.items.push(item)
      Object.assign(collected, more)
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
  PYTHONPYCACHEPREFIX: COMPILED,
})

function inPython({ params, options = {}, hold = false }: PlannedSubscription) {
  const { maxQueued, ...others } = options
  return { params, hold, options: { ...others, ...(maxQueued === undefined ? {} : { max_queued: maxQueued }) } }
}

function mapValues<A, B>(given: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value)]))
}
