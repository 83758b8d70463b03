/** Where replays are, beside the live chain. */
import type { Replay, Replays } from '../../core/coordination/replays.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import type { PipelineDeps } from '../chain-pipeline.js'
import type { StateStore } from '../checkpoint/state-store.js'

export type ReplayParts = {
  replays: Replays
  /** The checkpoint of the chain's replay in this epoch. */
  openState(chain: string, epoch: number): Promise<StateStore>
  /**
   * Puts that checkpoint in the place of the live one, which is closed. `open`: the replay's, if it is open; it is the live one
   * then. Does nothing if it is there.
   */
  installState(chain: string, epoch: number, open?: StateStore): Promise<void>
  /** Deletes that checkpoint, unless it is the live one. */
  dropState(chain: string, epoch: number): Promise<void>
  /** Deletes the checkpoint that was live before. */
  dropReplacedState(chain: string): Promise<void>
  /** The store whose tables have the replay's rows. */
  openStore(chain: string): Promise<Store>
  /** Called before tables are dropped. */
  beforeDrop?: () => void
}

export type SwitchDeps = Pick<PipelineDeps, 'log' | 'codec' | 'store' | 'settings'> & {
  parts: ReplayParts
  facts: ChainFacts
  generation: number
  openState(chain: string): Promise<StateStore>
  logger: Logger
}

/** As the log has it now: a process that was frozen meanwhile may have lost the chain. */
export async function isIn({ replays }: ReplayParts, chain: string, { phase, epoch }: Pick<Replay, 'phase' | 'epoch'>) {
  await replays.load()
  const now = replays.of(chain)
  return now?.phase === phase && now.epoch === epoch
}
