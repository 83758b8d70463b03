/** The live store and the one beside it, which has the rows of a replay. */
import { dropReplayedRows } from '../../aggregate/replay/replayed-rows.js'
import type { Config } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { openStore } from '../../core/store/clickhouse-store.js'
import { flushServed } from '../../core/store/engine-socket.js'
import { openLocalStore, socketPathOf } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { replayDatabase } from '../../core/store/tables.js'
import { serverTarget } from '../../processes/open-store.js'

export type ReplayStores = {
  live: Store
  /** Opens the store beside it; its tables may not exist yet. */
  openBeside(): Promise<Store>
  /** Has a running `up` store what it folded. */
  flushLive(): Promise<void>
  /** Deletes the rows of the replay. */
  drop(): Promise<void>
  close(): Promise<void>
}

export async function openReplayStores(
  { store: choice }: Pick<Config, 'store'>,
  dir: DataDir | undefined,
  chain: string,
): Promise<ReplayStores> {
  const open = (database?: string): Promise<Store> => {
    const other = database === undefined ? {} : { database }
    if (choice.kind === 'clickhouse') return openStore({ ...serverTarget(choice), ...other })
    if (dir === undefined) throw new Error('a cluster without a ClickHouse server')
    return openLocalStore(dir.path, { ...other, isBackground: database !== undefined })
  }
  const live = await open()
  return {
    live,
    openBeside: () => open(replayDatabase(live.database, chain)),
    async flushLive() {
      if (choice.kind === 'embedded' && dir !== undefined) await flushServed(socketPathOf(dir.path))
    },
    drop: () => dropReplayedRows(live, chain),
    close: () => live.close(),
  }
}
