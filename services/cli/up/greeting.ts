/** What a person sees once everything is up: where it is, the key, and what to try. */
import type { Config } from '../../core/config/index.js'
import type { Output } from '../output.js'

export type Greeting = {
  config: Pick<Config, 'host' | 'dataDir' | 'apiKey'>
  ports: { httpPort: number; wsPort: number }
  firstKey: string | undefined
  events: string | undefined
}

export async function greet(out: Output, { config, ports, firstKey, events }: Greeting): Promise<void> {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host
  const rest = `http://${host}:${ports.httpPort}`
  await out.line('Dextape is up')
  await out.line(`  REST       ${rest}`)
  await out.line(`  WebSocket  ws://${host}:${ports.wsPort}`)
  await out.line(`  key        ${keyLine(config, firstKey)}`)
  await out.line(`  data       ${config.dataDir}`)
  await out.line(`  status     curl ${rest}/status`)
  if (events === undefined) {
    await out.line('  No source is given: nothing new will come. Play a recording with `dextape up --events FILE`.')
  }
}

function keyLine({ apiKey }: Greeting['config'], firstKey: string | undefined): string {
  if (firstKey !== undefined) return `${firstKey}  (shown this once; more with \`dextape keys create\`)`
  if (apiKey.kind === 'fixed') return 'the one in DEXTAPE_API_KEY'
  return 'yours; another with `dextape keys create`'
}
