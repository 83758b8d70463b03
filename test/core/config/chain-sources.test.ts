import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Config, describeConfig } from '../../../services/core/config/config.js'
import { LOCKERS } from '../../../services/core/config/contracts/lockers.js'
import { POSITION_MANAGERS } from '../../../services/core/config/contracts/position-managers.js'
import { type LoadOptions, loadConfig } from '../../../services/core/config/load-config.js'
import { readStart } from '../../../services/core/config/node-source.js'
import { ConfigError } from '../../../services/core/domain/errors.js'

const cwd = mkdtempSync(join(tmpdir(), 'dextape-sources-'))
const [A, B] = [`0x${'Aa'.repeat(20)}`, `0x${'Bb'.repeat(20)}`]
const [a, b] = [A.toLowerCase(), B.toLowerCase()]

type Given = Pick<LoadOptions, 'chains'> & { env?: Record<string, string> }

function load(sections: Record<string, unknown>, { env = {}, chains = {} }: Given = {}): Config {
  writeFileSync(join(cwd, 'dextape.json'), JSON.stringify({ chains: sections }))
  return loadConfig({ env, cwd, file: 'dextape.json', chains })
}

function problem(sections: Record<string, unknown>, given: Given = {}): string {
  try {
    load(sections, given)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('the configuration was taken')
}

describe('a chain read from nodes', () => {
  it('has defaults for everything but its nodes', () => {
    const { sources, contracts } = load({ base: { rpc: ['https://node'] } })
    expect(sources).toEqual(
      new Map([
        [
          'base',
          {
            family: 'evm',
            chain: 'base',
            chainId: 8453,
            rpcUrls: ['https://node'],
            scope: { pools: [], tokens: [], amms: [], balances: 'off' },
            start: { kind: 'latest' },
            finality: { kind: 'tag' },
            contracts: contracts.get('base'),
            explicitTokens: [],
            risk: {
              ...{ checksPerMinute: 20, recheckS: 600, history: false, lockers: LOCKERS.base },
              positionManagers: POSITION_MANAGERS.base,
            },
          },
        ],
      ]),
    )
  })

  it('that is not built in needs configuration only', () => {
    const contract = { address: A, protocol: 'uniswap-v2', amm: 'mine', fee: 3000, others: { positions: B } }
    const own = {
      ...{ chain_id: 7, rpc: ['wss://node'], anchor: A, pools: [A, `0x${'F'.repeat(64)}`, `${B}_fo`], tokens: [B] },
      ...{ amms: ['mine'], start: '2024-01-05T12:00', balances: 'scoped', max_rps: 2.5, finality: 64 },
      ...{ risk: 'all', risk_checks_per_minute: 5, risk_recheck_s: 60, lockers: [{ address: B, kind: 'uncx' }] },
      contracts: [contract],
    }
    expect(load({ own: { ...own, risk: 'off' } }).sources.get('own')).not.toHaveProperty('risk')
    expect(load({ own }).sources.get('own')).toEqual({
      family: 'evm',
      chain: 'own',
      chainId: 7,
      rpcUrls: ['wss://node'],
      scope: { pools: [a, `0x${'f'.repeat(64)}`, `${b}_fo`], tokens: [b], amms: ['mine'], balances: 'scoped' },
      start: { kind: 'time', timeS: 1_704_456_000 },
      maxRps: 2.5,
      finality: { kind: 'depth', blocks: 64 },
      contracts: [{ ...contract, address: a, others: { positions: b } }],
      explicitTokens: [a],
      risk: {
        ...{ checksPerMinute: 5, recheckS: 60, history: true },
        lockers: [{ address: b, kind: 'uncx', name: 'uncx' }],
        positionManagers: [],
      },
    })
  })

  it('of the Solana family can have streams, whose tokens are never displayed', () => {
    const env = { DEXTAPE_RPC_SOLANA: 'https://node/key', DEXTAPE_GEYSER_SOLANA: 'https://s3cret@stream:443' }
    const pool = '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2'
    const config = load({ solana: { pools: [pool], amms: ['orca'], commitment: 'finalized' } }, { env })
    expect(config.sources.get('solana')).toEqual({
      risk: { checksPerMinute: 20, recheckS: 600 },
      family: 'solana',
      chain: 'solana',
      genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      rpcUrls: ['https://node/key'],
      geyser: [{ url: 'https://stream/', token: 's3cret' }],
      commitment: 'finalized',
      scope: { pools: [pool], tokens: [], amms: ['orca'], balances: 'off' },
      start: { kind: 'latest' },
      finality: { kind: 'tag' },
      explicitTokens: [],
    })
    expect(describeConfig(config).sources).toMatchObject({
      solana: { rpc: ['https://node'], geyser: ['https://stream'], commitment: 'finalized' },
    })
    expect(JSON.stringify(describeConfig(config))).not.toMatch(/s3cret|node\/key/)
  })

  it('takes its nodes from the environment; the command line overrides both', () => {
    const env = { DEXTAPE_RPC_BASE: 'http://a, ws://b', DEXTAPE_RPC_ETH: '' }
    const section = { rpc: ['http://file'], pools: [A], start: 5 }
    const urls = (given: Given) => load({ base: section }, given).sources.get('base')?.rpcUrls
    expect(urls({})).toEqual(['http://file'])
    expect(urls({ env })).toEqual(['http://a', 'ws://b'])
    expect(urls({ env, chains: { base: { rpc: ['http://c'] } } })).toEqual(['http://c'])
    const over = load({ base: section }, { env, chains: { base: { pools: [B] } } })
    expect(over.sources.get('base')).toMatchObject({ start: { kind: 'block', number: 5 }, scope: { pools: [b] } })
    expect([...over.sources.keys()]).toEqual(['base'])
  })

  it.each([
    [{ base: { rcp: [] } }, {}, 'unknown key "chains.base.rcp": did you mean "rpc"?'],
    [
      { base: { contracts: [{ adress: A }] } },
      {},
      'unknown key "chains.base.contracts.0.adress": did you mean "address"?',
    ],
    [{ base: { contracts: [{ address: '0x1', protocol: 'x', amm: 'y' }] } }, {}, '"chains.base.contracts.0.address"'],
    [{ base: { start: 'soon' } }, {}, '"chains.base.start" (--start) must be "latest", a date'],
    [{ base: { start: '2024-13-01' } }, {}, '"chains.base.start" (--start) must be "latest", a date'],
    [{ base: { start: -1 } }, {}, '"chains.base.start" must be "latest", a date'],
    [{ base: { balances: 'some' } }, {}, '"chains.base.balances" must be "off" or "scoped" or "all", got "some"'],
    [{ base: { max_rps: 0 } }, {}, '"chains.base.max_rps" must be a number above 0, got 0'],
    [{ base: { finality: 'soon' } }, {}, '"chains.base.finality" must be "tag", or how many blocks deep'],
    [
      { base: { pools: [1.5e47] } },
      {},
      '"chains.base.pools.0" must be a non-empty string, got 1.5e+47; put the address in quotes, or YAML reads it as a number',
    ],
    [{ base: { pools: ['0x12'] } }, {}, 'each of "chains.base.pools" (--pool) must be a pool'],
    [{ base: { tokens: [`${A}_fo`] } }, {}, 'each of "chains.base.tokens" (--token) must be an address'],
    [
      { own: { contracts: [{ address: A, protocol: 'p', amm: 'mine' }], amms: ['mime'] } },
      {},
      'unknown exchange "mime" on this chain: did you mean "mine"?',
    ],
    [
      { solana: { rpc: ['http://n'], contracts: [] } },
      {},
      '"chains.solana.contracts" is only valid for chains of family evm',
    ],
    [{ base: { commitment: 'confirmed' } }, {}, '"chains.base.commitment" is only valid for chains of family solana'],
    [
      { solana: { rpc: ['http://n'], pools: [A] } },
      {},
      'each of "chains.solana.pools" (--pool) must be an address (32 to',
    ],
    [{ solana: { rpc: ['http://n'], amms: ['pumpam'] } }, {}, 'did you mean "pumpamm"?'],
    [{ solana: { rpc: ['http://n'], geyser: ['host:1'] } }, {}, '"chains.solana.geyser" (--geyser) must be an http://'],
    [{ solana: { geyser: ['https://host:1'] } }, {}, '"chains.solana.geyser" also needs "rpc"'],
    [{}, { env: { DEXTAPE_RPC_BAES: 'http://n' } }, 'unknown chain "baes": did you mean "base"?'],
    [{}, { chains: { mine: {} } }, 'unknown chain "mine"'],
  ])('%o %o is reported as: %s', (sections, given, message) => {
    expect(problem(sections, given)).toContain(message)
  })

  it('shows only the host of a node', () => {
    const described = describeConfig(load({ base: { rpc: ['https://u:hunter2@node:1/v3/hunter2?k=hunter2'] } }))
    expect(described.sources).toMatchObject({ base: { rpc: ['https://node:1'], start: 'latest', finality: 'tag' } })
    const messages = [
      problem({ base: { rpc: 'https://hunter2' } }),
      problem({ base: { rpc: [{ hunter2: 1 }] } }),
      problem({ base: { rpc: ['ftp://hunter2'] } }),
      problem({ base: 'https://hunter2' }),
      problem({ base: { start: ['https://hunter2'] } }),
      problem({ solana: { geyser: 'https://hunter2@host' } }),
      problem({}, { env: { DEXTAPE_RPC_BASE: 'hunter2' } }),
    ]
    for (const text of [JSON.stringify(described), ...messages]) expect(text).not.toContain('hunter2')
  })
})

it('reads a start as latest, a block, or a time that is UTC unless it has a zone', () => {
  expect(
    ['latest', 12, '12', '2024-01-05', '2024-01-05T12:00', '2024-01-05T12:00:30Z', '2024-01-05T12:00+02:00'].map(
      readStart,
    ),
  ).toEqual([
    { kind: 'latest' },
    { kind: 'block', number: 12 },
    { kind: 'block', number: 12 },
    { kind: 'time', timeS: 1_704_412_800 },
    { kind: 'time', timeS: 1_704_456_000 },
    { kind: 'time', timeS: 1_704_456_030 },
    { kind: 'time', timeS: 1_704_448_800 },
  ])
  expect(['', 'now', '1.5', '2024-1-5', '2024-01-05 12:00', '2024-02-40'].map(readStart)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  )
})
