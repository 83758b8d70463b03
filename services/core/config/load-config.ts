/** Loads the configuration: defaults, overridden by the file, then by the environment. Reports all problems at once. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../domain/errors.js'
import { mergeChains } from './chain-facts.js'
import { chainSources, mergeChainSections } from './chain-sources.js'
import type { Config, KafkaChoice, LogChoice, StoreChoice } from './config.js'
import { type Environment, settingsFromEnvironment } from './environment.js'
import { type ChainSection, ConfigFile } from './file-schema.js'
import { parseSettings } from './parse-settings.js'
import { readCapacity, readPlans } from './plan-settings.js'
import { schemaProblems } from './schema-problems.js'
import { type ClientTls, clientTls, type Reading, type SaslSection, saslChoice, secretOf, withUser } from './secrets.js'
import { withLogos } from './token-lists.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Defaults that let the three processes run on one machine. */
export const HTTP_PORTS = { serve: 8080, ingest: 8082, aggregate: 8083 } as const

export type LoadOptions = {
  env: Environment
  cwd: string
  /** The file given on the command line; overrides DEXTAPE_CONFIG. */
  file?: string | undefined
  /** The service of this process, for its default port. */
  service?: keyof typeof HTTP_PORTS
  /** Chain settings of the command line; override the file and the environment key by key. */
  chains?: Readonly<Record<string, ChainSection>>
}

export function loadConfig({ env, cwd, file, service = 'serve', chains = {} }: LoadOptions): Config {
  const named = file ?? (env.DEXTAPE_CONFIG?.trim() || undefined)
  const path = named === undefined ? undefined : resolve(cwd, named)
  const problems: string[] = []
  const fromFile = path === undefined ? {} : readConfigFile(path, problems)
  const fromEnvironment = settingsFromEnvironment(env, problems)
  const settings: ConfigFile = { ...fromFile, ...fromEnvironment }
  settings.tracing = { ...fromFile.tracing, ...fromEnvironment.tracing }
  settings.kafka = mergeKafka(fromFile.kafka, fromEnvironment.kafka)
  const clickhouse = mergeClickhouse(fromFile.clickhouse, fromEnvironment.clickhouse)
  if (clickhouse !== undefined) settings.clickhouse = clickhouse
  settings.chains = mergeChainSections(fromFile.chains ?? {}, [fromEnvironment.chains ?? {}, chains], problems)
  const config = build(settings, path, cwd, service, problems)
  if (problems.length > 0) {
    throw new ConfigError({
      code: 'config_invalid',
      what: `Invalid configuration: ${problems.join('; ')}`,
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
      what: `Cannot read the configuration file: ${(cause as Error).message}`,
      fix: 'Set --config or DEXTAPE_CONFIG to an existing file.',
      cause,
    })
  }
  let value: unknown
  try {
    value = parseSettings(text) ?? {}
  } catch (cause) {
    // Only the first line: the rest quotes the file, secrets included.
    const reason = (cause as Error).message.split('\n')[0]?.replace(/:$/, '') ?? ''
    throw new ConfigError({
      code: 'config_unparsable',
      what: `The configuration file is neither YAML nor JSON: ${reason}`,
      where: { file: path },
    })
  }
  const found = schemaProblems(ConfigFile, value)
  problems.push(...found)
  // With problems found, an empty file is used, so that the message also reports problems of the environment.
  return found.length === 0 && Value.Check(ConfigFile, value) ? value : {}
}

function mergeKafka(file: ConfigFile['kafka'], env: ConfigFile['kafka']): Exclude<ConfigFile['kafka'], undefined> {
  const brokers = env?.brokers.length ? env.brokers : (file?.brokers ?? [])
  const sasl = file?.sasl === undefined && env?.sasl === undefined ? undefined : { ...file?.sasl, ...env?.sasl }
  return { ...file, ...env, brokers, ...(sasl === undefined ? {} : { sasl: sasl as SaslSection }) }
}

