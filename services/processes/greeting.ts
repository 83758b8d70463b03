/** What a person sees once everything is up: where it is, the key, and what to try. */
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
