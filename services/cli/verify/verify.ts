/** `dextape verify`: folds the log again from its first block and compares every stored row and every update with it. */
import { chainFacts } from '../../core/config/index.js'
import { type DataDir, findDataDir } from '../../core/data-dir/data-dir.js'
import { openStore } from '../../core/store/clickhouse-store.js'
import { openLocalStore } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { chainsOf } from '../../processes/platform/chains-of.js'
import type { RunVerify } from '../../processes/process-options.js'
import { withLog } from '../open-log.js'
import { refold } from './refold.js'
import { type Finding, verifyRows } from './rows.js'
import { verifyUpdates } from './updates.js'

const SHOWN = 5

export const runVerify: RunVerify = async ({ config, logger, out, chain: only }) => {
  const dir = () => findDataDir(config.dataDir)
  const store = await openConfigured(config.store, dir)
  try {
    return await withLog(config, dir, async (opened) => {
      const chains = (await chainsOf(opened.log)).filter((chain) => only === undefined || chain === only)
      let wrong = 0
      const lines: [string, string, number, number][] = []
      for (const chain of chains) {
        const progress = await progressOf(store, chain)
        if (progress === undefined) {
          logger.warn('nothing of this chain is stored yet', { chain })
          continue
        }
        logger.info('folding the log again', { chain, to_seq: progress.seq })
        const expected = await refold(opened, chainFacts(config, chain), config.fold, progress, logger)
        const findings = [
          await verifyUpdates(opened, expected),
          ...(await verifyRows(store, expected, progress.version)),
        ]
        for (const finding of findings) {
          lines.push([chain, finding.what, finding.compared, finding.wrong.length])
          for (const example of finding.wrong.slice(0, SHOWN))
            logger.error('differs', { chain, what: finding.what, example })
        }
        wrong += findings.reduce((sum: number, finding: Finding) => sum + finding.wrong.length, 0)
      }
      await out.table(['chain', 'what', 'compared', 'wrong'], lines)
      await out.line(wrong === 0 ? 'Everything stored is what the log gives.' : `${wrong} differences found.`)
      return wrong === 0 ? 0 : 1
    })
  } finally {
    await store.close()
  }
}

async function openConfigured(
  choice: { kind: 'embedded' } | { kind: 'clickhouse'; url: string },
  dir: () => DataDir,
): Promise<Store> {
  if (choice.kind === 'clickhouse') return openStore({ kind: 'server', url: choice.url })
  return openLocalStore(dir().path)
}

async function progressOf(
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
