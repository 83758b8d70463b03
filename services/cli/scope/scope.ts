/** `dextape scope`: shows and changes which chains, pools, tokens and exchanges are read. A running server follows the file. */
import type { Command } from 'commander'
import { type ChainSection, type ChainSourceConfig, type Config, chainFacts } from '../../core/config/index.js'
import { ConfigError } from '../../core/domain/errors.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { addNodeOptions, type ChainOptions, chainSections } from '../chain-options.js'
import { type Cli, configOf, type GlobalOptions, type World } from '../context.js'

type ScopeOptions = GlobalOptions & ChainOptions & { chain: string; history?: boolean }
type Edit = 'add' | 'remove'

const FOLLOWS = '\nA running `up` or `ingest` with this file follows within a few seconds, without a restart.'

export function addScope({ program, world, act }: Cli): void {
  const scope = program
    .command('scope')
    .description('Show or change which chains, pools, tokens and exchanges are read')
    .addHelpText('after', `${FOLLOWS}\n\nExamples:\n  dextape scope\n  dextape scope add --chain base --pool 0x…`)
    .action(act((options) => showScope(world, options)))
  const edit = (name: Edit, description: string): Command =>
    addNodeOptions(scope.command(name).description(description).requiredOption('--chain <chain>', 'Chain to change'))
  edit('add', 'Read more: a chain, or pools, tokens and exchanges of one')
    .option('--start <when>', 'For a new chain: first block (a date or a number; default: latest)')
    .option('--history', 'Then read their history behind, and switch to it (`dextape backfill`)')
    .addHelpText(
      'after',
      [
        FOLLOWS,
        'Additions are read from now on. With --history the chain is read again beside the live one, with them.',
        '\nExamples:',
        '  dextape scope add --chain base --pool 0x… --history',
        '  dextape scope add --chain bsc --rpc https://node.example --amm pancakeswapv3',
      ].join('\n'),
    )
    .action(act<ScopeOptions>((options) => changeScope(world, 'add', options)))
  edit('remove', 'Read less: pools, tokens, exchanges or nodes, or the whole chain')
    .addHelpText(
      'after',
      [
        FOLLOWS,
        'What has been read stays and is served.',
        '\nExamples:\n  dextape scope remove --chain base --pool 0x…\n  dextape scope remove --chain base',
      ].join('\n'),
    )
    .action(act<ScopeOptions>((options) => changeScope(world, 'remove', options)))
}

async function showScope(world: World, options: GlobalOptions): Promise<number> {
  const { sources } = configOf(world, options)
  if (sources.size === 0) await world.out.line('No chain is read from nodes.')
  for (const source of sources.values()) await world.out.line(describe(source))
  return EXIT.ok
}

function describe({
  chain,
  rpcUrls,
  scope: { pools, tokens, amms, balances, holders = [] },
}: ChainSourceConfig): string {
  const named = [
    ...pools.map((pool) => `  pool ${pool}`),
    ...tokens.map((token) => `  token ${token}`),
    ...amms.map((amm) => `  exchange ${amm}`),
  ]
  const nodes = `${rpcUrls.length} node${rpcUrls.length === 1 ? '' : 's'}`
  const lines = [
    ...(named.length === 0 ? ['  everything of the known exchanges'] : named),
    ...holders.map((token) => `  all holders of ${token}`),
  ]
  return [`${chain} (${nodes}, balances ${balances})`, ...lines].join('\n')
}

async function changeScope(world: World, how: Edit, options: ScopeOptions): Promise<number> {
  const { chain } = options
  const chains = chainSections(options)
  const section: ChainSection = chains[chain] ?? {}
  const config = configOf(world, options, how === 'add' ? { chains } : {})
  const path = fileOf(config)
  const facts = chainFacts(config, chain)
  const { addToScope, editFile, removeFromScope } = await import('./edit-scope.js')
  let changed: string[] = []
  editFile(
    path,
    (document) => {
      changed = how === 'add' ? addToScope(document, facts, section) : removeFromScope(document, facts, section)
    },
    (file) => void configOf(world, { ...options, config: file }),
  )
  const isChanged = changed.length > 0
  const did = how === 'add' ? 'Added to' : 'Removed from'
  await world.out.line(
    isChanged ? `${did} ${path}: ${changed.join(', ')}` : `Nothing to add: ${chain} is read so already.`,
  )
  if (how === 'remove') return EXIT.ok
  if (options.history === true) {
    const { runBackfillCommand } = await import('../backfill/backfill.js')
    const { config: file, dataDir } = options
    return runBackfillCommand(world, { chain, ...(file && { config: file }), ...(dataDir && { dataDir }) })
  }
  if (isChanged && options.holders !== undefined) {
    await world.out.line('All holders are read in the background; the log of the server shows progress.')
    return EXIT.ok
  }
  if (isChanged) await world.out.line(`Read from now on. For the history: dextape backfill --chain ${chain}`)
  return EXIT.ok
}

function fileOf({ file }: Config): string {
  if (file.kind === 'file') return file.path
  throw new ConfigError({
    code: 'config_file_missing',
    what: 'The scope is kept in a configuration file, and none is named',
    fix: 'Set --config or DEXTAPE_CONFIG, for the server too. See docs/operations.md.',
  })
}