function mergeClickhouse(file: ConfigFile['clickhouse'], env: ConfigFile['clickhouse']): ConfigFile['clickhouse'] {
  if (file === undefined && env === undefined) return undefined
  return { ...file, ...env, url: env?.url || file?.url || '' }
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
    problems.push(`http_port and ws_port are both ${httpPort}; they must differ`)
  const chains = mergeChains(settings.chains ?? {}, problems)
  return {
    file: path === undefined ? { kind: 'none' } : { kind: 'file', path },
    dataDir: resolve(cwd, settings.data_dir ?? '.dextape'),
    simulatedDataDir: resolve(cwd, settings.data_dir ?? '.dextape-simulated'),
    host: settings.host ?? '127.0.0.1',
    httpPort,
    wsPort,
    wsPortShared: settings.ws_port_shared ?? false,
    pushServer: settings.push_server ?? 'auto',
    pushCompression: settings.push_compression ?? false,
    tls: tlsFiles(settings, cwd, problems),
    apiKey: apiKey(settings, problems),
    wsTokenSecret: wsTokenSecret(settings, problems),
    envelope: settings.envelope ?? 'spec',
    publicUrls: publicUrls(settings, problems),
    publicWsUrl: publicWsUrl(settings, problems),
    corsOrigins: corsOrigins(settings, problems),
    watchdogMs: (settings.watchdog_s ?? 60) * 1000,
    logFormat: settings.log_format ?? 'auto',
    tracing: tracingChoice(settings, problems),
    log: logChoice(settings, { cwd, problems }),
    store: storeChoice(settings, { cwd, problems }),
    fold: {
      maxTimeBackS: settings.fold?.max_time_back_s ?? 3600,
      journalBlocks: settings.fold?.journal_blocks ?? 1024,
    },
    retention: {
      updatesMs: (settings.retention?.updates_h ?? 24) * HOUR_MS,
      s1CandlesMs: (settings.retention?.s1_candles_d ?? 30) * DAY_MS,
      deadMs: (settings.retention?.dead_d ?? 90) * DAY_MS,
    },
    intervals: intervals(settings),
    disk: { reserveBytes: (settings.disk?.reserve_mb ?? DISK_RESERVE_MB) * 2 ** 20 },
    topics: { trades: settings.topics?.trades ?? false },
    simulator: {
      seed: settings.simulator?.seed ?? 1,
      swapsPerS: settings.simulator?.swaps_per_s ?? 20,
      historyS: (settings.simulator?.history_h ?? 72) * 3600,
    },
    plans: readPlans(settings.plans),
    capacity: readCapacity(settings.capacity),
    chains: withLogos(chains, settings.token_lists ?? [], cwd, problems),
    ...chainSources(chains, settings.chains ?? {}, problems),
  }
}

/** With 16 random hexadecimal digits guessing is hopeless at any rate a server answers. */
const SHORTEST_API_KEY = 16
const isLoopback = (host: string): boolean => /^(127\.|::1$|localhost$)/.test(host)

/** Whoever can reach the server may guess: a short key is only for this machine. */
function apiKey({ api_key: key, host = '127.0.0.1' }: ConfigFile, problems: string[]): Config['apiKey'] {
  if (key === undefined) return { kind: 'none' }
  if (key.length < SHORTEST_API_KEY && !isLoopback(host))
    problems.push(
      `api_key (DEXTAPE_API_KEY) must have at least ${SHORTEST_API_KEY} characters where other machines can reach the server (host ${host}); create one with \`openssl rand -hex 16\``,
    )
  return { kind: 'fixed', key }
}

const SHORTEST_SECRET = 32

function wsTokenSecret({ ws_token_secret: secret }: ConfigFile, problems: string[]): Config['wsTokenSecret'] {
  if (secret === undefined) return { kind: 'none' }
  if (secret.length < SHORTEST_SECRET)
    problems.push(`ws_token_secret (DEXTAPE_WS_TOKEN_SECRET) must have at least ${SHORTEST_SECRET} characters`)
  return { kind: 'fixed', secret }
}

function tlsFiles({ tls_cert: cert, tls_key: key }: ConfigFile, cwd: string, problems: string[]): Config['tls'] {
  if (cert === undefined && key === undefined) return { kind: 'none' }
  if (cert === undefined || key === undefined) {
    problems.push('tls_cert (DEXTAPE_TLS_CERT) and tls_key (DEXTAPE_TLS_KEY) must be set together')
    return { kind: 'none' }
  }
  return { kind: 'files', cert: resolve(cwd, cert), key: resolve(cwd, key) }
}

function publicUrls({ public_urls: urls = [] }: ConfigFile, problems: string[]): string[] {
  for (const url of urls) checkHttpUrl('each of public_urls', url, problems)
  return urls.map((url) => url.replace(/\/+$/, ''))
}

function publicWsUrl({ public_ws_url: url }: ConfigFile, problems: string[]): Config['publicWsUrl'] {
  if (url === undefined) return { kind: 'none' }
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^wss?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '')
    problems.push('public_ws_url (DEXTAPE_PUBLIC_WS_URL) must be a ws:// or wss:// URL without a query')
  return { kind: 'url', url: url.replace(/\/+$/, '') }
}

function corsOrigins({ cors_origins: given = '*' }: ConfigFile, problems: string[]): Config['corsOrigins'] {
  if (given === '*') return { kind: 'any' }
  if (given === 'none') return { kind: 'none' }
  for (const origin of given) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      problems.push(
        `each of cors_origins (DEXTAPE_CORS_ORIGINS) must be an origin such as https://app.example, without a path; got "${origin}"`,
      )
  }
  return { kind: 'list', origins: given }
}

/** Often enough to see each stage, rarely enough to cost nothing. */
const TRACE_EVERY_BLOCKS = 100

