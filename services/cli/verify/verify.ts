/** `dextape verify`: replays the log from its first block and compares every stored row and every update with the result. */
import { chainFacts } from '../../core/config/index.js'
import type { OpenLog } from '../../core/log/topic-records.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { flushServed } from '../../core/store/engine-socket.js'
import { socketPathOf } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { chainsOf } from '../../processes/platform/platform.js'
import {
  type Cli,
  configOfExistingData,
  existingDir,
  type GlobalOptions,
  loggerOf,
  paintOf,
  progressOf,
  type World,
} from '../context.js'
import { withLog, withStore } from '../open-data.js'
import type { Finding } from './compare.js'

type VerifyOptions = GlobalOptions & { chain?: string }

/** Differences logged per table. */
const MAX_EXAMPLES = 5

export function addVerify({ program, world, act }: Cli): void {
  program
    .command('verify')
    .description('Replay the log and compare the result with the store')
    .option('--chain <chain>', 'Only this chain')
    .addHelpText('after', '\nReads every block, works while `up` runs, and exits with 1 if anything differs.')
    .action(act<VerifyOptions>((options) => verify(world, options)))
}

async function verify(world: World, options: VerifyOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const dir = () => existingDir(config)
  return withStore(config, dir, async (store) => {
    // A running `up` stores rows in large batches.
    if (config.store.kind === 'embedded') await flushServed(socketPathOf(dir().path))
    return withLog(config, dir, (open) => verifyChains(store, open))
  })

  async function verifyChains(store: Store, open: OpenLog): Promise<number> {
    const { out } = world
    const logger = loggerOf(world, config)
    const [{ refold }, { verifyRows, verifyUpdates }, { foldedFacts }] = await Promise.all([
      import('./refold.js'),
      import('./compare.js'),
      import('../../aggregate/replay/replayed-money.js'),
    ])
    const chains = (await chainsOf(open.log)).filter((chain) => options.chain === undefined || chain === options.chain)
    let wrong = 0
    const lines: [string, string, number, number][] = []
    for (const chain of chains) {
      const stored = await storedProgress(store, chain)
      if (stored === undefined) {
        logger.warn('nothing of this chain is stored yet', { chain })
        continue
      }
      const replaying = progressOf(world, logger, { message: 'replaying the log', unit: 'updates', fields: { chain } })
      const onSeq = (seq: number) => replaying.report(seq, stored.seq)
      const facts = await foldedFacts(open.log, chainFacts(config, chain))
      const expected = await refold(open, facts, config.fold, stored, onSeq).finally(replaying.end)
      const reading = progressOf(world, logger, { message: 'comparing updates', unit: 'updates', fields: { chain } })
      const onUpdate = (seq: number) => reading.report(seq, stored.seq)
      const comparing = progressOf(world, logger, { message: 'comparing rows', unit: 'rows', fields: { chain } })
      const findings: Finding[] = [
        await verifyUpdates(open, expected, onUpdate).finally(reading.end),
        ...(await verifyRows(store, expected, stored.version, comparing.report).finally(() => {
          comparing.end()
          // What differs is replayed once more.
          replaying.end()
        })),
      ]
      for (const finding of findings) {
        lines.push([chain, finding.what, finding.compared, finding.wrong.length])
        wrong += finding.wrong.length
        for (const example of finding.wrong.slice(0, MAX_EXAMPLES))
          logger.error('difference found', { chain, what: finding.what, example })
      }
    }
    await out.table(['chain', 'what', 'compared', 'wrong'], lines)
    const paint = wrong === 0 ? paintOf(world).green : paintOf(world).red
    await out.line(paint(outcomeOf(lines.length, wrong)))
    return wrong === 0 ? EXIT.ok : EXIT.failed
  }
}

function outcomeOf(comparisons: number, wrong: number): string {
  if (comparisons === 0) return 'Nothing is stored yet, so nothing was compared.'
  return wrong === 0 ? 'The store matches the log.' : `${wrong} differences found.`
}

async function storedProgress(
  store: Store,
  chain: string,
): Promise<{ epoch: number; seq: number; version: string } | undefined> {
  const [row] = await store.query<Record<'epoch' | 'seq' | 'version', string | number>>(
    'SELECT epoch, seq, version FROM progress_rows FINAL WHERE chain = {chain:String}',
    { chain },
  )
  return row === undefined
    ? undefined
    : { epoch: Number(row.epoch), seq: Number(row.seq), version: String(row.version) }
}
