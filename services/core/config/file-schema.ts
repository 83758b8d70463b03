/** The schema of the configuration file. Every key is optional; load-config.ts has the defaults. */
import { type Static, Type } from '@sinclair/typebox'
import { LOCKER_KINDS } from './contracts/lockers.js'
import { CapacitySection, PlansSection } from './plan-settings.js'
import { SASL_MECHANISMS } from './secrets.js'

const closed = { additionalProperties: false }
const Port = Type.Integer({ minimum: 0, maximum: 65535 })
const Address = Type.String({ minLength: 1 })
const wholeNumber = (minimum: number) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER })

const Text = Type.String({ minLength: 1 })
const ClientTls = Type.Object({ ca: Type.Optional(Text), cert: Type.Optional(Text), key: Type.Optional(Text) }, closed)

/** `auto`: uWebSockets.js if its native build loads, else ws. */
export const PUSH_SERVERS = ['auto', 'uWebSockets.js', 'ws'] as const

/** A day; 0 is off. */
export const LONGEST_WATCHDOG_S = 86_400

/** Of the simulator; the command line checks against the same. */
export const Seed = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
export const SwapsPerS = Type.Number({ minimum: 1, maximum: 50_000 })

/** `description` says what was expected, in messages about an invalid value. */
const Contract = Type.Object(
  {
    address: Address,
    protocol: Type.String({ minLength: 1 }),
    amm: Type.String({ minLength: 1 }),
    fee: Type.Optional(wholeNumber(0)),
    others: Type.Optional(Type.Record(Type.String(), Address)),
  },
  closed,
)

const Locker = Type.Object(
  {
    address: Address,
    kind: Type.Union(LOCKER_KINDS.map((kind) => Type.Literal(kind))),
    name: Type.Optional(Type.String({ minLength: 1 })),
  },
  closed,
)

const List = Type.Array(Type.String({ minLength: 1 }), { description: 'a list' })

const Chain = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1 })),
    family: Type.Optional(Type.Union([Type.Literal('evm'), Type.Literal('solana')])),
    chain_id: Type.Optional(wholeNumber(1)),
    anchor: Type.Optional(Address),
    native: Type.Optional(Address),
    stables: Type.Optional(Type.Array(Address)),
    majors: Type.Optional(Type.Array(Address)),
    audited: Type.Optional(Type.Array(Address)),
    rpc: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description: 'a list of node URLs' })),
    pools: Type.Optional(List),
    tokens: Type.Optional(List),
    amms: Type.Optional(List),
    holders: Type.Optional(List),
    start: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), wholeNumber(0)], {
        description: '"latest", a date (2024-01-05 or 2024-01-05T12:00, UTC) or a block number',
      }),
    ),
    balances: Type.Optional(Type.Union([Type.Literal('off'), Type.Literal('scoped'), Type.Literal('all')])),
    risk: Type.Optional(Type.Union([Type.Literal('off'), Type.Literal('live'), Type.Literal('all')])),
    risk_checks_per_minute: Type.Optional(wholeNumber(1)),
    risk_recheck_s: Type.Optional(wholeNumber(1)),
    max_rps: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    finality: Type.Optional(
      Type.Union([Type.Literal('tag'), wholeNumber(1)], {
        description: '"tag", or how many blocks deep a block is final',
      }),
    ),
    contracts: Type.Optional(Type.Array(Contract, { description: 'a list' })),
    lockers: Type.Optional(Type.Array(Locker, { description: 'a list' })),
    geyser: Type.Optional(List),
    commitment: Type.Optional(Type.Union([Type.Literal('confirmed'), Type.Literal('finalized')])),
    genesis_hash: Type.Optional(Address),
  },
  closed,
)