function tracingChoice({ tracing }: ConfigFile, problems: string[]): Config['tracing'] {
  const { otlp_url: url, every_blocks: everyBlocks = TRACE_EVERY_BLOCKS } = tracing ?? {}
  if (url === undefined) {
    if (tracing?.every_blocks !== undefined) problems.push('tracing.every_blocks needs tracing.otlp_url')
    return { kind: 'none' }
  }
  checkHttpUrl('tracing.otlp_url (DEXTAPE_OTLP_URL)', url, problems)
  return { kind: 'otlp', url, everyBlocks }
}

function logChoice({ kafka }: ConfigFile, reading: Reading): LogChoice {
  const { problems } = reading
  const brokers = kafka?.brokers ?? []
  const url = kafka?.schema_registry_url
  if (url !== undefined) checkHttpUrl('SCHEMA_REGISTRY_URL', url, problems)
  if (brokers.length === 0) {
    if (url !== undefined) problems.push('SCHEMA_REGISTRY_URL needs Kafka: set KAFKA_BROKERS too')
    if (kafka?.sasl !== undefined || kafka?.ssl !== undefined)
      problems.push('kafka.sasl and kafka.ssl (KAFKA_SASL_…, KAFKA_SSL…) need brokers: set KAFKA_BROKERS too')
    return { kind: 'embedded' }
  }
  for (const broker of brokers) {
    if (!/^(\[[0-9a-fA-F:]+\]|[^\s:/,@]+):\d{1,5}$/.test(broker))
      problems.push(`KAFKA_BROKERS must be host:port, comma separated; got "${broker}"`)
  }
  const sasl = saslChoice(kafka?.sasl as SaslSection | undefined, reading)
  const { ssl = false } = kafka ?? {}
  return {
    kind: 'kafka',
    brokers,
    registry: registryChoice(kafka, reading),
    prefix: kafka?.topic_prefix ?? '',
    ssl: ssl !== false,
    ...(typeof ssl === 'object' ? { tls: clientTls('kafka.ssl', ssl as ClientTls, reading) } : {}),
    ...(sasl === undefined ? {} : { sasl }),
    ...(kafka?.replication_factor === undefined ? {} : { replicationFactor: kafka.replication_factor }),
  }
}

function registryChoice(kafka: ConfigFile['kafka'], reading: Reading): KafkaChoice['registry'] {
  const { schema_registry_url: url, schema_registry_user: user, schema_registry_tls: tls } = kafka ?? {}
  if (url === undefined) return { kind: 'in_log' }
  const value = kafka?.schema_registry_password
  const file = kafka?.schema_registry_password_file
  const password = secretOf('kafka.schema_registry_password', { value, file }, reading)
  return {
    ...{ kind: 'http', url: withUser(url, user, password) },
    ...(tls === undefined ? {} : { tls: clientTls('kafka.schema_registry_tls', tls as ClientTls, reading) }),
  }
}

function storeChoice({ clickhouse }: ConfigFile, reading: Reading): StoreChoice {
  if (clickhouse === undefined) return { kind: 'embedded' }
  const { url, user, password: value, password_file: file, tls, cluster } = clickhouse
  if (url === '')
    reading.problems.push('CLICKHOUSE_USER, _PASSWORD, _CA and _CLUSTER need a server: set CLICKHOUSE_URL too')
  else checkHttpUrl('CLICKHOUSE_URL', url, reading.problems)
  if (cluster !== undefined && !/^\w[\w.-]*$/.test(cluster))
    reading.problems.push(`clickhouse.cluster: the name of a cluster in the server's remote_servers, not "${cluster}"`)
  const password = secretOf('clickhouse.password', { value, file }, reading)
  return {
    ...{ kind: 'clickhouse', url: withUser(url, user, password) },
    ...(tls === undefined ? {} : { tls: clientTls('clickhouse.tls', tls as ClientTls, reading) }),
    ...(cluster === undefined ? {} : { cluster }),
  }
}

/** The embedded engine pays for each small batch with merges; what memory and log hold meanwhile costs less. */
const EMBEDDED_INTERVALS = { flushMs: 60_000, checkpointMs: 60_000 }
/** A server is read by others, and a process that takes over a chain folds from its last checkpoint. */
const SERVER_INTERVALS = { flushMs: 1000, checkpointMs: 5000 }

/** Room for what is folded but not stored yet, and for merges. */
const DISK_RESERVE_MB = 128

/** The check reads every byte of the data directory. */
const CHECK_EVERY_S = 6 * 3600

function intervals({ intervals: given, clickhouse }: ConfigFile): Config['intervals'] {
  const { flushMs, checkpointMs } = clickhouse === undefined ? EMBEDDED_INTERVALS : SERVER_INTERVALS
  return {
    flushMs: given?.flush_ms ?? flushMs,
    checkpointMs: given?.checkpoint_ms ?? checkpointMs,
    progressMs: (given?.progress_s ?? 10) * 1000,
    checkMs: (given?.check_s ?? CHECK_EVERY_S) * 1000,
  }
}

/** The value is not in the message: it may hold a password. */
function checkHttpUrl(name: string, url: string, problems: string[]): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    problems.push(`${name} must be an http:// or https:// URL`)
}
