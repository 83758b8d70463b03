/** The live store and the one beside it, which has the rows of a replay. */
import { dropReplayedRows } from '../../aggregate/replay/replayed-rows.js'
import type { Config } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { openStore } from '../../core/store/clickhouse-store.js'
import { openLocalStore } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { replayDatabase } from '../../core/store/tables.js'
import { serverTarget } from '../../processes/open-store.js'

export type ReplayStores = {
  live: Store
  /** Opens the store beside it; its tables may not exist yet. */
  openBeside(): Promise<Store>
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
    return openLocalStore(dir.path, other)
  }
  const live = await open()
  return {
    live,
    openBeside: () => open(replayDatabase(live.database, chain)),
    drop: () => dropReplayedRows(live, chain),
    close: () => live.close(),
  }
}
