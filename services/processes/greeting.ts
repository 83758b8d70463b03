/** What a person sees once everything is up: where it is, the key, and what to try. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../core/config/index.js'
import type { Output } from '../core/runtime/output.js'
import { hostInUrl } from '../core/runtime/ports.js'
import type { ExamplePair } from './choose-source.js'

export type Greeting = {
  config: Pick<Config, 'host' | 'apiKey'>
  ports: { httpPort: number; wsPort: number }
  firstKey: string | undefined
  isSimulated: boolean
  /** Where the data stands, where it stands in one place. */
  dataDir?: string
  /** No source was given: what is there is served. */
  hasSource?: boolean
  example?: ExamplePair | undefined
}

export async function greet(out: Output, greeting: Greeting): Promise<void> {
  const { config, ports, firstKey, isSimulated, dataDir, hasSource = true, example } = greeting
  const host = hostInUrl(config.host)
  const rest = `http://${host}:${ports.httpPort}`
  const push = `ws://${host}:${ports.wsPort}`
  await out.line(isSimulated ? 'Dextape is up, on a SIMULATED market' : 'Dextape is up')
  await out.line(`  page       ${rest}/${firstKey === undefined ? '' : `#key=${firstKey}`}`)
  await out.line(`  REST       ${rest}`)
  await out.line(`  WebSocket  ${push}`)
  await out.line(`  reference  ${rest}/reference`)
  await out.line(`  key        ${keyLine(config, firstKey)}`)
  if (dataDir !== undefined) await out.line(`  data       ${dataDir}`)
  await out.line(`  status     curl ${rest}/status`)
  if (example !== undefined) {
    const key = firstKey ?? (config.apiKey.kind === 'fixed' ? '"$DEXTAPE_API_KEY"' : 'YOUR_KEY')
    await out.line('Try')
    await out.line(`  curl -H X-API-KEY:${key} ${rest}/v2/pairs/${example.pair}-${example.chain}`)
    await out.line(`  npx dextape listen --url ${push} --key ${key} tx ${example.pair} ${example.chain}`)
  }
  if (!hasSource) {
    await out.line(
      '  No source is given: nothing new will come. Read a chain with `dextape up --chain C --rpc URL`, or play a recording with `--events FILE`.',
    )
  }
}

function keyLine({ apiKey }: Greeting['config'], firstKey: string | undefined): string {
  if (firstKey !== undefined) return `${firstKey}  (shown this once; more with \`npx dextape keys create --name NAME\`)`
  if (apiKey.kind === 'fixed') return 'the one in DEXTAPE_API_KEY'
  return 'yours; another with `npx dextape keys create --name NAME`'
}

type Served = { status(): Promise<{ chains: readonly { chain: string; lag_s: number; head: number }[] }> }

/** A chain this close to the clock is live. */
const LIVE_LAG_S = 10
const LOOK_EVERY_MS = 100
const TELL_EVERY_MS = 2000
/** After a long stop there is much to catch up: serving begins anyway, and /status tells the lag. */
const PATIENCE_MS = 60_000

export function createHistoryWatch(out: Output) {
  let written = 0
  return {
    /** 0 to 1: how much of the history the source has given. */
    onHistory(done: number): void {
      written = done
    },
    /** Until every chain is served up to the clock. */
    async untilLive(serve: Served, signal: AbortSignal): Promise<void> {
      const started = Date.now()
      let toldMs = started
      while (!signal.aborted && Date.now() - started < PATIENCE_MS) {
        const { chains } = await serve.status()
        if (chains.length > 0 && chains.every(({ head, lag_s }) => head > 0 && lag_s <= LIVE_LAG_S)) return
        if (Date.now() - toldMs >= TELL_EVERY_MS) {
          toldMs = Date.now()
          await out.line(progressLine(written, chains))
        }
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}

function progressLine(written: number, chains: readonly { chain: string; lag_s: number; head: number }[]): string {
  const behind = chains
    .filter(({ head }) => head > 0)
    .map(({ chain, lag_s }) => `${chain} ${span(lag_s)}`)
    .join(', ')
  const history =
    written < 1 ? `the simulated market's history is ${Math.floor(written * 100)} % written` : 'catching up'
  return behind === '' ? history : `${history}; behind the clock: ${behind}`
}

function span(seconds: number): string {
  if (seconds >= 7200) return `${Math.round(seconds / 3600)} h`
  return seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${seconds} s`
}
