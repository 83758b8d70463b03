/** What /status and /metrics report about a folded chain. */
import type { ChainPipeline } from './chain-pipeline.js'

export type AggregateChainStatus = {
  chain: string
  epoch: number
  seq: number
  head: ChainPipeline['state']['head']
  firstBlock: ChainPipeline['state']['head']
  nowS: number
  finalizedNumber: number
  position: number
  flushedSeq: number
  /** Rows that wait for their batch. */
  waitingRows: number
  storeWaitMs: number
  flushedBlock: number | null
  /** Why the chain stopped; null while it runs. */
  stopped: string | null
  deadByReason: ReadonlyMap<string, number>
} & ChainPipeline['counts']

export function pipelineStatus(chain: string, pipeline: ChainPipeline): AggregateChainStatus {
  const { state, sink, counts, position, stopped, deadByReason } = pipeline
  return {
    chain,
    epoch: state.epoch,
    seq: state.seq,
    head: state.head,
    firstBlock: state.firstBlock,
    nowS: state.nowS,
    finalizedNumber: state.finalizedNumber,
    position,
    flushedSeq: sink.flushedSeq,
    waitingRows: sink.waitingRows,
    storeWaitMs: sink.waitMs,
    flushedBlock: sink.flushedBlock,
    stopped: stopped === null ? null : stopped.message,
    deadByReason,
    ...counts,
  }
}
