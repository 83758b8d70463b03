/** `dextape dead`: dead letters, with the reason and the raw input. */
import { DextapeError } from '../core/domain/errors.js'
import type { DeadLetter } from '../core/domain/records.js'
import type { OpenLog } from '../core/log/topic-records.js'
import { withoutAddresses } from '../core/runtime/logger.js'
import { formatTime } from '../core/runtime/output.js'
import { printable } from '../core/runtime/terminal.js'
import { deadTopics, lettersOf, rawText } from '../serve/operator/dead-letters.js'
import { type Cli, configOfExistingData, existingDir, type GlobalOptions, type World } from './context.js'
import type { RetryOptions } from './dead-retry/retry.js'
import { withLog } from './open-data.js'
import { parseWholeNumber } from './option-values.js'
import { recordJson } from './topics/record-json.js'

export function addDead({ program, world, act }: Cli): void {
  const dead = program.command('dead').description('Inspect and retry dead letters')
  dead
    .command('ls')
    .description('Count dead letters by chain and reason')
    .argument('[chain]', 'Only this chain, or "unknown" for lines that name no chain')
    .option('-n, --letters <count>', 'List the last N letters of each chain instead')
    .option('--json', 'Print JSON lines')
    .addHelpText('after', '\nExamples:\n  dextape dead ls\n  dextape dead ls eth --letters 10')
    .action(act<ListDeadOptions>((options, chain) => listDead(world, chain, options)))
  dead
    .command('show')
    .description('Show a dead letter in full')
    .argument('<chain>', 'Chain, or "unknown"')
    .argument('<offset>', 'Offset, as in `dead ls --letters 10`')
    .option('--raw', 'Print the raw bytes only')
    .addHelpText('after', '\nExample:\n  dextape dead show eth 12')
    .action(act<{ raw?: boolean }>((options, chain = '', offset = '') => showDead(world, chain, offset, options)))
  dead
    .command('retry')
    .description('Publish dead letters that are valid now, as new records')
    .argument('<chain>', 'Chain')
    .option('--dry-run', 'Only print what would be published, and why the rest stays dead')
    .addHelpText(
      'after',
      [
        '\nLines and events of recordings are validated again, with this version and configuration. What continues the chain is',
        'appended; what belongs into its past is written with a copy of the chain as a new generation, which becomes live.',
        'Stop `up` before. Letters of nodes are retried by `dextape backfill --chain C --dead`.',
        '\nExample:\n  dextape dead retry eth --dry-run',
      ].join('\n'),
    )
    .action(
      act<RetryOptions>(async (options, chain = '') =>
        (await import('./dead-retry/retry.js')).retryDead(world, chain, options),
      ),
    )
}

type ListDeadOptions = GlobalOptions & { letters?: string; json?: boolean }

async function listDead(world: World, chain: string | undefined, options: ListDeadOptions): Promise<void> {
  const config = configOfExistingData(world, options)
  const last = options.letters === undefined ? undefined : parseWholeNumber('--letters', options.letters)
  await withLog(
    config,
    () => existingDir(config),
    async (open) => {
      const topics = await deadTopics(open.log, chain)
      if (last !== undefined) await printLetters(world, open, topics, last, options.json === true)
      else await printCounts(world, open, topics, options.json === true)
    },
  )
}

async function printCounts(world: World, open: OpenLog, topics: string[], json: boolean): Promise<void> {
  const rows: { chain: string; reason: string; letters: number; first: number; last: number }[] = []
  for (const topic of topics) {
    const byReason = new Map<string, (typeof rows)[number]>()
    for await (const { offset, letter } of lettersOf(open, topic, 0)) {
      const { chain, reason } = letter
      const row = byReason.get(reason) ?? { chain, reason, letters: 0, first: offset, last: offset }
      byReason.set(reason, { ...row, letters: row.letters + 1, last: offset })
    }
    rows.push(...[...byReason.values()].sort((a, b) => b.letters - a.letters || (a.reason < b.reason ? -1 : 1)))
  }
  if (json) {
    for (const { chain, reason, letters, first, last } of rows)
      await world.out.json({ chain, reason, letters, first_offset: first, last_offset: last })
  } else if (rows.length === 0) {
    await world.out.line('no dead letters')
  } else {
    await world.out.table(
      ['chain', 'reason', 'letters', 'first', 'last'],
      rows.map(({ chain, reason, letters, first, last }) => [chain, reason, letters, first, last]),
    )
  }
}

async function printLetters(
  world: World,
  open: OpenLog,
  topics: string[],
  count: number,
  json: boolean,
): Promise<void> {
  for (const topic of topics) {
    const { start, end } = await open.log.info(topic)
    for await (const { offset, letter } of lettersOf(open, topic, Math.max(start, end - count))) {
      if (json) await world.out.line(recordJson({ kind: 'dead', dead: letter }, { offset }))
      else {
        const place =
          letter.block_number === null ? '' : ` block ${letter.block_number} ${letter.position ?? ''}`.trimEnd()
        const { chain, reason, source, detail } = letter
        await world.out.line(`${chain} ${offset}  ${reason}  ${shown(source)}${place}  ${shown(detail)}`)
      }
    }
  }
}

async function showDead(
  world: World,
  chain: string,
  offsetText: string,
  options: GlobalOptions & { raw?: boolean },
): Promise<void> {
  const offset = parseWholeNumber('<offset>', offsetText)
  const config = configOfExistingData(world, options)
  await withLog(
    config,
    () => existingDir(config),
    async (open) => {
      const [topic] = await deadTopics(open.log, chain)
      const letter = topic === undefined ? undefined : await letterAt(open, topic, offset)
      if (letter === undefined) {
        throw new DextapeError({
          code: 'letter_unknown',
          what: `No dead letter at offset ${offset} of ${chain}`,
          fix: 'List offsets with `dextape dead ls --letters 20`.',
        })
      }
      if (options.raw) {
        world.stdout.write(letter.raw)
        return
      }
      const rows: [string, string | number][] = [
        ['chain', letter.chain],
        ['offset', offset],
        ['reason', letter.reason],
        ['detail', shown(letter.detail)],
        ['source', shown(letter.source)],
        ['block', letter.block_number ?? '–'],
        ['position', letter.position ?? '–'],
        ['chain time', formatTime(letter.at * 1000)],
        ['raw bytes', letter.raw.length],
      ]
      for (const [name, value] of rows) await world.out.line(`${name.padEnd(10)}  ${value}`)
      // The raw form as it came is for `--raw`, which is not for a terminal.
      await world.out.line(`\n${rawText(letter.raw).split('\n').map(printable).join('\n')}`)
    },
  )
}

/** Anybody can write these texts: no codes for the terminal, and of an address only its host. */
const shown = (text: string): string => printable(withoutAddresses(text).replaceAll(/[\n\t]/g, ' '))

async function letterAt(open: OpenLog, topic: string, offset: number): Promise<DeadLetter | undefined> {
  for await (const found of lettersOf(open, topic, offset)) return found.offset === offset ? found.letter : undefined
  return undefined
}
