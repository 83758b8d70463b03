/**
 * Computes the checkpoints and the store of a restored log. A chain is folded in the epoch in which it was published: the fold is a
 * pure function of the log, so seq and rows are the same, and clients resume by their cursors.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openChainPipeline } from '../../aggregate/chain-pipeline.js'
import { CHECKPOINT_PAIRS } from '../../aggregate/chain-turns.js'
import { foldFingerprint, lastUpdate } from '../../aggregate/epoch.js'
import { foldUntil } from '../../aggregate/replay/fold-until.js'
import { factsWithReplay } from '../../aggregate/replay/replayed-money.js'
import { type Config, chainFacts } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { blocksTopic } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Progress } from '../../core/runtime/progress.js'
import { openLocalStore } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { foldSettings } from '../../processes/fold-chains.js'
import { claimStore } from '../../processes/open-store.js'
import { embeddedPlatform } from '../../processes/platform/embedded.js'
import { chainsOf, type Platform } from '../../processes/platform/platform.js'
import type { Backup, BackupFold } from './backup-format.js'

export type FoldRestoredDeps = {
  config: Config
  logger: Logger
  nowMs: () => number
  progress: (chain: string) => Progress
}

/** Resolves with the chains that were folded; the first start folds the others, in a new epoch. */
export async function foldRestored(dir: DataDir, folds: Backup['folds'], deps: FoldRestoredDeps): Promise<string[]> {
  // A server may have rows of the chains already.
  if (folds === undefined || deps.config.store.kind !== 'embedded') return []
  const platform = embeddedPlatform({ dir: () => dir, logger: deps.logger })
  try {
    await platform.generations.load()
    await platform.replay.replays.load()
    const store = await openLocalStore(dir.path)
    try {
      await store.migrate()
      await claimStore(store, (await platform.origin())?.origin ?? 'real')
      const folded: string[] = []
      for (const chain of await chainsOf(platform.log)) {
        const known = folds[chain]
        if (known !== undefined && (await foldChain(platform, store, chain, known, deps))) folded.push(chain)
      }
      return folded
    } finally {
      await store.close()
    }
  } finally {
    await platform.close()
  }
}

/** Up to the last published update: what follows is published by the first start. False: with other rules or money. */
async function foldChain(
  platform: Platform,
  store: Store,
  chain: string,
  { epoch, fingerprint, position }: BackupFold,
  { config, nowMs, progress, logger }: FoldRestoredDeps,
): Promise<boolean> {
  const { log, codec, generations } = platform
  const generation = generations.liveOf(chain)
  const facts = factsWithReplay(chainFacts(config, chain), platform.replay.replays)
  const published = await lastUpdate(log, codec, chain)
  const isSame = foldFingerprint(facts, config.fold.maxTimeBackS, generation) === fingerprint
  if (!isSame || published?.epoch !== epoch) {
    logger.warn('the first start folds the chain in a new epoch: its rules or money tokens have changed', { chain })
    return false
  }
  const stateStore = await platform.openState(chain)
  const shown = progress(chain)
  try {
    const settings = foldSettings(config, platform)
    const pipeline = await openChainPipeline({
      ...{ log, codec, store, settings, stateStore, facts, generation, beside: { epoch } },
    })
    const afterBatch = async () => {
      await pipeline.sink.flushWhenDue(nowMs())
      if (pipeline.state.changedPairs.size >= CHECKPOINT_PAIRS) await pipeline.checkpoint()
      shown.report(pipeline.state.seq, published.seq)
      await nextTurn()
    }
    const topic = blocksTopic(chain, generation)
    await foldUntil(log, topic, pipeline, { position, seq: published.seq }, { afterBatch })
    if (pipeline.stopped !== null) throw pipeline.stopped
    await pipeline.checkpoint()
    return true
  } finally {
    shown.end()
    await stateStore.close()
  }
}
