/** The environment variables, checked and mapped to the keys of the configuration file. */
import { type ChainSection, type ConfigFile, LONGEST_WATCHDOG_S, PUSH_SERVERS } from './file-schema.js'
import { nearestName } from './nearest-name.js'
import { SASL_MECHANISMS } from './secrets.js'

export const ENVIRONMENT = {
  DEXTAPE_CONFIG: 'configuration file, YAML or JSON',
  DEXTAPE_DATA_DIR: 'data directory (.dextape)',
  DEXTAPE_HOST: 'address to listen on (127.0.0.1); 0.0.0.0 for all',
  DEXTAPE_HTTP_PORT: 'HTTP port: REST (8080), status and metrics of ingest (8082) and aggregate (8083)',
  DEXTAPE_WS_PORT: 'WebSocket port (8081)',
  DEXTAPE_PUSH_SERVER: 'WebSocket server: uWebSockets.js, ws or auto (the first that loads)',
  DEXTAPE_TLS_CERT: 'certificate of the REST and WebSocket ports, a PEM file; needs DEXTAPE_TLS_KEY',
  DEXTAPE_TLS_KEY: 'its private key, a PEM file',
  DEXTAPE_API_KEY: 'a fixed API key, for development',
  DEXTAPE_WS_TOKEN_SECRET: 'secret that signs WebSocket tokens, the same on all serve nodes; at least 32 characters',
  DEXTAPE_ENVELOPE: '"always" wraps every success body, "spec" (default) only where the interface shows it',
  DEXTAPE_PUBLIC_WS_URL: 'public WebSocket URL in answers of /v2/ws/token (wss://stream.example), behind a proxy',
  DEXTAPE_CORS_ORIGINS: 'origins whose pages may call REST from a browser, comma separated; "*" (default) or "none"',
  DEXTAPE_WATCHDOG_S: 'end a process whose event loop stands still for this many seconds (60); 0 is off',
  DEXTAPE_OTLP_URL: 'OpenTelemetry collector that gets traces of blocks (http://127.0.0.1:4318)',
  'DEXTAPE_RPC_<CHAIN>': 'nodes of a chain (DEXTAPE_RPC_BASE), comma separated: their addresses often hold a secret',
  'DEXTAPE_GEYSER_<CHAIN>': 'Yellowstone gRPC streams of a chain (https://token@host:port), comma separated',
  KAFKA_BROKERS: 'host:port, comma separated: the log is Kafka, else LMDB in the data directory',
  KAFKA_SSL: '"true": TLS to the brokers, with the authorities of the system',
  KAFKA_SSL_CA: 'certificate authority of the brokers, a PEM file; sets KAFKA_SSL',
  KAFKA_SASL_MECHANISM: 'plain, scram-sha-256, scram-sha-512 or oauthbearer',
  KAFKA_SASL_USERNAME: 'user of the brokers',
  KAFKA_SASL_PASSWORD: 'its password',
  KAFKA_SASL_PASSWORD_FILE: 'a file with its password',
  KAFKA_SASL_TOKEN_FILE: 'a file with a token for oauthbearer, read at each connection',
  CLICKHOUSE_URL: 'the store is this server, else the embedded engine',
  CLICKHOUSE_USER: 'user of that server',
  CLICKHOUSE_PASSWORD: 'its password',
  CLICKHOUSE_PASSWORD_FILE: 'a file with its password',
  CLICKHOUSE_CA: 'certificate authority of that server, a PEM file',
  CLICKHOUSE_CLUSTER: 'its cluster (of remote_servers): tables are replicated on it',
  SCHEMA_REGISTRY_URL: 'a schema registry for Kafka',
  SCHEMA_REGISTRY_USER: 'user of the registry',
  SCHEMA_REGISTRY_PASSWORD: 'its password',
  SCHEMA_REGISTRY_CA: 'certificate authority of the registry, a PEM file',
} as const

/** Prefixes of variables per chain, and the key each sets. */
const BY_CHAIN = { DEXTAPE_RPC_: 'rpc', DEXTAPE_GEYSER_: 'geyser' } as const

export type Environment = Readonly<Record<string, string | undefined>>

