/** Options that name chains and their nodes; each overrides a key of `chains.<chain>` in the configuration. */
import { type Command, Option } from 'commander'
import type { BalancesMode, ChainSection, ChainSourceConfig, Config } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'
import { parsePositiveNumber } from './option-values.js'

export type ChainOptions = {
  chain?: string
  rpc?: string[]
  pool?: string[]
  token?: string[]
  amm?: string[]
  holders?: string[]
  start?: string
  balances?: BalancesMode
  maxRps?: string
  geyser?: string[]
  commitment?: 'confirmed' | 'finalized'
}

export const CHAIN_HELP = [
  '\nNodes of a chain come from --rpc, from "chains.<chain>.rpc" in the configuration, or from DEXTAPE_RPC_<CHAIN>.',
  'Without --chain, every chain that has nodes is read.',
].join('\n')

/** `others`: options of other kinds of sources, which exclude these. */
export function addChainOptions(command: Command, others: readonly string[]): Command {
  const option = (flags: string, help: string) => new Option(flags, help).conflicts([...others])
  const start = 'First block: latest, a date (2024-01-05T12:00, UTC) or a block number; first start only'
  command.addOption(option('--chain <chain>', 'Read this chain from its nodes'))
  return addNodeOptions(command, option).addOption(option('--start <when>', start))
}

/** For commands that name the chain themselves. */
export function addNodeOptions(
  command: Command,
  option = (flags: string, help: string): Option => new Option(flags, help),
): Command {
  return command
    .addOption(option('--rpc <urls...>', 'Node URLs: http, https, ws or wss'))
    .addOption(option('--pool <addresses...>', 'Only these pools: address, V4 pool id or <token>_fo'))
    .addOption(option('--token <addresses...>', 'Only pools of these tokens'))
    .addOption(option('--amm <names...>', 'Only these exchanges (uniswapv3); names are in docs/protocols.md'))
    .addOption(
      option('--holders <tokens...>', 'Know all holders of these tokens, also those who moved before the first block'),
    )
    .addOption(
      option('--balances <mode>', 'Track holder balances of tokens in scope or of all tokens (default: off)').choices([
        'off',
        'scoped',
        'all',
      ]),
    )
    .addOption(
      option('--max-rps <number>', 'Limit requests per second over all nodes of the chain (default: what they accept)'),
    )
    .addOption(option('--geyser <urls...>', 'Solana: Yellowstone gRPC streams, https://token@host:port'))
    .addOption(
      option('--commitment <level>', 'Solana: required commitment of a block').choices(['confirmed', 'finalized']),
    )
}

/** The options as sections of the configuration. */
export function chainSections(options: ChainOptions): Record<string, ChainSection> {
  const { chain, pool: pools, token: tokens, amm: amms, holders, start, balances, maxRps, geyser, commitment } = options
  // Commas separate URLs, as in the environment variable; a comma inside a path is followed by no scheme.
  const rpc = options.rpc?.flatMap((urls) => urls.split(/,(?=\w+:\/\/)/))
  const given = { rpc, pools, tokens, amms, holders, start, balances, geyser, commitment }
  const section: ChainSection = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (maxRps !== undefined) section.max_rps = parsePositiveNumber('--max-rps', maxRps)
  if (chain !== undefined) return { [chain]: section }
  if (Object.keys(section).length === 0) return {}
  throw new ConfigError({
    code: 'option_invalid',
    what: `--chain is required with ${Object.keys(section).map(optionOf).join(', ')}`,
    fix: 'Name the chain: --chain base.',
  })
}

const OPTION_NAMES: Record<string, string> = { pools: 'pool', tokens: 'token', amms: 'amm', max_rps: 'max-rps' }
const optionOf = (key: string): string => `--${OPTION_NAMES[key] ?? key}`

/** The named chain, else every chain that has nodes. */
export function selectSources({ sources }: Pick<Config, 'sources'>, chain: string | undefined): ChainSourceConfig[] {
  if (chain === undefined) return [...sources.values()]
  const source = sources.get(chain)
  if (source !== undefined) return [source]
  throw new ConfigError({
    code: 'source_missing',
    what: `No nodes are configured for ${chain}`,
    fix: `Set --rpc, "chains.${chain}.rpc" in the configuration, or DEXTAPE_RPC_${chain.toUpperCase()}.`,
  })
}
