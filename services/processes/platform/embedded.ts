/** The platform of a single process: one data directory. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateStore, type StateStore } from '../../aggregate/checkpoint/state-store.js'
import { createGenerations } from '../../core/coordination/generations.js'
import { createReplays } from '../../core/coordination/replays.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { claimOf, claimOrigin } from '../../core/data-dir/origin.js'
import { openKeyStore } from '../../core/keys/key-store.js'
import { createCodec } from '../../core/log/codec.js'
import { openEmbedded } from '../../core/log/embedded-log.js'
import { type Checkpoints, openCheckpoints } from '../../ingest/checkpoints.js'
import { chainsOf, type Platform, type PlatformDeps } from './platform.js'

const POLL_INTERVAL_MS = 500

export function embeddedPlatform({
  dir: openDir,
  logger,
  hasThreads = false,
  appendThrough,
}: Pick<PlatformDeps, 'dir' | 'logger' | 'hasThreads' | 'appendThrough'>): Platform {
  const dir = openDir()
  // Read before the log is created: an existing log without a mark is real.
  const held = claimOf(dir.path)
  const { log: opened, registry } = openEmbedded({
    ...{ path: dir.logPath, hasThreads, readOnly: appendThrough !== undefined },
  })
  const log = appendThrough === undefined ? opened : { ...opened, append: appendThrough }
  const generations = createGenerations(log, { logger })
  const replays = createReplays(log, { logger })
  /** Shared by all sources for the life of the process: sources are opened and closed while others write. */
  let checkpoints: Checkpoints | undefined
  const openState = (folder: string, chain: string) =>
    openStateStore(join(folder, chain), () =>
      logger.info('writing the checkpoint of a chain in its new form', { chain }),
    )
  return {
    log,
    codec: createCodec(registry),
    instance: `process ${process.pid}`,
    claimOrigin: async (claim) => claimOrigin(dir, claim, held),
    origin: async () => claimOf(dir.path),
    async checkpointsFor() {
      checkpoints ??= openCheckpoints(dir)
      const { get, put } = checkpoints
      return { get, put, close: async () => {} }
    },
    openState: (chain) => openState(dir.statePath, chain),
    generations,
    replay: {
      replays,
      openState: (chain) => openState(dir.replayPath, chain),
      installState: (chain, _epoch, open) => installReplayState(dir, chain, open),
      dropState: async (chain) => rmSync(join(dir.replayPath, chain), { recursive: true, force: true }),
      dropReplacedState: async () => {},
    },
    createKeys: () => ({ ...openKeyStore(dir), load: async () => {} }),
    async followChains(onChains, signal) {
      while (!signal.aborted) {
        onChains(await chainsOf(log))
        await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {})
      }
    },
    updatesHeldMs: 0,
    async close() {
      await replays.close()
      await generations.close()
      await checkpoints?.close()
      await log.close()
    },
  }
}

/** A crash between the two steps leaves the replay's checkpoint where it is: the switch is repeated. */
export async function installReplayState(dir: DataDir, chain: string, open?: StateStore): Promise<void> {
  const replayed = join(dir.replayPath, chain)
  const live = join(dir.statePath, chain)
  if (!existsSync(replayed)) return
  rmSync(live, { recursive: true, force: true })
  if (open?.moveTo === undefined) renameSync(replayed, live)
  else await open.moveTo(live)
}