export const ConfigFile = Type.Object(
  {
    data_dir: Type.Optional(Type.String({ minLength: 1 })),
    host: Type.Optional(Type.String({ minLength: 1 })),
    http_port: Type.Optional(Port),
    ws_port: Type.Optional(Port),
    ws_port_shared: Type.Optional(Type.Boolean()),
    push_compression: Type.Optional(Type.Boolean()),
    push_server: Type.Optional(Type.Union(PUSH_SERVERS.map((name) => Type.Literal(name)))),
    tls_cert: Type.Optional(Type.String({ minLength: 1 })),
    tls_key: Type.Optional(Type.String({ minLength: 1 })),
    api_key: Type.Optional(Type.String({ minLength: 1 })),
    ws_token_secret: Type.Optional(Type.String({ minLength: 1 })),
    envelope: Type.Optional(Type.Union([Type.Literal('spec'), Type.Literal('always')])),
    cors_origins: Type.Optional(
      Type.Union([Type.Literal('*'), Type.Literal('none'), Type.Array(Type.String({ minLength: 1 }))], {
        description: '"*", "none" or a list of origins',
      }),
    ),
    public_ws_url: Type.Optional(Type.String({ minLength: 1 })),
    public_urls: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    watchdog_s: Type.Optional(Type.Integer({ minimum: 0, maximum: LONGEST_WATCHDOG_S })),
    log_format: Type.Optional(Type.Union([Type.Literal('auto'), Type.Literal('text'), Type.Literal('json')])),
    tracing: Type.Optional(
      Type.Object(
        { otlp_url: Type.Optional(Type.String({ minLength: 1 })), every_blocks: Type.Optional(wholeNumber(1)) },
        closed,
      ),
    ),
    kafka: Type.Optional(
      Type.Object(
        {
          brokers: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
          schema_registry_url: Type.Optional(Type.String({ minLength: 1 })),
          topic_prefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{0,100}$' })),
          replication_factor: Type.Optional(Type.Integer({ minimum: 1, maximum: 32767 })),
          schema_registry_user: Type.Optional(Text),
          schema_registry_password: Type.Optional(Text),
          schema_registry_password_file: Type.Optional(Text),
          schema_registry_tls: Type.Optional(ClientTls),
          ssl: Type.Optional(
            Type.Union([Type.Boolean(), ClientTls], { description: 'true, false or ca, cert and key' }),
          ),
          sasl: Type.Optional(
            Type.Object(
              {
                mechanism: Type.Union(SASL_MECHANISMS.map((name) => Type.Literal(name))),
                username: Type.Optional(Text),
                password: Type.Optional(Text),
                password_file: Type.Optional(Text),
                token_file: Type.Optional(Text),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    clickhouse: Type.Optional(
      Type.Object(
        {
          url: Text,
          user: Type.Optional(Text),
          password: Type.Optional(Text),
          password_file: Type.Optional(Text),
          tls: Type.Optional(ClientTls),
          cluster: Type.Optional(Text),
        },
        closed,
      ),
    ),
    fold: Type.Optional(
      Type.Object(
        { max_time_back_s: Type.Optional(wholeNumber(0)), journal_blocks: Type.Optional(wholeNumber(1)) },
        closed,
      ),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          updates_h: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          s1_candles_d: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          dead_d: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
        },
        closed,
      ),
    ),
    intervals: Type.Optional(
      Type.Object(
        {
          flush_ms: Type.Optional(wholeNumber(1)),
          checkpoint_ms: Type.Optional(wholeNumber(1)),
          progress_s: Type.Optional(wholeNumber(1)),
          check_s: Type.Optional(wholeNumber(0)),
        },
        closed,
      ),
    ),
    disk: Type.Optional(Type.Object({ reserve_mb: Type.Optional(wholeNumber(0)) }, closed)),
    topics: Type.Optional(Type.Object({ trades: Type.Optional(Type.Boolean()) }, closed)),
    simulator: Type.Optional(
      Type.Object(
        {
          seed: Type.Optional(Seed),
          swaps_per_s: Type.Optional(SwapsPerS),
          history_h: Type.Optional(Type.Number({ minimum: 0, maximum: 720 })),
        },
        closed,
      ),
    ),
    chains: Type.Optional(Type.Record(Type.String(), Chain)),
    plans: Type.Optional(PlansSection),
    capacity: Type.Optional(CapacitySection),
    token_lists: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  },
  closed,
)

export type ConfigFile = Static<typeof ConfigFile>
export type ChainSection = Static<typeof Chain>
