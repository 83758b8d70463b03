/** Reads the configuration: defaults, under the file, under the environment. All problems are told at once. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { parse as parseYaml } from 'yaml'
import { ConfigError } from '../domain/errors.js'
import { mergeChains } from './chain-facts.js'
import { chainSources, layChains } from './chain-sources.js'
import type { Config, LogChoice, StoreChoice } from './config.js'
import { type Environment, settingsFromEnvironment } from './environment.js'
import { type ChainSection, ConfigFile } from './file-schema.js'
import { schemaProblems } from './schema-problems.js'
import { withLogos } from './token-lists.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Three processes of one machine find each a port of their own. */
export const HTTP_PORTS = { serve: 8080, ingest: 8082, aggregate: 8083 } as const

export type LoadOptions = {
  env: Environment
  cwd: string
  /** The file named on the command line; wins over DEXTAPE_CONFIG. */
  file?: string | undefined
  /** Whose process it is, for the port it takes where none is given. */
  service?: keyof typeof HTTP_PORTS
  /** What the command line says of chains, laid over the file and the environment key by key. */
  chains?: Readonly<Record<string, ChainSection>>
}

export function loadConfig({ env, cwd, file, service = 'serve', chains = {} }: LoadOptions): Config {
  const named = file ?? (env.DEXTAPE_CONFIG?.trim() || undefined)
  const path = named === undefined ? undefined : resolve(cwd, named)
  const problems: string[] = []
  const fromFile = path === undefined ? {} : readConfigFile(path, problems)
  const fromEnvironment = settingsFromEnvironment(env, problems)
  const settings: ConfigFile = { ...fromFile, ...fromEnvironment }
  settings.kafka = mergeKafka(fromFile.kafka, fromEnvironment.kafka)
  settings.chains = layChains(fromFile.chains ?? {}, [fromEnvironment.chains ?? {}, chains], problems)
  const config = build(settings, path, cwd, service, problems)
  if (problems.length > 0) {
    throw new ConfigError({
      code: 'config_invalid',
      what: `The configuration is not valid: ${problems.join('; ')}`,
      ...(path === undefined ? {} : { where: { file: path } }),
    })
  }
  return config
}

function readConfigFile(path: string, problems: string[]): ConfigFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConfigError({
      code: 'config_unreadable',
      what: `The configuration file cannot be read: ${(cause as Error).message}`,
      fix: 'Name an existing file with --config or DEXTAPE_CONFIG.',
      cause,
    })
  }
  let value: unknown
  try {
    value = parseYaml(text) ?? {}
  } catch (cause) {
    // Only the first line: what follows quotes the file, secrets and all.
    const reason = (cause as Error).message.split('\n')[0]?.replace(/:$/, '') ?? ''
    const what = `The configuration file is neither YAML nor JSON: ${reason}`
    throw new ConfigError({ code: 'config_unparsable', what, where: { file: path } })
  }
  const found = schemaProblems(ConfigFile, value)
  problems.push(...found)
  // With problems told, the rest is checked on an empty file so that one message holds everything.
  return found.length === 0 && Value.Check(ConfigFile, value) ? value : {}
}

function mergeKafka(file: ConfigFile['kafka'], env: ConfigFile['kafka']): Exclude<ConfigFile['kafka'], undefined> {
  const brokers = env?.brokers.length ? env.brokers : (file?.brokers ?? [])
  const url = env?.schema_registry_url ?? file?.schema_registry_url
  return { ...file, brokers, ...(url === undefined ? {} : { schema_registry_url: url }) }
}

