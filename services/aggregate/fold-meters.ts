/** What is measured of folding besides the counts of a chain: once per batch, write or checkpoint, never per swap. */
import type { Metrics } from '../core/runtime/metrics.js'

export interface FoldMeters {
  /** Records of the log folded together. */
  batch(chain: string, records: number): void
  /** A reorg was applied. */
  reorg(chain: string, depthBlocks: number): void
  /** A batch of rows is in the store. */
  stored(chain: string, rows: number, ms: number): void
  checkpoint(chain: string, ms: number): void
}

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createFoldMeters(metrics: Metrics): FoldMeters {
  const labels = ['chain']
  const batches = metrics.histogram({
    ...{ name: 'dextape_fold_batch_records', help: 'Records of the log folded together', labels },
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
  })
  const depths = metrics.histogram({
    ...{ name: 'dextape_fold_reorg_depth_blocks', help: 'Depth of the reorgs applied', labels },
    buckets: [1, 2, 3, 5, 10, 20, 50, 100, 500],
  })
  const rows = metrics.histogram({
    ...{ name: 'dextape_store_batch_rows', help: 'Rows written to the store together', labels },
    buckets: [100, 1000, 5000, 10_000, 25_000, 50_000, 100_000],
  })
  const writes = metrics.histogram({
    ...{ name: 'dextape_store_write_seconds', help: 'Time to write a batch of rows to the store', labels },
    buckets: SECONDS,
  })
  const checkpoints = metrics.histogram({
    ...{ name: 'dextape_fold_checkpoint_seconds', help: 'Time to store the rows and write a checkpoint', labels },
    buckets: SECONDS,
  })
  return {
    batch: (chain, records) => batches.observe({ chain }, records),
    reorg: (chain, depthBlocks) => depths.observe({ chain }, depthBlocks),
    stored(chain, count, ms) {
      rows.observe({ chain }, count)
      writes.observe({ chain }, ms / 1000)
    },
    checkpoint: (chain, ms) => checkpoints.observe({ chain }, ms / 1000),
  }
}
