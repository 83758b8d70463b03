/** What `up` prints: progress while the history of a simulated market is written, then addresses, key and examples. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../core/config/index.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Output } from '../core/runtime/output.js'
import { pushUrl, restUrl } from '../core/runtime/ports.js'
import { createStatusLine, drawBar, formatSpan } from '../core/runtime/progress.js'
import { createPaint, type OutStream, wantsColour } from '../core/runtime/terminal.js'
import type { ExamplePair } from './choose-source.js'

export type Greeting = {
  config: Pick<Config, 'host' | 'apiKey' | 'tls'>
  ports: { httpPort: number; wsPort: number }
  firstKey: string | undefined
  isSimulated: boolean
  /** Not set in a cluster. */
  dataDir?: string
  /** False: existing data is served, without new blocks. */
  hasSource?: boolean
  example?: ExamplePair | undefined
}

export async function greet(out: Output, greeting: Greeting): Promise<void> {
  const { config, ports, firstKey, isSimulated, dataDir, hasSource = true, example } = greeting
  const rest = restUrl(config, ports.httpPort)
  const push = pushUrl(config, ports.wsPort)
  await out.line(isSimulated ? 'Dextape is up, with a SIMULATED market' : 'Dextape is up')
  await out.line(`  dashboard  ${rest}/${firstKey === undefined ? '' : `#key=${firstKey}`}`)
  await out.line(`  REST       ${rest}`)
  await out.line(`  WebSocket  ${push}`)
  await out.line(`  reference  ${rest}/reference`)
  await out.line(`  key        ${keyLine(config, firstKey)}`)
  if (dataDir !== undefined) await out.line(`  data       ${dataDir}`)
  await out.line(`  status     curl ${rest}/status`)
  if (example !== undefined) {
    const key = firstKey ?? (config.apiKey.kind === 'fixed' ? '"$DEXTAPE_API_KEY"' : 'YOUR_KEY')
    await out.line('Try:')
    await out.line(`  curl -H X-API-KEY:${key} ${rest}/v2/pairs/${example.pair}-${example.chain}`)
    await out.line(`  npx dextape listen --url ${push} --key ${key} tx ${example.pair} ${example.chain}`)
  }
  if (!hasSource) {
    await out.line(
      'No source: serving existing data only. Read a chain with `dextape up --chain C --rpc URL`, or play a recording with `--events FILE`.',
    )
  }
}

function keyLine({ apiKey }: Greeting['config'], firstKey: string | undefined): string {
  if (firstKey !== undefined)
    return `${firstKey}  (shown once; create more with \`npx dextape keys create --name NAME\`)`
  if (apiKey.kind === 'fixed') return 'value of DEXTAPE_API_KEY'
  return 'created earlier; create another with `npx dextape keys create --name NAME`'
}

type Lag = [chain: string, lagS: number]
type Served = { status(): Promise<{ chains: readonly { chain: string; lag_s: number; head: number }[] }> }

/** A chain that lags less than this is live. */
const LIVE_LAG_S = 10
const POLL_INTERVAL_MS = 100
const PROGRESS_INTERVAL_MS = 2000
/** After a long stop catching up takes longer: serving begins anyway, and /status reports the lag. */
const PATIENCE_MS = 60_000

/** `stream`: standard error. */
export function createHistoryWatch(stream: OutStream, logger: Logger) {
  let written = 0
  const paint = createPaint(wantsColour(process.env, stream))
  return {
    /** `done`: share of the history written, 0 to 1. */
    onHistory(done: number): void {
      written = done
    },
    /** Resolves once every chain is live, or after a minute. */
    async untilLive(serve: Served, signal: AbortSignal): Promise<void> {
      const started = Date.now()
      const line = stream.isTTY === true ? createStatusLine(stream) : undefined
      let reportedMs = started
      while (!signal.aborted && Date.now() - started < PATIENCE_MS) {
        const { chains } = await serve.status()
        if (chains.length > 0 && chains.every(({ head, lag_s }) => head > 0 && lag_s <= LIVE_LAG_S)) break
        const lags = chains.flatMap(({ chain, head, lag_s }): Lag[] => (head > 0 ? [[chain, lag_s]] : []))
        const percent = Math.floor(written * 100)
        line?.show(`${drawBar(percent, paint)}  ${progressText(percent, lags)}`)
        if (line === undefined && Date.now() - reportedMs >= PROGRESS_INTERVAL_MS) {
          reportedMs = Date.now()
          logger.info('starting the simulated market', { percent, lag_s: Object.fromEntries(lags) })
        }
        await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {})
      }
      line?.end()
    },
  }
}

function progressText(percent: number, lags: readonly Lag[]): string {
  const history = percent < 100 ? 'writing the history of the simulated market' : 'catching up'
  const behind = lags.map(([chain, lagS]) => `${chain} ${formatSpan(lagS)}`).join(', ')
  return behind === '' ? history : `${history}; lag: ${behind}`
}