function build(
  settings: ConfigFile,
  path: string | undefined,
  cwd: string,
  service: keyof typeof HTTP_PORTS,
  problems: string[],
): Config {
  const httpPort = settings.http_port ?? HTTP_PORTS[service]
  const wsPort = settings.ws_port ?? 8081
  if (service === 'serve' && httpPort === wsPort && httpPort !== 0)
    problems.push(`the REST port and the WebSocket port are both ${httpPort}; give them different numbers`)
  const chains = mergeChains(settings.chains ?? {}, problems)
  return {
    file: path === undefined ? { kind: 'none' } : { kind: 'file', path },
    dataDir: resolve(cwd, settings.data_dir ?? '.dextape'),
    simulatedDataDir: resolve(cwd, settings.data_dir ?? '.dextape-simulated'),
    host: settings.host ?? '127.0.0.1',
    httpPort,
    wsPort,
    pushServer: settings.push_server ?? 'auto',
    apiKey: settings.api_key === undefined ? { kind: 'none' } : { kind: 'fixed', key: settings.api_key },
    wsTokenSecret: wsTokenSecret(settings, problems),
    envelope: settings.envelope ?? 'spec',
    publicUrls: publicUrls(settings, problems),
    logFormat: settings.log_format ?? 'auto',
    log: logChoice(settings, problems),
    store: storeChoice(settings, problems),
    fold: {
      maxTimeBackS: settings.fold?.max_time_back_s ?? 3600,
      journalBlocks: settings.fold?.journal_blocks ?? 1024,
    },
    retention: {
      updatesMs: (settings.retention?.updates_h ?? 24) * HOUR_MS,
      s1CandlesMs: (settings.retention?.s1_candles_d ?? 30) * DAY_MS,
      deadMs: (settings.retention?.dead_d ?? 90) * DAY_MS,
    },
    intervals: {
      flushMs: settings.intervals?.flush_ms ?? 1000,
      checkpointMs: settings.intervals?.checkpoint_ms ?? 5000,
      progressMs: (settings.intervals?.progress_s ?? 10) * 1000,
    },
    topics: { trades: settings.topics?.trades ?? false },
    simulator: {
      seed: settings.simulator?.seed ?? 1,
      swapsPerS: settings.simulator?.swaps_per_s ?? 20,
      historyS: (settings.simulator?.history_h ?? 72) * 3600,
    },
    chains: withLogos(chains, settings.token_lists ?? [], cwd, problems),
    ...chainSources(chains, settings.chains ?? {}, problems),
  }
}

const SHORTEST_SECRET = 32

function wsTokenSecret({ ws_token_secret: secret }: ConfigFile, problems: string[]): Config['wsTokenSecret'] {
  if (secret === undefined) return { kind: 'none' }
  if (secret.length < SHORTEST_SECRET)
    problems.push(`ws_token_secret (DEXTAPE_WS_TOKEN_SECRET) must have at least ${SHORTEST_SECRET} characters`)
  return { kind: 'fixed', secret }
}

function publicUrls({ public_urls: urls = [] }: ConfigFile, problems: string[]): string[] {
  for (const url of urls) checkHttpUrl('each of public_urls', url, problems)
  return urls.map((url) => url.replace(/\/+$/, ''))
}

function logChoice({ kafka }: ConfigFile, problems: string[]): LogChoice {
  const brokers = kafka?.brokers ?? []
  const url = kafka?.schema_registry_url
  if (url !== undefined) checkHttpUrl('SCHEMA_REGISTRY_URL', url, problems)
  if (brokers.length === 0) {
    if (url !== undefined) problems.push('a schema registry is set without Kafka brokers; set KAFKA_BROKERS too')
    return { kind: 'embedded' }
  }
  for (const broker of brokers) {
    if (!/^(\[[0-9a-fA-F:]+\]|[^\s:/,@]+):\d{1,5}$/.test(broker))
      problems.push(`KAFKA_BROKERS must be host:port, comma separated; got "${broker}"`)
  }
  return {
    kind: 'kafka',
    brokers,
    registry: url === undefined ? { kind: 'in_log' } : { kind: 'http', url },
    prefix: kafka?.topic_prefix ?? '',
    ssl: kafka?.ssl ?? false,
    ...(kafka?.sasl === undefined ? {} : { sasl: kafka.sasl }),
    ...(kafka?.replication_factor === undefined ? {} : { replicationFactor: kafka.replication_factor }),
  }
}

function storeChoice({ clickhouse }: ConfigFile, problems: string[]): StoreChoice {
  if (clickhouse === undefined) return { kind: 'embedded' }
  checkHttpUrl('CLICKHOUSE_URL', clickhouse.url, problems)
  return { kind: 'clickhouse', url: clickhouse.url }
}

/** The value itself is not repeated: it may hold a password. */
function checkHttpUrl(name: string, url: string, problems: string[]): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    problems.push(`${name} must be an http:// or https:// address`)
}
