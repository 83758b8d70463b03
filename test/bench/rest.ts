/**
 * REST requests, compared with a bare Fastify route that returns a constant of the same size, in the same run.
 * `rest.js serve kept|fresh` runs the node; without arguments it starts one and sends the requests. Rates depend on what else the
 * machine does; the CPU of a request, as a multiple of that of the bare route, depends on it little.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Load, loadHttp, type Request } from './http-load.js'
import { printTable } from './measure.js'
import { CHARTED_POOLS, REST_KEY, type RestPorts, startRestNode } from './rest-node.js'
import { address, BENCH_CHAIN } from './workload.js'

const CONNECTIONS = 8
const SECONDS = 3
const WARM_UP_SECONDS = 1

/** `required`: requests per second on 2 cores, of which this client takes one. */
type Kind = { name: string; required: number; requests: Request[] }

const charted = Array.from({ length: CHARTED_POOLS }, (_, n) => n + 1)
const pair = (n: number) => `${address('pool', n)}-${BENCH_CHAIN}`
const token = (n: number) => `${address('token', n)}-${BENCH_CHAIN}`
const each = (path: (n: number) => string): Request[] => charted.map((n) => ({ path: path(n) }))

const KINDS: Kind[] = [
  { name: '300 candles', required: 2_500, requests: each((n) => `/v2/klines/pair/${pair(n)}?interval=1&limit=300`) },
  { name: '100 swaps', required: 1_500, requests: each((n) => `/v2/txs/swap/${pair(n)}?limit=100`) },
  { name: 'top 100 holders', required: 300, requests: each((n) => `/v2/tokens/top100/${token(n)}`) },
  { name: 'token', required: 5_000, requests: each((n) => `/v2/tokens/${token(n)}`) },
  { name: 'pair', required: 8_000, requests: each((n) => `/v2/pairs/${pair(n)}`) },
  { name: 'price of 50 tokens', required: 4_000, requests: charted.map(priceOfFifty) },
  { name: 'keyword', required: 2_000, requests: each((n) => `/v2/tokens?keyword=T${n}`) },
]

function priceOfFifty(first: number): Request {
  const token_ids = Array.from({ length: 50 }, (_, n) => token(first + n))
  return { path: '/v2/tokens/price', body: JSON.stringify({ token_ids, tvl_min: 0 }) }
}

/** A load, and the CPU that the node took meanwhile for each of its requests: folding the swaps included. */
type Measured = Load & { cpuUs: number }
type Node = { cpuS(): Promise<number> }

export async function benchRest(): Promise<boolean> {
  const kept = await measure('kept')
  const fresh = await measure('fresh')
  const rows = KINDS.map(({ name, required }, at) => {
    const { served, bare } = kept[at] as Compared
    const { served: made, bare: bareBeside } = fresh[at] as Compared
    const [rate, bareRate, madeRate] = [rateOf(served), rateOf(bare), rateOf(made)]
    const cpu = [bare.cpuUs, served.cpuUs / bare.cpuUs, made.cpuUs / bareBeside.cpuUs]
    return [name, served.bodyBytes, bareRate, required, rate, rate / bareRate, madeRate, ...cpu]
  })
  printTable(`REST requests per second (${CONNECTIONS} connections, ${CHARTED_POOLS} pairs, 100 swaps every second)`, [
    ['', 'bytes', 'bare', 'required', 'served', '× bare', 'none kept', 'CPU µs bare', 'served ×', 'none kept ×'],
    ...rows,
  ])
  return KINDS.every(({ required }, at) => rateOf((kept[at] as Compared).served) >= required)
}

type Compared = { served: Measured; bare: Measured }

const constantOf = ({ bodyBytes }: Load): Request => ({ path: `/constant/${bodyBytes}` })

/** `fresh`: a node that makes every answer anew, from memory. */
async function measure(answers: 'kept' | 'fresh'): Promise<Compared[]> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', answers])
  try {
    const ports = await message<RestPorts>(child)
    const cpuS = async () => {
      child.send('cpu')
      return message<number>(child)
    }
    const node = { cpuS }
    const results: Compared[] = []
    for (const { requests } of KINDS) {
      const served = await loadAfterWarmUp(node, ports.served, requests)
      results.push({ served, bare: await loadAfterWarmUp(node, ports.bare, [constantOf(served)]) })
    }
    return results
  } finally {
    child.send('stop')
    await once(child, 'exit')
  }
}

async function loadAfterWarmUp({ cpuS }: Node, port: number, requests: readonly Request[]): Promise<Measured> {
  await load(port, requests, WARM_UP_SECONDS)
  const before = await cpuS()
  const done = await load(port, requests, SECONDS)
  const usedS = (await cpuS()) - before
  return { ...done, cpuUs: (usedS / done.requests) * 1e6 }
}

const rateOf = ({ requests, seconds }: Load): number => requests / seconds

function load(port: number, requests: readonly Request[], seconds: number): Promise<Load> {
  return loadHttp(port, requests, { connections: CONNECTIONS, seconds, headers: { 'x-api-key': REST_KEY } })
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = (await once(child, 'message')) as [T]
  return value
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'serve') {
    const { stop, ...ports } = await startRestNode(process.argv[3] === 'fresh' ? { answerBytes: 0 } : {})
    process.on('message', (asked) => {
      if (asked === 'stop') return void stop().then(() => process.exit(0))
      const { user, system } = process.cpuUsage()
      process.send?.((user + system) / 1e6)
    })
    process.send?.(ports)
  } else process.exitCode = (await benchRest()) ? 0 : 1
}
