/** Everything in one data directory, for one process. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateStore } from '../../aggregate/checkpoint/state-store.js'
import { createGenerations } from '../../core/coordination/generations.js'
import { claimOf, claimOrigin } from '../../core/data-dir/origin.js'
import { openKeyStore } from '../../core/keys/key-store.js'
import { createCodec } from '../../core/log/codec.js'
import { openEmbedded } from '../../core/log/embedded-log.js'
import { type Checkpoints, openCheckpoints } from '../../ingest/checkpoints.js'
import { chainsOf } from './chains-of.js'
import type { Platform, PlatformDeps } from './platform.js'

const LOOK_EVERY_MS = 200

export function embeddedPlatform({ dir: openDir, logger }: Pick<PlatformDeps, 'dir' | 'logger'>): Platform {
  const dir = openDir()
  // Read before there is a log: an old one without a mark is real.
  const held = claimOf(dir.path)
  const { log, registry } = openEmbedded({ path: dir.logPath })
  const generations = createGenerations(log, { logger })
  /** One for all sources, for as long as the process runs: they come and go while others write. */
  let checkpoints: Checkpoints | undefined
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
    openState: async (chain) => openStateStore(join(dir.statePath, chain)),
    generations,
    createKeys: () => ({ ...openKeyStore(dir), load: async () => {} }),
    async followChains(onChains, signal) {
      while (!signal.aborted) {
        onChains(await chainsOf(log))
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
    updatesHeldMs: 0,
    async close() {
      await generations.close()
      await checkpoints?.close()
      await log.close()
    },
  }
}
