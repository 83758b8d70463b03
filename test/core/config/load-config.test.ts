import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import { type Config, chainFacts, describeConfig } from '../../../services/core/config/config.js'
import { loadConfig } from '../../../services/core/config/load-config.js'
import { editDistance, nearestName } from '../../../services/core/config/nearest-name.js'
import { ConfigError } from '../../../services/core/domain/errors.js'
import { CAPACITY, PLANS } from '../../../services/core/domain/plans.js'

const cwd = mkdtempSync(join(tmpdir(), 'dextape-config-'))

function load(file: string | undefined, env: Record<string, string> = {}): Config {
  if (file === undefined) return loadConfig({ env, cwd })
  writeFileSync(join(cwd, 'dextape.yaml'), file)
  return loadConfig({ env, cwd, file: 'dextape.yaml' })
}

function problem(file: string | undefined, env: Record<string, string> = {}): string {
  try {
    load(file, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('the configuration was taken')
}

describe('configuration', () => {
  it('has defaults for everything', () => {
    const { chains, contracts, ...rest } = load(undefined)
    expect([...contracts.keys()]).toEqual([...chains.keys()].filter((chain) => chain !== 'solana'))
    expect([...chains.keys()]).toEqual(['eth', 'bsc', 'base', 'arbitrum', 'optimism', 'polygon', 'avalanche', 'solana'])
    expect(rest).toEqual({
      file: { kind: 'none' },
      dataDir: join(cwd, '.dextape'),
      simulatedDataDir: join(cwd, '.dextape-simulated'),
      simulator: { seed: 1, swapsPerS: 20, historyS: 259_200 },
      host: '127.0.0.1',
      httpPort: 8080,
      wsPort: 8081,
      pushServer: 'auto',
      pushCompression: false,
      wsPortShared: false,
      tls: { kind: 'none' },
      apiKey: { kind: 'none' },
      wsTokenSecret: { kind: 'none' },
      envelope: 'spec',
      publicUrls: [],
      publicWsUrl: { kind: 'none' },
      corsOrigins: { kind: 'any' },
      watchdogMs: 60_000,
      logFormat: 'auto',
      log: { kind: 'embedded' },
      store: { kind: 'embedded' },
      fold: { maxTimeBackS: 3600, journalBlocks: 1024 },
      retention: { updatesMs: 86_400_000, s1CandlesMs: 30 * 86_400_000, deadMs: 90 * 86_400_000 },
      intervals: { flushMs: 60_000, checkpointMs: 60_000, progressMs: 10_000, checkMs: 21_600_000 },
      disk: { reserveBytes: 128 * 2 ** 20 },
      topics: { trades: false },
      tracing: { kind: 'none' },
      plans: PLANS,
      capacity: CAPACITY,
      sources: new Map(),
    })
  })

  it('changes single budgets of a plan, and the capacity of a server', () => {
    const file = 'plans:\n  free:\n    ids: 7\n    unread_mb: 2\n    sockets: none\ncapacity:\n  memory_mb: 3\n'
    const { plans, capacity } = load(file)
    expect(plans).toEqual({ ...PLANS, free: { ...PLANS.free, ids: 7, unreadBytes: 2_097_152, sockets: null } })
    expect(capacity).toEqual({ ...CAPACITY, memoryBytes: 3_145_728 })
    expect(describeConfig(load(file))).toMatchObject({
      plans: { free: { ids: 7, unread_mb: 2, sockets: null, requests_per_s: 1 } },
      capacity: { memory_mb: 3, ids: 1_000_000 },
    })
  })

  it('reads the origins that may call REST, and the public WebSocket address', () => {
    const app = { kind: 'list', origins: ['https://app.example', 'http://localhost:5173'] }
    expect(load('cors_origins: ["https://app.example", "http://localhost:5173"]').corsOrigins).toEqual(app)
    expect(load('cors_origins: none').corsOrigins).toEqual({ kind: 'none' })
    const env = { DEXTAPE_CORS_ORIGINS: 'https://app.example, http://localhost:5173' }
    expect(load('cors_origins: none', env).corsOrigins).toEqual(app)
    expect(load(undefined, { DEXTAPE_CORS_ORIGINS: '*' }).corsOrigins).toEqual({ kind: 'any' })
    expect(problem(undefined, { DEXTAPE_CORS_ORIGINS: 'https://app.example/' })).toContain(
      'each of cors_origins (DEXTAPE_CORS_ORIGINS) must be an origin such as https://app.example, without a path; got "https://app.example/"',
    )
    expect(problem('cors_origins: some')).toContain(
      '"cors_origins" must be "*", "none" or a list of origins, got "some"',
    )
    const url = { kind: 'url', url: 'wss://stream.example' }
    expect(load('public_ws_url: wss://stream.example/').publicWsUrl).toEqual(url)
    expect(load(undefined, { DEXTAPE_PUBLIC_WS_URL: 'wss://stream.example' }).publicWsUrl).toEqual(url)
    expect(problem('public_ws_url: https://stream.example')).toContain(
      'public_ws_url (DEXTAPE_PUBLIC_WS_URL) must be a ws:// or wss:// URL without a query',
    )
  })

  it('is read from YAML or JSON, and overridden by the environment', () => {
    const yaml = 'http_port: 9000\nws_port: 9001\nfold:\n  journal_blocks: 10\nkafka:\n  brokers: [a:1]\n'
    const env = {
      DEXTAPE_WS_PORT: '9002',
      KAFKA_BROKERS: 'b:2, c:3',
      DEXTAPE_ENVELOPE: '',
      CLICKHOUSE_URL: 'http://h:8123',
    }
    expect(load(yaml, env)).toMatchObject({
      httpPort: 9000,
      wsPort: 9002,
      fold: { maxTimeBackS: 3600, journalBlocks: 10 },
      log: { kind: 'kafka', brokers: ['b:2', 'c:3'], registry: { kind: 'in_log' }, prefix: '', ssl: false },
      store: { kind: 'clickhouse', url: 'http://h:8123' },
      intervals: { flushMs: 1000, checkpointMs: 5000 },
    })
    expect(load('{"http_port": 9000}').httpPort).toBe(9000)
    expect(load('').httpPort).toBe(8080)
  })

  it('listens on DEXTAPE_HOST, else on the host in the file, else on localhost', () => {
    expect(load('host: 10.0.0.1', { DEXTAPE_HOST: '0.0.0.0' }).host).toBe('0.0.0.0')
    expect(load('host: 10.0.0.1', { DEXTAPE_HOST: '' }).host).toBe('10.0.0.1')
  })

  it('publishes the trades topic only if configured', () => {
    expect(load('topics:\n  trades: true').topics).toEqual({ trades: true })
    expect(problem('topics:\n  trade: true')).toContain('unknown key "topics.trade": did you mean "trades"?')
  })

  it('gives each service its own default port', () => {
    const portOf = (service: 'serve' | 'ingest' | 'aggregate', env: Record<string, string> = {}) =>
      loadConfig({ env, cwd: '/', service }).httpPort
    expect([portOf('serve'), portOf('ingest'), portOf('aggregate')]).toEqual([8080, 8082, 8083])
    expect(portOf('ingest', { DEXTAPE_HTTP_PORT: '8081' })).toBe(8081)
    expect(() => portOf('serve', { DEXTAPE_HTTP_PORT: '8081' })).toThrow(/both 8081/)
  })

  it('removes the trailing slash of public addresses', () => {
    expect(load('public_urls: [https://a.example/, https://b.example/dex]').publicUrls).toEqual([
      'https://a.example',
      'https://b.example/dex',
    ])
  })

  it('can be set with DEXTAPE_CONFIG', () => {
    writeFileSync(join(cwd, 'other.json'), '{"data_dir": "/srv/dextape"}')
    expect(loadConfig({ env: { DEXTAPE_CONFIG: 'other.json' }, cwd }).dataDir).toBe('/srv/dextape')
  })

  it.each([
    ['htp_port: 1', 'unknown key "htp_port": did you mean "http_port"?'],
    ['fold:\n  jurnal_blocks: 1', 'unknown key "fold.jurnal_blocks": did you mean "journal_blocks"?'],
    ['chains:\n  eth:\n    ancor: x', 'unknown key "chains.eth.ancor": did you mean "anchor"?'],
    ['retention:\n  zzzzzzzzz: 1', 'unknown key "retention.zzzzzzzzz": known keys are updates_h, s1_candles_d, dead_d'],
    ['http_port: 70000', '"http_port" must be a whole number from 0 to 65535, got 70000'],
    ['http_port: "80"', '"http_port" must be a whole number from 0 to 65535, got "80"'],
    ['envelope: never', '"envelope" must be "spec" or "always", got "never"'],
    ['plans:\n  gold:\n    ids: 1', 'unknown key "plans.gold": known keys are free, basic, pro, unlimited'],
    ['plans:\n  free:\n    socket: 1', 'unknown key "plans.free.socket": did you mean "sockets"?'],
    [
      'plans:\n  free:\n    ids: 0',
      '"plans.free.ids" must be a whole number, 1 or more, or "none" for no limit, got 0',
    ],
    ['capacity:\n  ids: none', '"capacity.ids" must be a whole number, 1 or more, got "none"'],
    ['fold: 3', '"fold" must be a section with keys and values, got 3'],
    ['retention:\n  dead_d: 0', '"retention.dead_d" must be a number above 0, got 0'],
    ['- a\n- b', 'the file must consist of keys and values'],
    ['public_urls: [example.org]', 'each of public_urls must be an http:// or https:// URL'],
    ['http_port: 9000\nws_port: 9000', 'http_port and ws_port are both 9000'],
    ['chains:\n  Eth: {}', '"chains.Eth" is not a valid chain name'],
    [
      'chains:\n  eth:\n    anchor: "0x12"',
      '"chains.eth.anchor" must be an address (0x and 40 hexadecimal digits), got "0x12"',
    ],
    ['{ not yaml: [', 'neither YAML nor JSON'],
  ])('%s is reported as: %s', (file, message) => {
    expect(problem(file)).toContain(message)
  })

  it.each([
    [{ DEXTAPE_HTP_PORT: '1' }, 'unknown environment variable DEXTAPE_HTP_PORT: did you mean DEXTAPE_HTTP_PORT?'],
    [{ DEXTAPE_HTTP_PORT: 'x' }, 'DEXTAPE_HTTP_PORT must be a whole number from 0 to 65535, got "x"'],
    [{ DEXTAPE_PUSH_SERVER: 'uws' }, 'DEXTAPE_PUSH_SERVER must be one of auto, uWebSockets.js, ws, got "uws"'],
    [{ DEXTAPE_ENVELOPE: 'alwys' }, 'DEXTAPE_ENVELOPE must be "spec" or "always", got "alwys"'],
    [{ DEXTAPE_WS_TOKEN_SECRET: 'short' }, '(DEXTAPE_WS_TOKEN_SECRET) must have at least 32 characters'],
    [{ KAFKA_BROKERS: 'nonsense' }, 'KAFKA_BROKERS must be host:port, comma separated; got "nonsense"'],
    [{ SCHEMA_REGISTRY_URL: 'http://r' }, 'SCHEMA_REGISTRY_URL needs Kafka'],
    [{ CLICKHOUSE_URL: 'ftp://user:secret@h' }, 'CLICKHOUSE_URL must be an http:// or https:// URL'],
    [{ DEXTAPE_CONFIG: 'none.yaml' }, 'Cannot read the configuration file'],
  ])('%o is reported as: %s', (env, message) => {
    expect(problem(undefined, env)).toContain(message)
  })

  it('reports all problems at once', () => {
    const message = problem('htp_port: 1\nenvelope: x', { DEXTAPE_WS_PORT: '-1' })
    for (const part of ['htp_port', 'envelope', 'DEXTAPE_WS_PORT']) expect(message).toContain(part)
  })

  it('never repeats a secret, in its description or in a message', () => {
    const env = {
      DEXTAPE_API_KEY: 'hunter2',
      DEXTAPE_WS_TOKEN_SECRET: 'hunter2'.repeat(5),
      CLICKHOUSE_URL: 'https://user:hunter2@h:8443/db?password=hunter2',
      KAFKA_BROKERS: 'k:1',
      SCHEMA_REGISTRY_URL: 'http://a:hunter2@r',
    }
    const described = JSON.stringify(describeConfig(load(undefined, env)))
    expect(described).toContain('https://h:8443/db')
    const messages = [
      problem('api_key: [hunter2]'),
      problem('clickhouse:\n  url: [hunter2]'),
      problem('api_key: hunter2\n  broken: [', {}),
      problem(undefined, { CLICKHOUSE_URL: 'hunter2' }),
    ]
    for (const text of [described, ...messages]) expect(text).not.toContain('hunter2')
  })
})

describe('users, passwords and certificates', () => {
  const kafka = { KAFKA_BROKERS: 'k:1' }
  const file = (name: string, text: string) => {
    writeFileSync(join(cwd, name), text)
    return name
  }

  it('of Kafka come from the environment, passwords from files', () => {
    const password = file('secret', 'hunter2\n')
    const user = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD_FILE: password }
    const config = load(undefined, { ...kafka, KAFKA_SSL_CA: 'ca.pem', ...user })
    expect(config.log).toMatchObject({
      ...{ ssl: true, tls: { ca: join(cwd, 'ca.pem') } },
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'hunter2' },
    })
    expect(JSON.stringify(describeConfig(config))).not.toContain('hunter2')
  })

  it('of Kafka: a token is read from its file when it is needed', () => {
    const env = { ...kafka, KAFKA_SSL: 'true', KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_FILE: 'token' }
    const { log } = load(undefined, env)
    expect(log).toMatchObject({ ssl: true, sasl: { mechanism: 'oauthbearer', tokenFile: join(cwd, 'token') } })
    expect(log).not.toHaveProperty('tls')
  })

  it('of ClickHouse and the registry become part of their URL', () => {
    const { store, log } = load(
      'kafka: { brokers: ["k:1"], schema_registry_url: "https://r/x", schema_registry_user: r, schema_registry_password: "p/q" }',
      {
        CLICKHOUSE_URL: 'https://h:8443/db',
        CLICKHOUSE_USER: 'u',
        CLICKHOUSE_PASSWORD: 'p@:',
        ...{ CLICKHOUSE_CA: 'ca.pem', CLICKHOUSE_CLUSTER: 'tape' },
      },
    )
    expect(store).toEqual({
      ...{ kind: 'clickhouse', url: 'https://u:p%40%3A@h:8443/db', tls: { ca: join(cwd, 'ca.pem') } },
      cluster: 'tape',
    })
    expect(log).toMatchObject({ registry: { kind: 'http', url: 'https://r:p%2Fq@r/x' } })
  })

  it.each([
    [{ KAFKA_SASL_USERNAME: 'u' }, 'need brokers: set KAFKA_BROKERS too'],
    [{ ...kafka, KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM must be one of plain'],
    [{ ...kafka, KAFKA_SASL_MECHANISM: 'plain' }, 'kafka.sasl.username (KAFKA_SASL_USERNAME) is required for plain'],
    [{ ...kafka, KAFKA_SASL_MECHANISM: 'oauthbearer' }, 'kafka.sasl.token_file (KAFKA_SASL_TOKEN_FILE) is required'],
    [{ ...kafka, KAFKA_SSL: 'yes' }, 'KAFKA_SSL must be "true" or "false", got "yes"'],
    [{ CLICKHOUSE_USER: 'u' }, 'set CLICKHOUSE_URL too'],
    [{ CLICKHOUSE_URL: 'http://h', CLICKHOUSE_CLUSTER: '`; x' }, 'clickhouse.cluster: the name of a cluster'],
    [
      { CLICKHOUSE_URL: 'http://h', CLICKHOUSE_PASSWORD_FILE: 'none' },
      'cannot read clickhouse.password_file none: ENOENT',
    ],
    [
      { DEXTAPE_HOST: '0.0.0.0', DEXTAPE_API_KEY: 'short' },
      'api_key (DEXTAPE_API_KEY) must have at least 16 characters',
    ],
  ])('%o is reported as: %s', (env, message) => {
    expect(problem(undefined, env)).toContain(message)
  })

  it('of development may be short where only this machine can use them', () => {
    expect(load(undefined, { DEXTAPE_API_KEY: 'short' }).apiKey).toEqual({ kind: 'fixed', key: 'short' })
    const open = { DEXTAPE_HOST: '0.0.0.0', DEXTAPE_API_KEY: 'sixteen-letters!' }
    expect(load(undefined, open).apiKey).toEqual({ kind: 'fixed', key: 'sixteen-letters!' })
  })
})

describe('the money of chains', () => {
  it('built in: addresses in the form of their family, one rank per token, USDC as the anchor', () => {
    for (const { chain, family, anchor, native, stables, majors } of BUILT_IN_CHAINS) {
      const tokens = [anchor, native, ...stables, ...majors]
      const form = family === 'evm' ? /^0x[0-9a-f]{40}$/ : /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
      for (const token of tokens) expect([chain, token]).toEqual([chain, expect.stringMatching(form)])
      expect([chain, new Set(tokens).size]).toEqual([chain, tokens.length])
    }
  })

  it('of an unknown chain ranks nothing', () => {
    expect(chainFacts(load(undefined), 'mychain')).toEqual({
      chain: 'mychain',
      family: 'evm',
      title: 'mychain',
      stables: [],
      majors: [],
    })
  })

  it('can be added, in the case of the chain', () => {
    const address = '0xABCDEFabcdef0000000000000000000000000001'
    const config = load(`chains:\n  mychain:\n    chain_id: 7\n    anchor: "${address}"\n    title: Mine`)
    expect(chainFacts(config, 'mychain')).toEqual({
      chain: 'mychain',
      family: 'evm',
      title: 'Mine',
      chainId: 7,
      anchor: address.toLowerCase(),
      stables: [],
      majors: [],
    })
  })

  it('can be changed: a replaced anchor stays a stable, a promoted stable has one rank', () => {
    const [usdc, usdt, dai] = [
      '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
      '0xdac17f958d2ee523a2206206994597c13d831ec7',
      '0x6b175474e89094c44da98b954eedeac495271d0f',
    ]
    const facts = chainFacts(load(`chains:\n  eth:\n    anchor: "${usdt}"`), 'eth')
    expect([facts.anchor, facts.stables]).toEqual([usdt, [usdc, dai]])
  })

  it('rejects a token in two ranks', () => {
    const token = '0xdac17f958d2ee523a2206206994597c13d831ec7'
    expect(problem(`chains:\n  eth:\n    anchor: "${token}"\n    majors: ["${token}"]`)).toContain(
      'a token has one rank',
    )
  })
})

describe('the nearest name', () => {
  it('is found by edit distance, where a transposition is one edit', () => {
    expect(editDistance('abc', 'acb')).toBe(1)
    expect(editDistance('', 'abc')).toBe(3)
    expect(nearestName('htpt_port', ['http_port', 'ws_port'])).toBe('http_port')
    expect(nearestName('elephant', ['up', 'ws'])).toBeUndefined()
  })
})

describe('token lists', () => {
  const list = (name: string, tokens: unknown) => writeFileSync(join(cwd, name), JSON.stringify({ name, tokens }))

  it('give logos by chain; the earlier list wins', () => {
    list('a.json', [
      { chainId: 1, address: '0xABC', logoURI: 'ipfs://a', symbol: 'A' },
      { chainId: 101, address: 'SoLMint', logoURI: 'https://s' },
      { chainId: 5, address: '0xabc', logoURI: 'https://other' },
      { chainId: 1, address: '0xdef' },
    ])
    list('b.json', [{ chainId: 1, address: '0xabc', logoURI: 'ipfs://b' }])
    const { chains } = load('token_lists: [a.json, b.json]')
    expect(chains.get('eth')?.logos).toEqual(new Map([['0xabc', 'ipfs://a']]))
    expect(chains.get('solana')?.logos).toEqual(new Map([['SoLMint', 'https://s']]))
    expect(chains.get('bsc')?.logos).toBeUndefined()
  })

  it('that cannot be used are reported', () => {
    list('bad.json', [{ address: '0xabc' }])
    expect(problem('token_lists: [bad.json]')).toContain('bad.json is not a token list')
    expect(problem('token_lists: [none.json]')).toContain('none.json cannot be read')
  })
})

it('audited tokens belong to their chain, in its address form', () => {
  const address = `0x${'Ab'.repeat(20)}`
  expect(load(`chains: { eth: { audited: ["${address}"] } }`).chains.get('eth')?.audited).toEqual([
    address.toLowerCase(),
  ])
  expect(problem('chains: { eth: { audited: ["0x1"] } }')).toContain('chains.eth.audited')
})