/** An empty variable counts as not set: `VARIABLE=${VARIABLE:-}` in compose files leaves it empty. */
export function settingsFromEnvironment(env: Environment, problems: string[]): ConfigFile {
  const get = (name: keyof typeof ENVIRONMENT): string | undefined => env[name]?.trim() || undefined
  reportUnknown(env, problems)
  const settings: ConfigFile = {}
  const dataDir = get('DEXTAPE_DATA_DIR')
  if (dataDir !== undefined) settings.data_dir = dataDir
  const host = get('DEXTAPE_HOST')
  if (host !== undefined) settings.host = host
  const httpPort = wholeNumber('DEXTAPE_HTTP_PORT', get('DEXTAPE_HTTP_PORT'), LAST_PORT, problems)
  if (httpPort !== undefined) settings.http_port = httpPort
  const wsPort = wholeNumber('DEXTAPE_WS_PORT', get('DEXTAPE_WS_PORT'), LAST_PORT, problems)
  if (wsPort !== undefined) settings.ws_port = wsPort
  const pushServer = get('DEXTAPE_PUSH_SERVER')
  const chosen = PUSH_SERVERS.find((name) => name === pushServer)
  if (chosen !== undefined) settings.push_server = chosen
  else if (pushServer !== undefined)
    problems.push(`DEXTAPE_PUSH_SERVER must be one of ${PUSH_SERVERS.join(', ')}, got "${pushServer}"`)
  const tlsCert = get('DEXTAPE_TLS_CERT')
  if (tlsCert !== undefined) settings.tls_cert = tlsCert
  const tlsKey = get('DEXTAPE_TLS_KEY')
  if (tlsKey !== undefined) settings.tls_key = tlsKey
  const apiKey = get('DEXTAPE_API_KEY')
  if (apiKey !== undefined) settings.api_key = apiKey
  const tokenSecret = get('DEXTAPE_WS_TOKEN_SECRET')
  if (tokenSecret !== undefined) settings.ws_token_secret = tokenSecret
  const envelope = get('DEXTAPE_ENVELOPE')
  if (envelope === 'always' || envelope === 'spec') settings.envelope = envelope
  else if (envelope !== undefined) problems.push(`DEXTAPE_ENVELOPE must be "spec" or "always", got "${envelope}"`)
  const publicWsUrl = get('DEXTAPE_PUBLIC_WS_URL')
  if (publicWsUrl !== undefined) settings.public_ws_url = publicWsUrl
  const origins = get('DEXTAPE_CORS_ORIGINS')
  if (origins === '*' || origins === 'none') settings.cors_origins = origins
  else if (origins !== undefined) settings.cors_origins = splitList(origins)
  const watchdog = wholeNumber('DEXTAPE_WATCHDOG_S', get('DEXTAPE_WATCHDOG_S'), LONGEST_WATCHDOG_S, problems)
  if (watchdog !== undefined) settings.watchdog_s = watchdog
  const otlpUrl = get('DEXTAPE_OTLP_URL')
  if (otlpUrl !== undefined) settings.tracing = { otlp_url: otlpUrl }
  const kafka = kafkaFromEnvironment(get, problems)
  if (Object.keys(kafka).length > 0) settings.kafka = { brokers: [], ...kafka }
  const clickhouse = given({
    ...{ url: get('CLICKHOUSE_URL'), user: get('CLICKHOUSE_USER'), password: get('CLICKHOUSE_PASSWORD') },
    ...{ password_file: get('CLICKHOUSE_PASSWORD_FILE'), cluster: get('CLICKHOUSE_CLUSTER') },
    tls: given({ ca: get('CLICKHOUSE_CA') }),
  })
  if (clickhouse !== undefined) settings.clickhouse = { url: '', ...clickhouse }
  const chains = nodesFromEnvironment(env)
  if (Object.keys(chains).length > 0) settings.chains = chains
  return settings
}

type Get = (name: keyof typeof ENVIRONMENT) => string | undefined
type Kafka = NonNullable<ConfigFile['kafka']>

function kafkaFromEnvironment(get: Get, problems: string[]): Partial<Kafka> {
  const brokers = get('KAFKA_BROKERS')
  const ssl = get('KAFKA_SSL')
  if (ssl !== undefined && ssl !== 'true' && ssl !== 'false')
    problems.push(`KAFKA_SSL must be "true" or "false", got "${ssl}"`)
  const ca = get('KAFKA_SSL_CA')
  const named = get('KAFKA_SASL_MECHANISM')?.toLowerCase()
  const mechanism = SASL_MECHANISMS.find((name) => name === named)
  if (named !== undefined && mechanism === undefined)
    problems.push(`KAFKA_SASL_MECHANISM must be one of ${SASL_MECHANISMS.join(', ')}`)
  const sasl = given({
    ...{ mechanism, username: get('KAFKA_SASL_USERNAME'), password: get('KAFKA_SASL_PASSWORD') },
    ...{ password_file: get('KAFKA_SASL_PASSWORD_FILE'), token_file: get('KAFKA_SASL_TOKEN_FILE') },
  })
  return (
    given({
      brokers: brokers === undefined ? undefined : splitList(brokers),
      schema_registry_url: get('SCHEMA_REGISTRY_URL'),
      schema_registry_user: get('SCHEMA_REGISTRY_USER'),
      schema_registry_password: get('SCHEMA_REGISTRY_PASSWORD'),
      schema_registry_tls: given({ ca: get('SCHEMA_REGISTRY_CA') }),
      ssl: ca === undefined ? (ssl === undefined ? undefined : ssl === 'true') : { ca },
      // Completed by the file's: checked after both are merged.
      sasl: sasl as Kafka['sasl'] | undefined,
    }) ?? {}
  )
}

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** Without what is not set; undefined if nothing is. */
function given<T extends object>(values: T): Given<T> | undefined {
  const set = Object.entries(values).filter(([, value]) => value !== undefined)
  return set.length === 0 ? undefined : (Object.fromEntries(set) as Given<T>)
}

/** `DEXTAPE_RPC_BASE` lists nodes of the chain `base`. */
function nodesFromEnvironment(env: Environment): Record<string, ChainSection> {
  const chains: Record<string, ChainSection> = {}
  for (const [prefix, key] of Object.entries(BY_CHAIN))
    for (const [name, text] of Object.entries(env)) {
      const urls = name.startsWith(prefix) ? splitList(text ?? '') : []
      const chain = name.slice(prefix.length).toLowerCase()
      if (urls.length > 0) chains[chain] = { ...chains[chain], [key]: urls }
    }
  return chains
}

const isByChain = (name: string): boolean => Object.keys(BY_CHAIN).some((prefix) => name.startsWith(prefix))

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function reportUnknown(env: Environment, problems: string[]): void {
  const known = Object.keys(ENVIRONMENT)
  for (const name of Object.keys(env)) {
    if (!name.startsWith('DEXTAPE_') || isByChain(name) || known.includes(name)) continue
    const nearest = nearestName(name, known)
    problems.push(
      `unknown environment variable ${name}: ${nearest === undefined ? `known ones are ${known.join(', ')}` : `did you mean ${nearest}?`}`,
    )
  }
}

const LAST_PORT = 65_535

function wholeNumber(name: string, text: string | undefined, most: number, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= most) return value
  problems.push(`${name} must be a whole number from 0 to ${most}, got "${text}"`)
  return undefined
}
