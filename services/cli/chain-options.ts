/** The options that say which chains are read from which nodes; each stands for the key of `chains.<chain>` it is laid over. */
import { type Command, Option } from 'commander'
import type { BalancesMode, ChainSection, ChainSourceConfig, Config } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'

export type ChainOptions = {
  chain?: string
  rpc?: string[]
  pool?: string[]
  token?: string[]
  amm?: string[]
  start?: string
  balances?: BalancesMode
  maxRps?: string
  geyser?: string[]
  commitment?: 'confirmed' | 'finalized'
}

export const CHAIN_HELP =
  '\nA chain is read from the nodes named by --rpc, by "chains.<chain>.rpc" of the configuration or by DEXTAPE_RPC_<CHAIN>; without --chain all that have nodes are.'

/** `others`: options of another kind of source, which cannot be asked for at once. */
export function addChainOptions(command: Command, others: readonly string[]): Command {
  const option = (flags: string, help: string) => new Option(flags, help).conflicts([...others])
  const start = 'latest, a date (2024-01-05T12:00, UTC) or a block; counts at the first start'
  command.addOption(option('--chain <chain>', 'read this chain from its nodes'))
  return addNodeOptions(command, option).addOption(option('--start <when>', start))
}

/** Of a chain that is named already. */
export function addNodeOptions(
  command: Command,
  option = (flags: string, help: string): Option => new Option(flags, help),
): Command {
  return command
    .addOption(option('--rpc <urls...>', "its nodes' addresses: http, https, ws, wss"))
    .addOption(
      option('--pool <addresses...>', 'only these pools: address, V4 pool id or <token>_fo; several: 0xa… 0xb…'),
    )
    .addOption(option('--token <addresses...>', 'only pools of these tokens'))
    .addOption(option('--amm <names...>', 'only these exchanges, as docs/protocols.md names them (uniswapv3)'))
    .addOption(
      option(
        '--balances <mode>',
        "holders' balances: none, of the scope's tokens, of every token; off unless given",
      ).choices(['off', 'scoped', 'all']),
    )
    .addOption(option('--max-rps <number>', 'requests a second over all nodes of the chain; without it what they take'))
    .addOption(option('--geyser <urls...>', 'Solana: Yellowstone gRPC streams, https://token@host:port'))
    .addOption(option('--commitment <level>', 'Solana: how sure a block must be').choices(['confirmed', 'finalized']))
}

/** What they say, in the configuration's form. */
export function chainSections(options: ChainOptions): Record<string, ChainSection> {
  const { chain, pool: pools, token: tokens, amm: amms, start, balances, maxRps, geyser, commitment } = options
  // As the environment's variable has them: behind a comma another address would be taken for a part of the first one's path.
  const rpc = options.rpc?.flatMap((urls) => urls.split(/,(?=\w+:\/\/)/))
  const given = { rpc, pools, tokens, amms, start, balances, geyser, commitment }
  const section: ChainSection = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (maxRps !== undefined) section.max_rps = aboveZero('--max-rps', maxRps)
  if (chain !== undefined) return { [chain]: section }
  if (Object.keys(section).length === 0) return {}
  throw new ConfigError({
    code: 'option_invalid',
    what: 'Options of a chain are given, but not which chain',
    fix: 'Name it with --chain.',
  })
}

/** The chains that shall run: the named one, else all that have nodes. */
export function selectSources({ sources }: Pick<Config, 'sources'>, chain: string | undefined): ChainSourceConfig[] {
  if (chain === undefined) return [...sources.values()]
  const source = sources.get(chain)
  if (source !== undefined) return [source]
  throw new ConfigError({
    code: 'source_missing',
    what: `No node of ${chain} is known`,
    fix: `Name one with --rpc, with "chains.${chain}.rpc" in the configuration, or with DEXTAPE_RPC_${chain.toUpperCase()}.`,
  })
}

function aboveZero(name: string, text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw new ConfigError({
    code: 'option_invalid',
    what: `${name} is not valid`,
    expected: 'a number above 0',
    got: JSON.stringify(text),
  })
}
